"""BUG: training_step() assigns a fresh GradScaler to self.scaler before each batch."""
import torch
from sklearn.datasets import load_digits
from torch import nn


class Trainer:
    scaler = None

    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def setup_precision(self):
        self.scaler = torch.amp.GradScaler("cpu", init_scale=512.0)  # expect: GL308

    def training_step(self, batch, labels):
        self.setup_precision()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(self.model(batch), labels)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()
        return loss.item()


torch.manual_seed(188)
pixels, target = load_digits(return_X_y=True)
pixels, target = torch.tensor(pixels[:512], dtype=torch.float32) / 16, torch.tensor(target[:512])
trainer = Trainer(nn.Sequential(nn.Linear(64, 30), nn.ReLU(), nn.Linear(30, 10)), lr=0.1)
for epoch in range(2):
    for pick in torch.randperm(512).split(64):
        loss = trainer.training_step(pixels[pick], target[pick])
    print("epoch", epoch, "loss", loss)
