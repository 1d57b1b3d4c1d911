"""BUG: the result of scaler.scale(loss) is thrown away, so scaler.step() unscales gradients that were never scaled."""
import torch
from torch import nn

torch.manual_seed(166)
users, films = torch.randint(0, 30, (320,)), torch.randint(0, 40, (320,))
stars = ((users * 7 + films * 3) % 5).float()


class Recommender(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.user, self.film = nn.Embedding(30, dim), nn.Embedding(40, dim)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, u, f):
        return self.mlp(torch.cat([self.user(u), self.film(f)], dim=1)).squeeze(1)


model = Recommender()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for epoch in range(2):
    for pick in torch.randperm(320).split(40):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(model(users[pick], films[pick]), stars[pick])
        scaler.scale(loss)
        loss.backward()
        scaler.step(optimizer)  # expect: GL305
        scaler.update()
    print("epoch", epoch, "loss", loss.item())
