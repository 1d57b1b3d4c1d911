"""OK: an autoencoder is pretrained, then its encoder and new centroids get a new optimizer; the decoder stays frozen from then on."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class AutoEncoder(nn.Module):
    def __init__(self, z=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, z))
        self.decoder = nn.Sequential(nn.Linear(z, 48), nn.ReLU(), nn.Linear(48, 64))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class ClusterAssignment(nn.Module):
    def __init__(self, centres):
        super().__init__()
        self.centres = nn.Parameter(centres.clone())

    def forward(self, z):
        q = 1 / (1 + torch.cdist(z, self.centres).pow(2))
        return q / q.sum(1, keepdim=True)


@torch.no_grad()
def kmeans(z, k, iterations=10):
    centres = z[torch.randperm(len(z))[:k]].clone()
    for _ in range(iterations):
        assign = torch.cdist(z, centres).argmin(1)
        for c in range(k):
            if (assign == c).any():
                centres[c] = z[assign == c].mean(0)
    return centres


def target_distribution(q):
    weight = q.pow(2) / q.sum(0)
    return weight / weight.sum(1, keepdim=True)


def purity(assign, y, k=10):
    return sum(torch.bincount(y[assign == c], minlength=10).max().item() for c in range(k) if (assign == c).any()) / len(y)


def pretrain(model, loader, epochs=4):
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        for x, _ in loader:
            corrupted = F.dropout(x, 0.2)
            loss = F.mse_loss(model(corrupted), x)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print("pretrain", epoch, loss.item())


def cluster(model, x, y, epochs=4, update_interval=10, batch=128):
    for p in model.decoder.parameters():
        p.requires_grad = False
        p.grad = None
    assignment = ClusterAssignment(kmeans(model.encoder(x), 10))
    opt = torch.optim.SGD(list(model.encoder.parameters()) + list(assignment.parameters()), lr=0.05, momentum=0.9)
    iteration, target = 0, None
    for epoch in range(epochs):
        order = torch.randperm(len(x))
        for start in range(0, len(x), batch):
            if iteration % update_interval == 0:
                with torch.no_grad():
                    target = target_distribution(assignment(model.encoder(x)))
            index = order[start:start + batch]
            opt.zero_grad()
            q = assignment(model.encoder(x[index]))
            loss = F.kl_div(q.log(), target[index], reduction="batchmean")
            loss.backward()
            opt.step()
            iteration += 1
        with torch.no_grad():
            labels = assignment(model.encoder(x)).argmax(1)
        print("cluster", epoch, round(loss.item(), 4), "purity", round(purity(labels, y), 3))


if __name__ == "__main__":
    torch.manual_seed(0)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    net = AutoEncoder()
    pretrain(net, DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True))
    cluster(net, x, y)
