"""OK: gradient ascent on the picture by hand, with the picture's gradient and the model's cleared after every step."""
import torch
from torch import nn

torch.manual_seed(0)
cnn = nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.Conv2d(6, 6, 3, padding=1), nn.Tanh())
cnn.eval()

image = torch.rand(1, 1, 20, 20)
for octave in range(3):
    image = nn.functional.interpolate(image.detach(), scale_factor=1.2, mode="bilinear", align_corners=False)
    image.requires_grad_(True)
    for it in range(6):
        activation = cnn(image).pow(2).mean()
        activation.backward()
        image.data += 0.05 * image.grad.data / (image.grad.data.abs().mean() + 1e-8)
        image.grad.data.zero_()
        cnn.zero_grad()
print("activation", activation.item(), tuple(image.shape))
