"""Equal conditions are one condition, and guards that can be decided are decided."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "amp and fp32 arms in a function": """\
import torch


def train(model, loader, criterion, args):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    scaler = torch.cuda.amp.GradScaler() if args.amp else None
    for images, target in loader:
        optimizer.zero_grad()
        with torch.cuda.amp.autocast(enabled=args.amp):
            loss = criterion(model(images), target)
        if args.amp:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        if args.clip_grad > 0:
            if args.amp:
                scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad)
        if args.amp:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
""",
    "scaler is not None in the torchvision reference": """\
import torch


def train_one_epoch(model, criterion, optimizer, data_loader, device, epoch, args, scaler=None):
    model.train()
    for i, (image, target) in enumerate(data_loader):
        image, target = image.to(device), target.to(device)
        with torch.cuda.amp.autocast(enabled=scaler is not None):
            output = model(image)
            loss = criterion(output, target)
        optimizer.zero_grad()
        if scaler is not None:
            scaler.scale(loss).backward()
            if args.clip_grad_norm is not None:
                # we should unscale the gradients of optimizer's assigned params if do gradient clipping
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad_norm)
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            if args.clip_grad_norm is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad_norm)
            optimizer.step()
""",
    "self.use_amp over two methods": """\
import torch


class Trainer:
    def __init__(self, model, loader, use_amp):
        self.model = model
        self.loader = loader
        self.use_amp = use_amp
        self.optimizer = torch.optim.Adam(model.parameters())
        if self.use_amp:
            self.scaler = torch.amp.GradScaler("cuda")

    def backward(self, loss):
        if self.use_amp:
            self.scaler.scale(loss).backward()
        else:
            loss.backward()

    def step(self):
        if not self.use_amp:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
        else:
            self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.scaler.step(self.optimizer)
            self.scaler.update()
        self.optimizer.zero_grad()

    def train(self):
        for x, y in self.loader:
            self.backward(torch.nn.functional.cross_entropy(self.model(x), y))
            self.step()
""",
    "disabled scaler": """\
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.AdamW(model.parameters())
scaler = torch.amp.GradScaler(device, enabled=False)
for x, y in loader:
    with torch.autocast(device, enabled=False):
        loss = torch.nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
""",
    "nanogpt": """\
import torch

dtype = "bfloat16" if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else "float16"
gradient_accumulation_steps = 5 * 8
grad_clip = 1.0
scaler = torch.cuda.amp.GradScaler(enabled=(dtype == "float16"))
optimizer = model.configure_optimizers(0.1, 6e-4, (0.9, 0.95), "cuda")
X, Y = get_batch("train")
iter_num = 0
while True:
    lr = get_lr(iter_num) if decay_lr else learning_rate
    for param_group in optimizer.param_groups:
        param_group["lr"] = lr
    for micro_step in range(gradient_accumulation_steps):
        if ddp:
            model.require_backward_grad_sync = micro_step == gradient_accumulation_steps - 1
        with ctx:
            logits, loss = model(X, Y)
            loss = loss / gradient_accumulation_steps
        X, Y = get_batch("train")
        scaler.scale(loss).backward()
    if grad_clip != 0.0:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
    if iter_num > max_iters:
        break
""",
    "zero at the window's start and step at its end": """\
import torch

model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
k = 4
for i, (x, y) in enumerate(loader):
    if i % k == 0:
        optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y) / k
    loss.backward()
    if (i + 1) % k == 0 or (i + 1) == len(loader):
        optimizer.step()
""",
    "zero at the window's start in a method": """\
import torch


class Learner:
    def __init__(self, net, subdivisions):
        self.net = net
        self.subdivisions = subdivisions
        self.optim = torch.optim.SGD(self.net.parameters(), lr=0.001, momentum=0.9)

    def fit(self, loader):
        for it, (x, y) in enumerate(loader):
            if it % self.subdivisions == 0:
                self.optim.zero_grad()
            loss = torch.nn.functional.cross_entropy(self.net(x), y) / self.subdivisions
            loss.backward()
            if it % self.subdivisions == self.subdivisions - 1 or it == len(loader) - 1:
                self.optim.step()
""",
    "flag decided once": """\
import torch


def train(net, loader, accumulate):
    optimizer = torch.optim.Adam(net.parameters())
    for i, (x, y) in enumerate(loader):
        first = i % accumulate == 0
        last = (i + 1) % accumulate == 0 or i + 1 == len(loader)
        if first:
            optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        (loss / accumulate).backward()
        if last:
            optimizer.step()
""",
    "one of two optimizers by a flag": """\
import torch


def main(model, loader, config):
    if config["optimizer"] == "adam":
        opt = torch.optim.Adam(model.parameters(), lr=config["lr"])
    elif config["optimizer"] == "sgd":
        opt = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
    else:
        raise ValueError(config["optimizer"])
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
""",
    "train and validation phases": """\
import torch


def train_model(model, dataloaders, criterion, optimizer, scheduler, num_epochs=25):
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            model.train() if phase == "train" else model.eval()
            running_loss = 0.0
            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
                running_loss += loss.item() * inputs.size(0)
            if phase == "train":
                scheduler.step()
    return model
""",
    "apex or native": """\
import torch

try:
    from apex import amp
except ImportError:
    amp = None


def train(model, optimizer, loader, criterion, has_apex):
    if has_apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        if has_apex:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
