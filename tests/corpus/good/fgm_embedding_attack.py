"""OK: FGM: the embedding is moved along its gradient and a second backward adds the adversarial gradient to the clean one, as wanted."""
import torch
from torch import nn


class FGM:
    def __init__(self, model, eps=0.5):
        self.model, self.eps, self.backup = model, eps, {}

    def attack(self, emb_name="embed"):
        for name, p in self.model.named_parameters():
            if p.requires_grad and emb_name in name:
                self.backup[name] = p.data.clone()
                norm = torch.norm(p.grad)
                if norm != 0 and not torch.isnan(norm):
                    p.data.add_(self.eps * p.grad / norm)

    def restore(self):
        for name, p in self.model.named_parameters():
            if name in self.backup:
                p.data = self.backup[name]
        self.backup = {}


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 8)
        self.fc = nn.Linear(8, 2)

    def forward(self, ids):
        return self.fc(self.embed(ids).mean(1))


torch.manual_seed(0)
model = Classifier()
fgm = FGM(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    ids = torch.randint(0, 40, (16, 6))
    label = (ids.float().mean(1) > 19.5).long()
    loss = nn.functional.cross_entropy(model(ids), label)
    loss.backward()
    fgm.attack()
    loss_adv = nn.functional.cross_entropy(model(ids), label)
    loss_adv.backward()
    fgm.restore()
    optimizer.step()
    model.zero_grad()
print(loss.item(), loss_adv.item())
