"""OK: A3C: worker copies differentiate, hand their gradients to the shared model under a lock and are cleared for the next rollout."""
import threading

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 2))


torch.manual_seed(0)
shared = build()
optimizer = torch.optim.RMSprop(shared.parameters(), lr=3e-3)
lock = threading.Lock()
finished = []


def worker(rank):
    generator = torch.Generator().manual_seed(rank)
    local = build()
    for rollout in range(20):
        with lock:
            local.load_state_dict(shared.state_dict())
        local.zero_grad()
        x = torch.randn(16, 3, generator=generator)
        loss = nn.functional.cross_entropy(local(x), (x.sum(1) > 0).long())
        loss.backward()
        nn.utils.clip_grad_norm_(local.parameters(), 1.0)
        with lock:
            for ours, theirs in zip(local.parameters(), shared.parameters()):
                theirs.grad = ours.grad.clone()
            optimizer.step()
    finished.append((rank, loss.item()))


threads = [threading.Thread(target=worker, args=(rank,)) for rank in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(finished))
