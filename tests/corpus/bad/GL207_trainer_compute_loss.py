"""BUG: compute_loss divides by gradient_accumulation_steps, which the Trainer does again before its backward."""
import tempfile

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed


class Series(Dataset):
    def __init__(self, n=96):
        g = torch.Generator().manual_seed(700)
        self.x = torch.randn(n, 9, generator=g)
        self.y = (self.x.cumsum(1)[:, -1:] > 0).float()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"x": self.x[i], "labels": self.y[i]}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(9, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, x, labels=None):
        return {"logits": self.body(x)}


class WeightedTrainer(Trainer):
    pos_weight = torch.tensor(1.5)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"]
        outputs = model(**inputs)
        loss = nn.functional.binary_cross_entropy_with_logits(
            outputs["logits"], labels, pos_weight=self.pos_weight
        )
        loss = loss / self.args.gradient_accumulation_steps  # expect: GL207
        return (loss, outputs) if return_outputs else loss


def main():
    set_seed(7)
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(
            output_dir=out, num_train_epochs=2, per_device_train_batch_size=8, gradient_accumulation_steps=4,
            learning_rate=1e-2, lr_scheduler_type="constant", max_grad_norm=0.0, use_cpu=True, report_to=[],
            save_strategy="no", logging_strategy="no", disable_tqdm=True,
        )
        trainer = WeightedTrainer(model=Net(), args=args, train_dataset=Series())
        result = trainer.train()  # expect: GL207
        print("loss", result.training_loss, "updates", result.global_step)


if __name__ == "__main__":
    main()
