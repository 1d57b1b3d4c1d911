"""OK: an Ignite engine around a hand-written step function that clears, differentiates, clips and steps."""
import torch
from ignite.engine import Engine, Events
from torch import nn

torch.manual_seed(0)
net = nn.GRU(2, 8, batch_first=True)
out = nn.Linear(8, 2)
weights = [*net.parameters(), *out.parameters()]
optimizer = torch.optim.AdamW(weights, lr=5e-3)


def process(engine, batch):
    net.train()
    optimizer.zero_grad()
    hidden, _ = net(batch[:, :-1])
    loss = nn.functional.mse_loss(out(hidden), batch[:, 1:])
    loss.backward()
    nn.utils.clip_grad_norm_(weights, 1.0)
    optimizer.step()
    return loss.item()


engine = Engine(process)
history = []
engine.add_event_handler(Events.ITERATION_COMPLETED(every=5), lambda e: history.append(e.state.output))
engine.run([torch.randn(8, 10, 2).cumsum(1) for _ in range(10)], max_epochs=2)
print(history)
