"""BUG: the ArcFace criterion owns the class centres, and the optimizer is given the model's parameters only."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class ArcFaceLoss(nn.Module):
    def __init__(self, dim, classes, s=16.0, m=0.2):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(classes, dim))
        nn.init.xavier_uniform_(self.weight)
        self.s, self.cos_m, self.sin_m = s, math.cos(m), math.sin(m)

    def forward(self, embedding, label):
        cosine = F.linear(F.normalize(embedding), F.normalize(self.weight))
        sine = (1 - cosine.pow(2)).clamp(1e-6, 1).sqrt()
        phi = cosine * self.cos_m - sine * self.sin_m
        one_hot = F.one_hot(label, cosine.size(1)).bool()
        return F.cross_entropy(self.s * torch.where(one_hot, phi, cosine), label)


class FaceNet(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, stride=2)
        self.bn = nn.BatchNorm1d(6 * 16)
        self.fc = nn.Linear(6 * 16, dim)

    def forward(self, x):
        return self.fc(self.bn(F.relu(self.conv(x)).flatten(1)))


def faces(people=5, shots=20):
    base = torch.rand(people, 1, 9, 9)
    label = torch.arange(people).repeat(shots)
    return TensorDataset(base[label] + 0.2 * torch.randn(len(label), 1, 9, 9), label)


def main():
    torch.manual_seed(402)
    loader = DataLoader(faces(), batch_size=20, shuffle=True)
    model = FaceNet(dim=8)
    criterion = ArcFaceLoss(dim=8, classes=5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)  # expect: GL402
    for epoch in range(3):
        model.train()
        for images, label in loader:
            optimizer.zero_grad()
            loss = criterion(model(images), label)
            loss.backward()  # expect: GL402
            optimizer.step()
        print(f"epoch {epoch + 1}: arcface loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
