"""OK: tensor arithmetic only; methods called step and zero_grad belong to a game and a plain counter."""
import torch


class Life:
    def __init__(self, size):
        self.board = (torch.rand(size, size, generator=torch.Generator().manual_seed(0)) > 0.6).int()

    def step(self):
        around = sum(torch.roll(self.board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        self.board = ((around == 3) | ((around == 2) & (self.board == 1))).int()


class Meter:
    def __init__(self):
        self.grad = 0

    def zero_grad(self):
        self.grad = 0

    def backward(self, amount):
        self.grad += amount

    def step(self):
        return self.grad


game, meter = Life(24), Meter()
for generation in range(30):
    game.step()
    meter.backward(int(game.board.sum()))
    meter.step()
print("alive", int(game.board.sum()), "meter", meter.step())
