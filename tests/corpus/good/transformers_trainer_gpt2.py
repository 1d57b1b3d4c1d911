"""OK: the Transformers Trainer on a tiny random GPT-2 with gradient accumulation, clipping and warmup, untouched defaults."""
import os
import tempfile

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed


class Counting(Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, i):
        ids = (torch.arange(10) * (i % 3 + 1) + i) % 32
        return {"input_ids": ids, "labels": ids.clone()}


set_seed(0)
config = GPT2Config(vocab_size=32, n_positions=16, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config)
with tempfile.TemporaryDirectory() as folder:
    args = TrainingArguments(output_dir=folder, num_train_epochs=2, per_device_train_batch_size=4,
                             gradient_accumulation_steps=3, learning_rate=5e-3, warmup_steps=2, use_cpu=True,
                             save_strategy="no", report_to=[], disable_tqdm=True, logging_steps=4)
    result = Trainer(model=model, args=args, train_dataset=Counting()).train()
print("updates", result.global_step, "loss", result.training_loss)
