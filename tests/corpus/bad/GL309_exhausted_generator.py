"""BUG: params is a generator that the optimizer has used up, so clip_grad_norm_(params) clips nothing."""
import itertools
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(194)
encoder, decoder = nn.Linear(12, 5), nn.Linear(5, 12)
params = itertools.chain(encoder.parameters(), decoder.parameters())
optimizer = torch.optim.SGD(params, lr=0.1)
rows = torch.randn(144, 12)

for epoch in range(2):
    for batch in rows.split(24):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(decoder(torch.relu(encoder(batch))), batch)
        loss.backward()
        nn.utils.clip_grad_norm_(params, 0.2)  # expect: GL309|GL304
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
