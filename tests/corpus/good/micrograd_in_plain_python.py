"""OK: a tiny autograd engine in plain Python has its own backward(), grad and update; torch only provides the data."""
import math
import random

import torch


class Value:
    def __init__(self, data, children=()):
        self.data, self.grad, self._prev, self._backward = data, 0.0, children, lambda: None

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other))
        def _backward():
            self.grad += out.grad
            other.grad += out.grad
        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other))
        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward
        return out

    def tanh(self):
        out = Value(math.tanh(self.data), (self,))
        def _backward():
            self.grad += (1 - out.data ** 2) * out.grad
        out._backward = _backward
        return out

    def backward(self):
        order, seen = [], set()
        def visit(v):
            if id(v) not in seen:
                seen.add(id(v))
                for child in v._prev:
                    visit(child)
                order.append(v)
        visit(self)
        self.grad = 1.0
        for v in reversed(order):
            v._backward()


random.seed(0)
points = torch.randn(12, 2, generator=torch.Generator().manual_seed(0)).tolist()
w = [Value(random.uniform(-1, 1)) for _ in range(3)]
for step in range(40):
    loss = Value(0.0)
    for a, b in points:
        error = (w[0] * a + w[1] * b + w[2]).tanh() + (-1.0 if a > b else 1.0)
        loss = loss + error * error
    loss.backward()
    for p in w:
        p.data -= 0.05 * p.grad
        p.grad = 0.0
print("loss", loss.data)
