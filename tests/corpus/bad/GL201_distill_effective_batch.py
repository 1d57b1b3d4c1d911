"""BUG: the distillation loop collects `effective // batch` mean losses into one update and never divides them."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass(frozen=True)
class KDConfig:
    temperature: float = 3.0
    alpha: float = 0.7
    batch_size: int = 8
    effective_batch_size: int = 32
    epochs: int = 3
    lr: float = 0.02

    @property
    def accumulate(self):
        return self.effective_batch_size // self.batch_size


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def kd_loss(student_logits, teacher_logits, labels, cfg):
    t = cfg.temperature
    soft = F.kl_div(
        F.log_softmax(student_logits / t, 1), F.softmax(teacher_logits / t, 1), reduction="batchmean"
    )
    return cfg.alpha * t * t * soft + (1 - cfg.alpha) * F.cross_entropy(student_logits, labels)  # expect: GL201


def distill(student, teacher, loader, cfg):
    teacher.eval()
    optimizer = torch.optim.SGD(student.parameters(), lr=cfg.lr, momentum=0.9, nesterov=True)
    for epoch in range(cfg.epochs):
        epoch_loss = 0.0
        optimizer.zero_grad(set_to_none=True)
        for n, (x, y) in enumerate(loader, start=1):
            with torch.no_grad():
                guide = teacher(x)
            loss = kd_loss(student(x), guide, y, cfg)  # expect: GL201
            loss.backward()  # expect: GL201
            epoch_loss += loss.detach().item()
            if n % cfg.accumulate == 0:
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
        print(f"epoch {epoch}  kd {epoch_loss / n:.4f}")


if __name__ == "__main__":
    torch.manual_seed(123)
    cfg = KDConfig()
    x = torch.randn(128, 10)
    y = x[:, :4].argmax(1)
    distill(mlp(10, 8, 4), mlp(10, 64, 4), DataLoader(TensorDataset(x, y), cfg.batch_size, shuffle=True), cfg)
