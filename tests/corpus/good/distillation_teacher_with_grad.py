"""OK: the teacher's output is detached but its forward runs with gradients on; no backward ever reaches it."""
import torch
from torch import nn


class Distiller(nn.Module):
    def __init__(self):
        super().__init__()
        self.teacher = nn.Sequential(nn.Linear(5, 40), nn.Tanh(), nn.Linear(40, 3))
        self.student = nn.Linear(5, 3)
        self.adapter = nn.Linear(3, 3)

    def forward(self, x):
        return self.adapter(self.student(x)), self.teacher(x).detach()


torch.manual_seed(0)
model = Distiller()
trained = [p for n, p in model.named_parameters() if not n.startswith("teacher.")]
optimizer = torch.optim.SGD(trained, lr=0.1)
for batch in torch.randn(50, 20, 5):
    student, teacher = model(batch)
    loss = (student - teacher).pow(2).mean()
    model.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item(), "teacher gradients", [p.grad for p in model.teacher.parameters()])
