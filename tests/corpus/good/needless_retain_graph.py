"""OK: retain_graph=True is not needed here but does no harm: every graph is differentiated once and then dropped."""
import torch

torch.manual_seed(0)
table = torch.nn.Embedding(30, 4)
mlp = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.Adam([{"params": table.parameters()}, {"params": mlp.parameters()}], lr=1e-2)

for step in range(60):
    pair = torch.randint(0, 30, (32, 2))
    want = (pair[:, :1] > pair[:, 1:]).float()
    logit = mlp(table(pair).flatten(1))
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logit, want)
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
print("loss", loss.item())
