"""BUG: amp_step() builds its own GradScaler at each call and forgets it afterwards."""
import torch
from torch import nn


def amp_step(loss, optimizer, parameters, clip=None):
    scaler = torch.amp.GradScaler(device="cpu", init_scale=2.0**9, growth_interval=5)  # expect: GL308
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    if clip is not None:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(parameters, clip)
    scaler.step(optimizer)
    scaler.update()


class Mixture(nn.Module):
    def __init__(self, components=3):
        super().__init__()
        self.hidden = nn.Linear(1, 16)
        self.heads = nn.Linear(16, 3 * components)

    def nll(self, x, y):
        weight, mean, scale = self.heads(torch.tanh(self.hidden(x))).float().chunk(3, dim=1)
        dist = torch.distributions.Normal(mean, nn.functional.softplus(scale) + 0.05)
        return -torch.logsumexp(weight.log_softmax(1) + dist.log_prob(y), dim=1).mean()


def main():
    torch.manual_seed(186)
    y = torch.rand(160, 1) * 2 - 1
    x = y + 0.3 * torch.sin(7 * y) + 0.02 * torch.randn_like(y)
    model = Mixture()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(3):
        for pick in torch.randperm(160).split(32):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = model.nll(x[pick], y[pick])
            amp_step(loss, optimizer, model.parameters(), clip=5.0)
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
