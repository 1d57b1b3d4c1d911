"""OK: a callable loss scaler does backward, unscale, clip, step and update; with need_update=False it only accumulates."""
import torch
from torch import nn


class NativeScaler:
    state_dict_key = "amp_scaler"

    def __init__(self):
        self._scaler = torch.amp.GradScaler("cpu", init_scale=4096.0)

    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, create_graph=False, need_update=True):
        self._scaler.scale(loss).backward(create_graph=create_graph)
        if need_update:
            if clip_grad is not None:
                assert parameters is not None
                self._scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(parameters, clip_grad)
            self._scaler.step(optimizer)
            self._scaler.update()

    def state_dict(self):
        return self._scaler.state_dict()


def train_one_epoch(model, batches, optimizer, loss_scaler, accum_iter):
    model.train()
    optimizer.zero_grad()
    for data_iter_step, samples in enumerate(batches):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = (model(samples) - samples).pow(2).mean()
        loss_value = loss.item()
        loss = loss / accum_iter
        loss_scaler(loss, optimizer, clip_grad=1.0, parameters=model.parameters(),
                    need_update=(data_iter_step + 1) % accum_iter == 0)
        if (data_iter_step + 1) % accum_iter == 0:
            optimizer.zero_grad()
    return loss_value


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 4), nn.ReLU(), nn.Linear(4, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
loss_scaler = NativeScaler()
for epoch in range(3):
    value = train_one_epoch(model, torch.randn(12, 16, 10), optimizer, loss_scaler, accum_iter=3)
print("loss", value)
