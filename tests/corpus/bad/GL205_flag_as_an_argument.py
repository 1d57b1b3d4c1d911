"""BUG: the schedule counts updates and advances with every micro-batch; whether to update comes as an argument."""
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR, LinearLR

torch.manual_seed(0)


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = nn.Linear(5, 2)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=cfg["lr"])
        self.sched = LinearLR(self.opt, start_factor=1.0, end_factor=0.0, total_iters=cfg["updates"])

    def optimize(self, loss, do_update):
        loss.backward()
        if do_update:
            self.opt.step()
            self.opt.zero_grad(set_to_none=True)
        self.sched.step()  # expect: GL205

    def run(self):
        k = self.cfg["accum"]
        for i in range(self.cfg["updates"] * k):
            x = torch.randn(12, 5)
            loss = nn.functional.cross_entropy(self.net(x), (x[:, 0] > 0).long()) / k
            self.optimize(loss, do_update=(i + 1) % k == 0)
        return self.sched.get_last_lr()


print(Trainer({"lr": 0.1, "updates": 12, "accum": 4}).run())
