"""BUG: a step() before scheduler.step(), added to silence a warning, applies the epoch's last gradients once more."""
import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim.lr_scheduler import MultiStepLR


def conv_bn(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class TinyVGG(nn.Module):
    def __init__(self, num_classes=3):
        super(TinyVGG, self).__init__()
        self.features = nn.Sequential(conv_bn(3, 6), nn.MaxPool2d(2), conv_bn(6, 12), nn.AdaptiveAvgPool2d(1))
        self.classifier = nn.Linear(12, num_classes)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def train(epoch):
    net.train()
    correct = total = 0
    for inputs, targets in trainloader:
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        correct += outputs.argmax(1).eq(targets).sum().item()
        total += targets.size(0)
    print("Epoch: %d | Loss: %.3f | Acc: %.1f%%" % (epoch, loss.item(), 100.0 * correct / total))


def test():
    net.eval()
    with torch.no_grad():
        hits = sum((net(x).argmax(1) == t).sum().item() for x, t in testloader)
    print("test hits", hits)


def adjust_lr():
    optimizer.step()  # expect: GL105
    scheduler.step()


torch.manual_seed(10)
pictures = torch.rand(150, 3, 8, 8)
classes = pictures.mean((2, 3)).argmax(1)
batches = list(zip(pictures.split(15), classes.split(15)))
trainloader, testloader = batches[:8], batches[8:]
net = TinyVGG()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
scheduler = MultiStepLR(optimizer, milestones=[2, 3], gamma=0.1)
for epoch in range(4):
    train(epoch)
    test()
    adjust_lr()
