"""BUG: the loss is differentiated once for the logged gradient norm and once more for the update."""
import torch
from torch import nn


def gradient_norm(loss, parameters):
    loss.backward(retain_graph=True)
    return torch.stack([p.grad.norm() for p in parameters]).norm().item()


def main():
    torch.manual_seed(52)
    words = torch.randint(0, 50, (160, 6))
    sentiment = (words.float().mean(1) > 24.5).float()
    model = nn.Sequential(nn.Embedding(50, 8), nn.Flatten(), nn.Linear(48, 1))
    optimizer = torch.optim.NAdam(model.parameters(), lr=1e-2)
    norms = []
    for epoch in range(2):
        for pick in torch.randperm(160).view(-1, 20):
            optimizer.zero_grad()
            logits = model(words[pick]).squeeze(1)
            loss = nn.functional.binary_cross_entropy_with_logits(logits, sentiment[pick])
            norms.append(gradient_norm(loss, list(model.parameters())))
            loss.backward()  # expect: GL108
            optimizer.step()
    print("mean gradient norm", sum(norms) / len(norms))


main()
