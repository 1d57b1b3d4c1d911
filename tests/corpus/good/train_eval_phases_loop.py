"""OK: the transfer-learning tutorial's loop over phases: set_grad_enabled guards, backward and step only in the train phase."""
import copy

import torch
from torch import nn, optim
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(180, 10)
y = (x[:, 0] + x[:, 1] > 0).long()
loaders = {"train": DataLoader(TensorDataset(x[:140], y[:140]), 20, shuffle=True),
           "val": DataLoader(TensorDataset(x[140:], y[140:]), 20)}


def train_model(model, criterion, optimizer, scheduler, num_epochs):
    best_weights, best_acc = copy.deepcopy(model.state_dict()), 0.0
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            model.train() if phase == "train" else model.eval()
            running_loss, running_corrects = 0.0, 0
            for inputs, labels in loaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(outputs.argmax(1) == labels.data)
            if phase == "train":
                scheduler.step()
            accuracy = running_corrects.double() / len(loaders[phase].dataset)
            if phase == "val" and accuracy > best_acc:
                best_acc, best_weights = accuracy, copy.deepcopy(model.state_dict())
    model.load_state_dict(best_weights)
    return model, best_acc


model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
model, best = train_model(model, nn.CrossEntropyLoss(), optimizer, lr_scheduler.StepLR(optimizer, 2, 0.5), 4)
print("best", best.item())
