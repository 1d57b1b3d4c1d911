"""OK: a configuration names an optimizer and a scheduler for each block; all are cleared, stepped and checkpointed together."""
import io

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CONFIG = {
    "stem": {"optimizer": ("SGD", {"lr": 0.05, "momentum": 0.9}), "scheduler": ("StepLR", {"step_size": 2, "gamma": 0.5})},
    "blocks": {"optimizer": ("AdamW", {"lr": 2e-3, "weight_decay": 1e-2}), "scheduler": ("CosineAnnealingLR", {"T_max": 6})},
    "norms": {"optimizer": ("RMSprop", {"lr": 1e-3}), "scheduler": None},
    "head": {"optimizer": ("Adagrad", {"lr": 0.05}), "scheduler": ("ExponentialLR", {"gamma": 0.9})},
}


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.fc1, self.fc2 = nn.LayerNorm(width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return x + self.fc2(F.gelu(self.fc1(self.norm(x))))


class Net(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.stem = nn.Linear(6, width)
        self.blocks = nn.ModuleList([Residual(width) for _ in range(3)])
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def group_of(name):
    if ".norm." in name:
        return "norms"
    return name.split(".")[0]


class OptimizerBank:
    def __init__(self, model, config):
        groups = {key: [] for key in config}
        for name, p in model.named_parameters():
            groups[group_of(name)].append(p)
        self.optimizers, self.schedulers = {}, {}
        for key, spec in config.items():
            kind, kwargs = spec["optimizer"]
            self.optimizers[key] = getattr(torch.optim, kind)(groups[key], **kwargs)
            if spec["scheduler"]:
                kind, kwargs = spec["scheduler"]
                self.schedulers[key] = getattr(torch.optim.lr_scheduler, kind)(self.optimizers[key], **kwargs)

    def each(self, method, which="optimizers"):
        return [getattr(member, method)() for member in getattr(self, which).values()]

    def state_dict(self):
        return {kind: {k: v.state_dict() for k, v in getattr(self, kind).items()} for kind in ("optimizers", "schedulers")}

    def load_state_dict(self, state):
        for kind, members in state.items():
            for k, v in members.items():
                getattr(self, kind)[k].load_state_dict(v)


def run(model, bank, loader, epochs):
    for epoch in epochs:
        total = 0.0
        for x, y in loader:
            bank.each("zero_grad")
            loss = F.mse_loss(model(x), y)
            loss.backward()
            for optimizer in bank.optimizers.values():
                nn.utils.clip_grad_norm_([p for g in optimizer.param_groups for p in g["params"]], 1.0)
            bank.each("step")
            total += loss.item()
        bank.each("step", which="schedulers")
        print("epoch", epoch, "loss", total / len(loader), {k: s.get_last_lr()[0] for k, s in bank.schedulers.items()})


torch.manual_seed(0)
x = torch.randn(240, 6)
y = torch.sin(x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:3]
loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
model = Net()
bank = OptimizerBank(model, CONFIG)
run(model, bank, loader, range(0, 3))
buffer = io.BytesIO()
torch.save({"model": model.state_dict(), "bank": bank.state_dict()}, buffer)
buffer.seek(0)
restored = Net()
restored_bank = OptimizerBank(restored, CONFIG)
state = torch.load(buffer, weights_only=True)
restored.load_state_dict(state["model"])
restored_bank.load_state_dict(state["bank"])
run(restored, restored_bank, loader, range(3, 6))
