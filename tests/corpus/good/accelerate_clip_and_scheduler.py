"""OK: Accelerate with clipping on sync_gradients only and a prepared scheduler called per micro-batch, which moves per real step."""
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    set_seed(0)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=3)
    x = torch.randn(200, 5)
    train = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=20, shuffle=True)  # 10: windows of 3, 3, 3, 1
    net = nn.Linear(5, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.2)
    updates_per_epoch, epochs = 4, 3
    sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.1, total_iters=updates_per_epoch * epochs)
    net, opt, train, sched = accelerator.prepare(net, opt, train, sched)
    for epoch in range(epochs):
        net.train()
        total = 0.0
        for batch in train:
            with accelerator.accumulate(net):
                loss = nn.functional.cross_entropy(net(batch[0]), batch[1])
                total += loss.detach().float()
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(net.parameters(), 1.0)
                opt.step()
                sched.step()
                opt.zero_grad()
        accelerator.print(epoch, total.item() / len(train), sched.get_last_lr())


if __name__ == "__main__":
    main()
