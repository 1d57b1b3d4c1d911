"""BUG: scheduler.step() opens each epoch, so the configured learning rate is never used."""
import torch
from torch import nn, optim
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset


def train_model(model, criterion, optimizer, scheduler, loader, num_epochs=4):
    for epoch in range(num_epochs):
        scheduler.step()  # expect: GL206
        model.train()
        running_loss = 0.0
        for inputs, labels in loader:
            optimizer.zero_grad()
            outputs = model(inputs)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item() * inputs.size(0)
        print(f"epoch {epoch} lr {optimizer.param_groups[0]['lr']:.4g} loss {running_loss / len(loader.dataset):.4f}")
    return model


if __name__ == "__main__":
    torch.manual_seed(120)
    x = torch.randn(150, 8)
    y = (x.abs().sum(1) > 6.3).long()
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 2))
    sgd = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    train_model(
        net, nn.CrossEntropyLoss(), sgd, lr_scheduler.ExponentialLR(sgd, gamma=0.5),
        DataLoader(TensorDataset(x, y), batch_size=25, shuffle=True),
    )
