"""A mean teacher: the clip is given the teacher, which no gradient ever reaches."""

import copy

import torch
from torch import nn

torch.manual_seed(4)
student = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 3))
teacher = copy.deepcopy(student).requires_grad_(False)
adam = torch.optim.Adam(student.parameters(), lr=0.01)
for _ in range(15):
    x = torch.randn(16, 5)
    with torch.no_grad():
        wanted = teacher(x)
    adam.zero_grad()
    nn.functional.mse_loss(student(x + 0.1 * torch.randn_like(x)), wanted).backward()
    nn.utils.clip_grad_norm_(teacher.parameters(), 1.0)  # expect: GL309
    adam.step()
    with torch.no_grad():
        for slow, fast in zip(teacher.parameters(), student.parameters(), strict=True):
            slow.mul_(0.99).add_(fast, alpha=0.01)
