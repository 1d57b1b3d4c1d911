"""OK: a tiny random Llama in a hand-written loop that labels inside the model and accumulates two equal micro-batches."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM, get_linear_schedule_with_warmup

torch.manual_seed(0)
model = LlamaForCausalLM(LlamaConfig(vocab_size=24, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                                     num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=16,
                                     bos_token_id=0, eos_token_id=0, pad_token_id=None))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
accumulation, updates = 2, 10
lr_scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=2, num_training_steps=updates)
model.train()
for update in range(updates):
    for micro in range(accumulation):
        ids = (torch.randint(0, 24, (4, 1)) + torch.arange(12)) % 24
        outputs = model(input_ids=ids, labels=ids)
        (outputs.loss / accumulation).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    lr_scheduler.step()
    optimizer.zero_grad()
print("loss", outputs.loss.item())
