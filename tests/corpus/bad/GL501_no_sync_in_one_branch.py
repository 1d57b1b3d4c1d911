"""BUG: DDP decides in forward: no_sync() around backward() alone changes nothing."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group(backend="gloo", store=dist.HashStore(), rank=0, world_size=1)
    ddp = DistributedDataParallel(nn.Linear(5, 2))
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for step in range(6):
        optimizer.zero_grad()
        for micro in range(3):
            loss = nn.functional.cross_entropy(ddp(torch.randn(4, 5)), torch.randint(0, 2, (4,))) / 3
            if micro < 2:
                with ddp.no_sync():
                    loss.backward()  # expect: GL501
            else:
                loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
