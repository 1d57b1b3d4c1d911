"""OK: reconstruction and KL terms form one loss with sum reduction, stepped once per batch; the test loop has no gradients."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 32)
        self.mu, self.logvar = nn.Linear(32, 4), nn.Linear(32, 4)
        self.fc3, self.fc4 = nn.Linear(4, 32), nn.Linear(32, 64)

    def forward(self, x):
        h = F.relu(self.fc1(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z)))), mu, logvar


def loss_function(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld


torch.manual_seed(0)
data = torch.tensor(load_digits().data, dtype=torch.float32) / 16
train_set, test_set = data[:1500], data[1500:]
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def train(epoch):
    model.train()
    train_loss = 0
    for batch in train_set[torch.randperm(1500)].split(128):
        optimizer.zero_grad()
        recon, mu, logvar = model(batch)
        loss = loss_function(recon, batch, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    return train_loss / len(train_set)


def test():
    model.eval()
    test_loss = 0
    with torch.no_grad():
        for batch in test_set.split(128):
            recon, mu, logvar = model(batch)
            test_loss += loss_function(recon, batch, mu, logvar)
    return test_loss / len(test_set)


for epoch in range(1, 4):
    print(epoch, train(epoch), float(test()))
