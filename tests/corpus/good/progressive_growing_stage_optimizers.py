"""OK: each resolution stage builds new optimizers over the layers active at that stage; fading uses both heads, and every stage starts cleared."""
import torch
import torch.nn.functional as F
from torch import nn
from sklearn.datasets import load_digits


class GrowingG(nn.Module):
    def __init__(self, nz=8, ch=8):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(nz, ch * 4), nn.LeakyReLU(0.2))
        self.blocks = nn.ModuleList([nn.Conv2d(ch, ch, 3, padding=1) for _ in range(2)])
        self.to_rgb = nn.ModuleList([nn.Conv2d(ch, 1, 1) for _ in range(3)])
        self.ch = ch

    def forward(self, z, stage, alpha):
        x = self.base(z).view(-1, self.ch, 2, 2)
        if stage == 0:
            return self.to_rgb[0](x)
        for block in self.blocks[:stage]:
            previous = x
            x = F.leaky_relu(block(F.interpolate(x, scale_factor=2)), 0.2)
        new = self.to_rgb[stage](x)
        if alpha >= 1:
            return new
        return alpha * new + (1 - alpha) * F.interpolate(self.to_rgb[stage - 1](previous), scale_factor=2)

    def active_parameters(self, stage, fading):
        modules = [self.base, *self.blocks[:stage], self.to_rgb[stage]]
        if fading and stage > 0:
            modules.append(self.to_rgb[stage - 1])
        return [p for m in modules for p in m.parameters()]


class GrowingD(nn.Module):
    def __init__(self, ch=8):
        super().__init__()
        self.from_rgb = nn.ModuleList([nn.Conv2d(1, ch, 1) for _ in range(3)])
        self.blocks = nn.ModuleList([nn.Conv2d(ch, ch, 3, padding=1) for _ in range(2)])
        self.final = nn.Linear(ch * 4, 1)

    def forward(self, img, stage, alpha):
        x = F.leaky_relu(self.from_rgb[stage](img), 0.2)
        for k in range(stage, 0, -1):
            x = F.avg_pool2d(F.leaky_relu(self.blocks[k - 1](x), 0.2), 2)
            if k == stage and alpha < 1:
                skip = F.leaky_relu(self.from_rgb[stage - 1](F.avg_pool2d(img, 2)), 0.2)
                x = alpha * x + (1 - alpha) * skip
        return self.final(x.flatten(1))

    def active_parameters(self, stage, fading):
        modules = [self.from_rgb[stage], *self.blocks[:stage], self.final]
        if fading and stage > 0:
            modules.append(self.from_rgb[stage - 1])
        return [p for m in modules for p in m.parameters()]


def phase(G, D, images, stage, fading, steps, batch=32):
    g_params, d_params = G.active_parameters(stage, fading), D.active_parameters(stage, fading)
    opt_g = torch.optim.Adam(g_params, 2e-3, betas=(0.0, 0.99))
    opt_d = torch.optim.Adam(d_params, 2e-3, betas=(0.0, 0.99))
    G.zero_grad(set_to_none=True)
    D.zero_grad(set_to_none=True)
    size = 2 ** (stage + 1)
    for step in range(steps):
        alpha = (step + 1) / (steps + 1) if fading else 1.0
        real = F.adaptive_avg_pool2d(images[torch.randint(len(images), (batch,))], size)
        fake = G(torch.randn(batch, 8), stage, alpha)
        opt_d.zero_grad()
        loss_d = F.softplus(-D(real, stage, alpha)).mean() + F.softplus(D(fake.detach(), stage, alpha)).mean()
        loss_d.backward()
        opt_d.step()
        opt_g.zero_grad()
        loss_g = F.softplus(-D(fake, stage, alpha)).mean()
        loss_g.backward()
        opt_g.step()
    return loss_d.item(), loss_g.item()


def main():
    torch.manual_seed(0)
    images = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 8 - 1
    G, D = GrowingG(), GrowingD()
    for stage in range(3):
        if stage > 0:
            print("stage", stage, "fade", phase(G, D, images, stage, True, 12))
        print("stage", stage, "stabilise", phase(G, D, images, stage, False, 12))


if __name__ == "__main__":
    main()
