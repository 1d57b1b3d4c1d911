"""Inside Accelerate's accumulate(), unconditional calls are right, and its backward divides."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "module level": """\
import torch
from accelerate import Accelerator

accelerator = Accelerator(gradient_accumulation_steps=4)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=100)
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
for epoch in range(3):
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.mse_loss(model(x), y)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
""",
    "diffusers example": """\
import torch
import torch.nn.functional as F
from accelerate import Accelerator


def main(args, unet, noise_scheduler, train_dataloader, lr_scheduler):
    accelerator = Accelerator(
        gradient_accumulation_steps=args.gradient_accumulation_steps, mixed_precision=args.mixed_precision
    )
    optimizer = torch.optim.AdamW(unet.parameters(), lr=args.learning_rate)
    unet, optimizer, train_dataloader, lr_scheduler = accelerator.prepare(
        unet, optimizer, train_dataloader, lr_scheduler
    )
    global_step = 0
    for epoch in range(args.num_train_epochs):
        unet.train()
        train_loss = 0.0
        for step, batch in enumerate(train_dataloader):
            with accelerator.accumulate(unet):
                noise = torch.randn_like(batch["latents"])
                timesteps = torch.randint(0, 1000, (noise.shape[0],))
                noisy = noise_scheduler.add_noise(batch["latents"], noise, timesteps)
                model_pred = unet(noisy, timesteps).sample
                loss = F.mse_loss(model_pred.float(), noise.float(), reduction="mean")
                avg_loss = accelerator.gather(loss.repeat(args.train_batch_size)).mean()
                train_loss += avg_loss.item() / args.gradient_accumulation_steps
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(unet.parameters(), args.max_grad_norm)
                optimizer.step()
                lr_scheduler.step()
                optimizer.zero_grad()
            if accelerator.sync_gradients:
                global_step += 1
                accelerator.log({"train_loss": train_loss}, step=global_step)
                train_loss = 0.0
            if global_step >= args.max_train_steps:
                break
""",
    "class with the accelerator in self": """\
import torch
from accelerate import Accelerator


class Trainer:
    def __init__(self, model, dataset, accumulate=2):
        self.accelerator = Accelerator(gradient_accumulation_steps=accumulate)
        self.opt = torch.optim.Adam(model.parameters(), lr=1e-4)
        loader = torch.utils.data.DataLoader(dataset, batch_size=16)
        self.model, self.opt, self.loader = self.accelerator.prepare(model, self.opt, loader)

    def train(self):
        for data, target in self.loader:
            with self.accelerator.accumulate(self.model):
                loss = torch.nn.functional.cross_entropy(self.model(data), target)
                self.accelerator.backward(loss)
                self.opt.step()
                self.opt.zero_grad()
""",
    "lucidrains style without accumulate": """\
import torch
from accelerate import Accelerator


class Trainer:
    def __init__(self, diffusion_model, dl, gradient_accumulate_every=2, split_batches=True):
        self.accelerator = Accelerator(split_batches=split_batches)
        self.model = diffusion_model
        self.gradient_accumulate_every = gradient_accumulate_every
        self.dl = self.cycle(self.accelerator.prepare(dl))
        self.opt = torch.optim.Adam(diffusion_model.parameters(), lr=1e-4)
        self.model, self.opt = self.accelerator.prepare(self.model, self.opt)
        self.step = 0

    def cycle(self, dl):
        while True:
            for data in dl:
                yield data

    def train(self, num_steps):
        while self.step < num_steps:
            total_loss = 0.0
            for _ in range(self.gradient_accumulate_every):
                data = next(self.dl)
                with self.accelerator.autocast():
                    loss = self.model(data)
                    loss = loss / self.gradient_accumulate_every
                    total_loss += loss.item()
                self.accelerator.backward(loss)
            self.accelerator.wait_for_everyone()
            self.accelerator.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            self.opt.zero_grad()
            self.step += 1
""",
    "no accumulation at all": """\
from accelerate import Accelerator
from torch.optim import AdamW


def training_function(config, model, train_dataloader):
    accelerator = Accelerator(cpu=True)
    optimizer = AdamW(params=model.parameters(), lr=config["lr"])
    model, optimizer, train_dataloader = accelerator.prepare(model, optimizer, train_dataloader)
    for epoch in range(config["epochs"]):
        for step, batch in enumerate(train_dataloader):
            outputs = model(**batch)
            accelerator.backward(outputs.loss)
            optimizer.step()
            optimizer.zero_grad()
""",
    "by hand with modulo": """\
from accelerate import Accelerator
from torch.optim import AdamW


def training_function(model, train_dataloader, gradient_accumulation_steps):
    accelerator = Accelerator()
    optimizer = AdamW(model.parameters(), lr=2e-5)
    model, optimizer, train_dataloader = accelerator.prepare(model, optimizer, train_dataloader)
    for step, batch in enumerate(train_dataloader):
        loss = model(**batch).loss
        loss = loss / gradient_accumulation_steps
        accelerator.backward(loss)
        if (step + 1) % gradient_accumulation_steps == 0 or step + 1 == len(train_dataloader):
            optimizer.step()
            optimizer.zero_grad()
""",
    "two models in a list": """\
import itertools

import torch
from accelerate import Accelerator

accelerator = Accelerator(gradient_accumulation_steps=2)
unet, text_encoder = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
params = itertools.chain(unet.parameters(), text_encoder.parameters())
optimizer = torch.optim.AdamW(params, lr=1e-4)
unet, text_encoder, optimizer, loader = accelerator.prepare(unet, text_encoder, optimizer, loader)
for batch in loader:
    with accelerator.accumulate(unet, text_encoder):
        loss = (unet(text_encoder(batch)) - batch).pow(2).mean()
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(
                itertools.chain(unet.parameters(), text_encoder.parameters()), 1.0
            )
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
