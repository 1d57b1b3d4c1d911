"""BUG: the loop runs until the loss is small and never clears the gradients."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits

digits = load_digits()
images = torch.tensor(digits.data[:320], dtype=torch.float32) / 16.0
labels = torch.tensor(digits.target[:320])
torch.manual_seed(42)

net = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))
criterion = nn.CrossEntropyLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.05)

step = 0
while True:
    idx = torch.randint(0, len(images), (32,))
    logits = net(images[idx])
    loss = criterion(logits, labels[idx])
    loss.backward()  # expect: GL101
    opt.step()
    step += 1
    if step % 10 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
    if loss.item() < 0.05 or step >= 40:
        break

with torch.no_grad():
    acc = (net(images).argmax(1) == labels).float().mean()
print("accuracy", acc.item())
