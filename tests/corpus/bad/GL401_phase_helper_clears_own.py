"""BUG: run_phase() zeroes only the optimizer it stepped, so the encoder's fooling phase leaves gradients in the discriminator."""
import torch
from torch import nn

torch.manual_seed(206)
encoder = nn.Sequential(nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, 2))
decoder = nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, 16))
judge = nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, 1))

optimizers = {
    "reconstruct": torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3),
    "discriminate": torch.optim.Adam(judge.parameters(), lr=1e-3),
    "fool": torch.optim.Adam(encoder.parameters(), lr=5e-4),
}
bce = nn.functional.binary_cross_entropy_with_logits


def run_phase(name, loss):
    loss.backward()
    optimizers[name].step()  # expect: GL401
    optimizers[name].zero_grad()  # expect: GL401
    return loss.item()


samples = torch.randn(160, 16)
for epoch in range(2):
    for batch in samples.split(20):
        values = {}
        values["reconstruct"] = run_phase("reconstruct", (decoder(encoder(batch)) - batch).pow(2).mean())

        code = encoder(batch).detach()
        prior = torch.randn_like(code)
        scores = judge(torch.cat([prior, code]))
        truth = torch.cat([torch.ones(len(prior), 1), torch.zeros(len(code), 1)])
        values["discriminate"] = run_phase("discriminate", bce(scores, truth))

        values["fool"] = run_phase("fool", bce(judge(encoder(batch)), torch.ones(len(batch), 1)))
    print("epoch", epoch, values)
