"""OK: only the image is optimised; the feature network is left trainable and fills up, but nothing ever steps it."""
import torch
from torch import nn

torch.manual_seed(0)
features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2, padding=1)).eval()


def gram(t):
    b, c, h, w = t.shape
    f = t.view(b * c, h * w)
    return f @ f.t() / (b * c * h * w)


content, style = torch.rand(1, 3, 16, 16), torch.rand(1, 3, 16, 16)
with torch.no_grad():
    want_content = features(content)
    want_gram = gram(features(style))

picture = content.clone().requires_grad_(True)
optimizer = torch.optim.LBFGS([picture], max_iter=4)
run = [0]
while run[0] <= 40:
    def closure():
        with torch.no_grad():
            picture.clamp_(0, 1)
        optimizer.zero_grad()
        now = features(picture)
        loss = (now - want_content).pow(2).mean() + 1e4 * (gram(now) - want_gram).pow(2).mean()
        loss.backward()
        run[0] += 1
        return loss

    final = optimizer.step(closure)
print("evaluations", run[0], "loss", final.item())
