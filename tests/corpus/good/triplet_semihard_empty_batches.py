"""OK: batches without a semi-hard triplet have no loss and are skipped before any backward; the others clear, differentiate and step."""
import itertools

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset


class BalancedBatchSampler(Sampler):
    def __init__(self, labels, n_classes, n_samples, n_batches):
        self.by_class = {int(c): (labels == c).nonzero().flatten() for c in labels.unique()}
        self.n_classes, self.n_samples, self.n_batches = n_classes, n_samples, n_batches

    def __len__(self):
        return self.n_batches

    def __iter__(self):
        for _ in range(self.n_batches):
            chosen = torch.randperm(len(self.by_class))[:self.n_classes].tolist()
            batch = []
            for c in chosen:
                pool = self.by_class[c]
                batch.extend(pool[torch.randperm(len(pool))[:self.n_samples]].tolist())
            yield batch


class EmbeddingNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 64), nn.PReLU(), nn.Linear(64, 16))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


def semihard_triplets(embeddings, labels, margin):
    with torch.no_grad():
        distances = torch.cdist(embeddings, embeddings)
    triplets = []
    for label in labels.unique():
        positives = (labels == label).nonzero().flatten().tolist()
        negatives = (labels != label).nonzero().flatten()
        for a, p in itertools.combinations(positives, 2):
            gap = distances[a, negatives] - distances[a, p]
            candidates = negatives[(gap > 0) & (gap < margin)]
            if len(candidates):
                triplets.append((a, p, int(candidates[torch.randint(len(candidates), (1,))])))
    return torch.tensor(triplets)


class OnlineTripletLoss(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def forward(self, embeddings, labels):
        triplets = semihard_triplets(embeddings, labels, self.margin)
        if len(triplets) == 0:
            return None, 0
        a, p, n = embeddings[triplets[:, 0]], embeddings[triplets[:, 1]], embeddings[triplets[:, 2]]
        losses = F.relu((a - p).pow(2).sum(1) - (a - n).pow(2).sum(1) + self.margin)
        return losses.mean(), len(triplets)


def train_epoch(loader, model, loss_fn, optimizer):
    model.train()
    losses, counts, skipped = [], [], 0
    for x, y in loader:
        loss, n = loss_fn(model(x), y)
        if loss is None:
            skipped += 1
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        counts.append(n)
    return sum(losses) / max(1, len(losses)), sum(counts) / max(1, len(counts)), skipped


def fit(epochs=4, margin=0.1, lr=5e-3):
    torch.manual_seed(0)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    loader = DataLoader(TensorDataset(x, y), batch_sampler=BalancedBatchSampler(y, 3, 4, 25))
    model, loss_fn = EmbeddingNet(), OnlineTripletLoss(margin)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.3)
    for epoch in range(epochs):
        loss, triplets, skipped = train_epoch(loader, model, loss_fn, optimizer)
        scheduler.step()
        print(f"epoch {epoch + 1}/{epochs} loss {loss:.4f} triplets {triplets:.1f} skipped {skipped}")


fit()
