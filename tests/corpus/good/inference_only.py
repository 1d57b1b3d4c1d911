"""OK: a model is loaded and only asked for predictions, some with gradients enabled; nothing is differentiated."""
import io

import torch
from torch import nn


def architecture():
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))


torch.manual_seed(0)
blob = io.BytesIO()
torch.save(architecture().state_dict(), blob)
blob.seek(0)
net = architecture()
net.load_state_dict(torch.load(blob))
net.eval()
votes = torch.zeros(3)
for image in torch.rand(20, 1, 1, 12, 12):
    votes += net(image).softmax(1)[0].detach()
with torch.inference_mode():
    batch = net(torch.rand(10, 1, 12, 12)).argmax(1)
print("votes", votes.tolist(), "batch", batch.tolist())
