"""BUG: the embedding net's loss is scaled, the decoder's is not, yet both optimizers are stepped through the scaler."""
import torch
from torch import nn


def make(seed):
    torch.manual_seed(seed)
    embed = nn.Sequential(nn.Linear(20, 8), nn.Tanh())
    probe = nn.Linear(8, 20)
    return embed, probe


def correlation_loss(codes):
    codes = codes - codes.mean(0)
    cov = codes.T @ codes / len(codes)
    return (cov - torch.eye(codes.size(1))).square().mean()


def main():
    embed, probe = make(168)
    opt_embed = torch.optim.Adam(embed.parameters(), lr=1e-3)
    opt_probe = torch.optim.SGD(probe.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
    samples = torch.randn(160, 20)

    for epoch in range(2):
        for batch in samples.split(32):
            opt_embed.zero_grad()
            opt_probe.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                codes = embed(batch)
                decoded = probe(codes.detach())
            embed_loss = correlation_loss(codes.float())
            probe_loss = nn.functional.mse_loss(decoded.float(), batch)
            scaler.scale(embed_loss).backward()
            probe_loss.backward()
            scaler.step(opt_embed)
            scaler.step(opt_probe)  # expect: GL305
            scaler.update()
        print(epoch, embed_loss.item(), probe_loss.item())


if __name__ == "__main__":
    main()
