"""BUG: nine batches, windows of two: the ninth batch's scaled gradients leak into the next epoch."""
import torch
from torch import nn

torch.manual_seed(66)
use_amp = True
accumulation = 2
sequences = torch.randn(90, 8, 3)
labels = sequences[:, :, 0].sum(1).gt(0).float()


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 8, 3)
        self.fc = nn.Linear(8, 1)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x.transpose(1, 2))).amax(dim=2)).squeeze(1)


model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, enabled=use_amp)

optimizer.zero_grad(set_to_none=True)
for epoch in range(3):
    for i, (x, y) in enumerate(zip(sequences.split(10), labels.split(10))):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=use_amp):
            logits = model(x)
        loss = nn.functional.binary_cross_entropy_with_logits(logits.float(), y)
        scaler.scale(loss / accumulation).backward()
        update = (i + 1) % accumulation == 0  # expect: GL202
        if update:  # expect: GL202
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)  # expect: GL202
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
    print(epoch, loss.item())
