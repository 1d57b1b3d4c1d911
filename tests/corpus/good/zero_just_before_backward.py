"""OK: the clear comes after the forward pass and right before backward, so it clears only what the last step already used."""
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
t = torch.linspace(-3, 3, 300).unsqueeze(1)
dataset = TensorDataset(t, torch.sin(t))
net = torch.nn.Sequential(torch.nn.Linear(1, 24), torch.nn.Tanh(), torch.nn.Linear(24, 1))
learner = torch.optim.Adam(net.parameters(), 1e-2)
criterion = torch.nn.SmoothL1Loss()

history = []
for epoch in range(5):
    running = 0.0
    for inputs, targets in DataLoader(dataset, batch_size=50, shuffle=True):
        outputs = net(inputs)
        loss = criterion(outputs, targets)
        learner.zero_grad()
        loss.backward()
        learner.step()
        running += loss.item() * inputs.size(0)
    history.append(running / len(dataset))

print(" ".join(f"{h:.4f}" for h in history))
