"""BUG: num_training_steps counts updates, yet lr_scheduler.step() is called for every accumulated batch."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel, get_linear_schedule_with_warmup

torch.manual_seed(114)
config = GPT2Config(
    vocab_size=32, n_positions=16, n_embd=16, n_layer=1, n_head=2,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0,
)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)

train_batches = [(torch.arange(12) + torch.randint(0, 32, (6, 1))) % 32 for _ in range(12)]
num_epochs, accumulation = 2, 3
num_updates = num_epochs * len(train_batches) // accumulation
lr_scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=1, num_training_steps=num_updates)

model.train()
for epoch in range(num_epochs):
    for step, input_ids in enumerate(train_batches):
        loss = model(input_ids=input_ids, labels=input_ids).loss / accumulation
        loss.backward()
        if (step + 1) % accumulation == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        lr_scheduler.step()  # expect: GL205
    print(epoch, loss.item() * accumulation, optimizer.param_groups[0]["lr"])
