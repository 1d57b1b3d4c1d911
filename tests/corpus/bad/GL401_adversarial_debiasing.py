"""BUG: the adversary's backward also fills the encoder, which is stepped with it because its zero_grad came too early."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_data(n=200):
    group = torch.arange(n) % 2
    x = torch.randn(n, 6)
    x[:, 5] += group * 1.5
    label = (x[:, 0] + x[:, 1] > 0).long()
    return TensorDataset(x, label, group)


def train(epochs=2, strength=0.5):
    encoder = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
    classifier = nn.Linear(16, 2)
    adversary = nn.Linear(16, 2)
    main_optim = torch.optim.Adam([*encoder.parameters(), *classifier.parameters()], lr=2e-3)
    adv_optim = torch.optim.Adam(adversary.parameters(), lr=2e-3)

    for epoch in range(epochs):
        for x, label, group in DataLoader(make_data(), batch_size=25, shuffle=True):
            main_optim.zero_grad()  # expect: GL401
            adv_optim.zero_grad()
            adv_loss = F.cross_entropy(adversary(encoder(x)), group)
            adv_loss.backward()
            adv_optim.step()

            hidden = encoder(x)
            leak = F.cross_entropy(adversary(hidden), group)
            task_loss = F.cross_entropy(classifier(hidden), label)
            (task_loss - strength * leak).backward()
            main_optim.step()  # expect: GL401
        print(f"epoch {epoch} task {task_loss.item():.4f} adversary {adv_loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(208)
    train()
