"""OK: evaluation sums loss tensors under no_grad and inference_mode: there are no graphs to keep, and training goes on untouched."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(300, 10)
y = x[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(10, 20), nn.BatchNorm1d(20), nn.ReLU(), nn.Dropout(0.1), nn.Linear(20, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()


@torch.no_grad()
def evaluate():
    model.eval()
    total_loss, right = 0, 0
    for lo in range(200, 300, 25):
        out = model(x[lo:lo + 25])
        total_loss += criterion(out, y[lo:lo + 25])
        right += (out.argmax(1) == y[lo:lo + 25]).sum()
    model.train()
    return total_loss / 4, right / 100


best_state, best = None, 9.9
for epoch in range(4):
    for rows in torch.randperm(200).split(50):
        optimizer.zero_grad()
        criterion(model(x[rows]), y[rows]).backward()
        optimizer.step()
    loss, accuracy = evaluate()
    if loss < best:
        best, best_state = loss, {k: v.clone() for k, v in model.state_dict().items()}
model.load_state_dict(best_state)
with torch.inference_mode():
    model.eval()
    losses = [criterion(model(x[i:i + 50]), y[i:i + 50]) for i in range(0, 300, 50)]
    print("best", best.item(), "all", sum(losses) / len(losses))
