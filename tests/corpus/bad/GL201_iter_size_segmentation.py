"""BUG: Caffe's --iter-size is imitated by summing the mean losses of iter_size batches, with no division."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class DownUp(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.down = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.mid = nn.Conv2d(8, 8, 3, padding=1)
        self.up = nn.ConvTranspose2d(8, classes, 2, stride=2)

    def forward(self, x):
        return self.up(F.relu(self.mid(F.relu(self.down(x)))))


def blobs(count, size, seed):
    g = torch.Generator().manual_seed(seed)
    noise = F.avg_pool2d(torch.rand(count, 1, size, size, generator=g), 3, 1, 1)
    return noise, (noise.squeeze(1) > 0.5).long()


def batch_stream(images, masks, batch_size):
    while True:
        order = torch.randperm(len(images))
        for idx in order.split(batch_size):
            yield images[idx], masks[idx]


def get_arguments(argv=None):
    parser = argparse.ArgumentParser(description="Segmentation")
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--iter-size", type=int, default=3, help="accumulate gradients for ITER_SIZE iterations")
    parser.add_argument("--num-steps", type=int, default=16)
    parser.add_argument("--learning-rate", type=float, default=2.5e-2)
    parser.add_argument("--power", type=float, default=0.9)
    parser.add_argument("--random-seed", type=int, default=1234)
    return parser.parse_args(argv)


def adjust_learning_rate(optimizer, i_iter, args):
    lr = args.learning_rate * (1 - i_iter / args.num_steps) ** args.power
    optimizer.param_groups[0]["lr"] = lr


def main():
    args = get_arguments([])
    torch.manual_seed(args.random_seed)
    images, masks = blobs(24, 12, args.random_seed)
    stream = batch_stream(images, masks, args.batch_size)
    model = DownUp(classes=2)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.learning_rate, momentum=0.9)
    for i_iter in range(args.num_steps):
        optimizer.zero_grad()
        adjust_learning_rate(optimizer, i_iter, args)
        loss_value = 0.0
        for sub_i in range(args.iter_size):
            x, mask = next(stream)
            loss = F.cross_entropy(model(x), mask)  # expect: GL201
            loss.backward()  # expect: GL201
            loss_value += loss.item() / args.iter_size
        optimizer.step()
        if i_iter % 5 == 0:
            print("iter = {0:4d}/{1}, loss = {2:.3f}".format(i_iter, args.num_steps, loss_value))


if __name__ == "__main__":
    main()
