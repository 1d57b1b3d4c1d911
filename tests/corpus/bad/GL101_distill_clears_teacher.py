"""BUG: the frozen teacher is zeroed instead of the student, whose gradients pile up."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def mlp(width):
    return nn.Sequential(nn.Linear(12, width), nn.ReLU(), nn.Linear(width, 5))


def distillation_loss(student_logits, teacher_logits, labels, temperature=2.0, alpha=0.7):
    soft = F.kl_div(
        F.log_softmax(student_logits / temperature, dim=1),
        F.softmax(teacher_logits / temperature, dim=1),
        reduction="batchmean",
    )
    hard = F.cross_entropy(student_logits, labels)
    return alpha * temperature**2 * soft + (1 - alpha) * hard


def main():
    torch.manual_seed(3)
    features = torch.randn(240, 12)
    teacher, student = mlp(64), mlp(16)
    teacher.requires_grad_(False).eval()
    labels = teacher(features).argmax(dim=1)
    loader = DataLoader(TensorDataset(features, labels), batch_size=16, shuffle=True)
    optimizer = torch.optim.AdamW(student.parameters(), lr=2e-3)

    for epoch in range(3):
        running = 0.0
        for x, y in loader:
            with torch.no_grad():
                teacher_logits = teacher(x)
            loss = distillation_loss(student(x), teacher_logits, y)
            teacher.zero_grad()  # expect: GL101
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch}: {running / len(loader):.4f}")


if __name__ == "__main__":
    main()
