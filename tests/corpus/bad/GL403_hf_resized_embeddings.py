"""BUG: resize_token_embeddings() makes a new embedding after the optimizer took the old one."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(224)
model = GPT2LMHeadModel(
    GPT2Config(
        vocab_size=40, n_positions=12, n_embd=16, n_layer=1, n_head=2,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0,
    )
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)  # expect: GL403
model.resize_token_embeddings(44, mean_resizing=False)

documents = torch.randint(0, 44, (32, 10))
model.train()
for epoch in range(2):
    for batch in documents.split(8):
        optimizer.zero_grad()
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()  # expect: GL403
        optimizer.step()
        model.zero_grad()
    print("epoch", epoch, loss.item())
