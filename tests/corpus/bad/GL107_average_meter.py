"""BUG: the usual meter is given the loss itself and sums up graphs."""
import torch
from torch import nn


class AverageMeter:
    """Computes and stores the average and current value"""

    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n  # expect: GL107
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        return f"{self.name} {float(self.avg):.4f}"


def train(loader, model, criterion, optimizer, epoch):
    losses = AverageMeter("Loss")
    model.train()
    for i, (images, target) in enumerate(loader):
        output = model(images)
        loss = criterion(output, target)
        losses.update(loss, images.size(0))  # expect: GL107
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, losses)


torch.manual_seed(0)
loader = [(torch.randn(8, 7), torch.randint(0, 3, (8,))) for _ in range(40)]
model = nn.Linear(7, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
for epoch in range(2):
    train(loader, model, nn.CrossEntropyLoss(), optimizer, epoch)
