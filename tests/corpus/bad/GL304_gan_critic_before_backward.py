"""BUG: the critic is clipped after its clearing and before its backward, when there is nothing to clip."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(39)
x_all = torch.randn(30, 6)
y_all = x_all @ torch.randn(6, 2)
loader = DataLoader(TensorDataset(x_all, y_all), batch_size=6)
gen, critic = nn.Linear(6, 2), nn.Linear(2, 1)
gen_opt = torch.optim.Adam(gen.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)

for epoch in range(3):
    for x, y in loader:
        gen_opt.zero_grad()
        (-critic(gen(x))).mean().backward()
        gen_opt.step()

        critic_opt.zero_grad()
        loss = critic(gen(x).detach()).mean() - critic(y).mean()
        nn.utils.clip_grad_norm_(critic.parameters(), 0.5)  # expect: GL304
        loss.backward()
        critic_opt.step()
    print("epoch", epoch, loss.item())
