"""OK: mean teacher: the teacher is an average of the student, updated after the step, and its output is a constant of the loss."""
import torch
from torch import nn


def create_model(ema=False):
    model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 3))
    if ema:
        for param in model.parameters():
            param.detach_()
    return model


def update_ema_variables(model, ema_model, alpha, global_step):
    alpha = min(1 - 1 / (global_step + 1), alpha)
    for ema_param, param in zip(ema_model.parameters(), model.parameters()):
        ema_param.data.mul_(alpha).add_(param.data, alpha=1 - alpha)


torch.manual_seed(0)
model, ema_model = create_model(), create_model(ema=True)
optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, nesterov=True)
global_step = 0
for epoch in range(3):
    for x in torch.randn(10, 40, 6):
        y = x[:8, :3].argmax(1)
        out = model(x)
        ema_out = ema_model(x)
        class_loss = nn.functional.cross_entropy(out[:8], y)
        consistency = (out.softmax(1) - ema_out.softmax(1).detach()).pow(2).mean()
        loss = class_loss + min(1.0, epoch / 2) * consistency
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        global_step += 1
        update_ema_variables(model, ema_model, 0.99, global_step)
print(class_loss.item(), consistency.item())
