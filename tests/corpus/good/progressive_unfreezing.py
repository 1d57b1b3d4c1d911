"""OK: layers are thawed one by one and handed to the running optimizer with add_param_group when they start to learn."""
import torch
from torch import nn

torch.manual_seed(0)
layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
head = nn.Linear(8, 2)


def forward(x):
    for layer in layers:
        x = torch.relu(layer(x)) + x
    return head(x)


layers.requires_grad_(False)
optimizer = torch.optim.AdamW(head.parameters(), lr=1e-2)
data = torch.randn(120, 8)
labels = (data[:, 0] * data[:, 1] > 0).long()
for epoch in range(4):
    if epoch:
        newest = layers[-epoch]
        newest.requires_grad_(True)
        optimizer.add_param_group({"params": newest.parameters(), "lr": 1e-2 / 2 ** epoch})
    for rows in torch.randperm(120).split(30):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(forward(data[rows]), labels[rows])
        loss.backward()
        optimizer.step()
print("groups", len(optimizer.param_groups), "loss", loss.item())
