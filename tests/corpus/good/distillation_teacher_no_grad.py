"""OK: the teacher is trained first, then only read under no_grad; the student's optimizer holds the student alone."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data, dtype=torch.float32) / 16, torch.tensor(d.target)


def net(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))


def epoch_of(model, optimizer, loss_of):
    for rows in torch.randperm(len(x)).split(200):
        optimizer.zero_grad()
        loss = loss_of(model, rows)
        loss.backward()
        optimizer.step()
    return loss.item()


teacher = net(64)
opt_t = torch.optim.Adam(teacher.parameters(), lr=1e-2)
for _ in range(3):
    epoch_of(teacher, opt_t, lambda m, rows: F.cross_entropy(m(x[rows]), y[rows]))

teacher.eval()
student = net(8)
opt_s = torch.optim.Adam(student.parameters(), lr=1e-2)


def distil(m, rows, T=3.0):
    out = m(x[rows])
    with torch.no_grad():
        soft = F.softmax(teacher(x[rows]) / T, 1)
    return 0.5 * F.cross_entropy(out, y[rows]) + 0.5 * T * T * F.kl_div(F.log_softmax(out / T, 1), soft, reduction="batchmean")


print("distilled", [epoch_of(student, opt_s, distil) for _ in range(3)])
