"""A backward for the input's gradient only leaves nothing that anybody steps on."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "fgsm tutorial": """\
import torch
import torch.nn.functional as F


def fgsm_attack(image, epsilon, data_grad):
    return torch.clamp(image + epsilon * data_grad.sign(), 0, 1)


def test(model, device, test_loader, epsilon):
    correct = 0
    for data, target in test_loader:
        data, target = data.to(device), target.to(device)
        data.requires_grad = True
        output = model(data)
        init_pred = output.max(1, keepdim=True)[1]
        if init_pred.item() != target.item():
            continue
        loss = F.nll_loss(output, target)
        model.zero_grad()
        loss.backward()
        perturbed = fgsm_attack(data, epsilon, data.grad.data)
        correct += (model(perturbed).max(1)[1] == target).sum().item()
    return correct
""",
    "saliency": """\
import torch

model = torch.nn.Linear(16, 10).eval()
maps = []
for image in images:
    image = image.clone().requires_grad_()
    score = model(image).max()
    score.backward()
    maps.append(image.grad.abs().max(dim=0).values)
""",
    "style transfer": """\
import torch
import torch.optim as optim


def run_style_transfer(cnn, content_img, input_img, num_steps=300):
    input_img.requires_grad_(True)
    cnn.eval()
    cnn.requires_grad_(False)
    optimizer = optim.LBFGS([input_img])
    run = [0]
    while run[0] <= num_steps:

        def closure():
            with torch.no_grad():
                input_img.clamp_(0, 1)
            optimizer.zero_grad()
            loss = (cnn(input_img) - content_img).pow(2).mean()
            loss.backward()
            run[0] += 1
            return loss

        optimizer.step(closure)
    return input_img
""",
    "style transfer through an unfrozen net": """\
import torch
from torchvision.models import vgg19

features = vgg19(weights="DEFAULT").features.eval()
target = content.clone().requires_grad_(True)
optimizer = torch.optim.Adam([target], lr=0.003)
for step in range(2000):
    loss = (features(target) - features(content)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "adversarial training in one loop": """\
import torch
import torch.nn.functional as F

net = torch.nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    x.requires_grad_(True)
    F.cross_entropy(net(x), y).backward()
    x_adv = (x + 0.1 * x.grad.sign()).detach()
    opt.zero_grad()
    F.cross_entropy(net(x_adv), y).backward()
    opt.step()
""",
    "grad-cam with hooks": """\
import torch


class GradCam:
    def __init__(self, model, layer):
        self.model, self.gradients = model, None
        layer.register_full_backward_hook(self.save)

    def save(self, module, grad_in, grad_out):
        self.gradients = grad_out[0]

    def __call__(self, x, index=None):
        output = self.model(x)
        if index is None:
            index = output.argmax()
        self.model.zero_grad()
        output[0, index].backward(retain_graph=True)
        return self.gradients.mean(dim=(2, 3))


def explain_all(model, images):
    cam = GradCam(model, model.layer4)
    return [cam(image) for image in images]
""",
    "deep dream by hand": """\
import torch


def dream(model, image, iterations, lr):
    image = image.detach().requires_grad_(True)
    for i in range(iterations):
        model.zero_grad()
        loss = model(image).norm()
        loss.backward()
        image.data += lr * image.grad.data / image.grad.data.abs().mean()
        image.grad.data.zero_()
    return image
""",
    "carlini with a frozen target": """\
import torch


class Attack:
    def __init__(self, victim):
        self.victim = victim.eval()

    def run(self, x, y, steps=100):
        w = torch.atanh(2 * x - 1).detach().requires_grad_()
        opt = torch.optim.Adam([w], lr=0.01)
        for _ in range(steps):
            adv = 0.5 * (w.tanh() + 1)
            logits = self.victim(adv)
            loss = (adv - x).pow(2).sum() + logits.gather(1, y[:, None]).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
        return adv.detach()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
