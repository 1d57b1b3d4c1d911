"""OK: every fold has its own model, optimizer, scheduler and scaler; creating them inside the fold loop is right."""
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold
from torch import nn

digits = load_digits()
X = torch.tensor(digits.data, dtype=torch.float32) / 16
y = torch.tensor(digits.target)
scores = []
for fold, (train, test) in enumerate(KFold(3, shuffle=True, random_state=0).split(digits.data)):
    torch.manual_seed(fold)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.7)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for epoch in range(3):
        for rows in torch.tensor(train)[torch.randperm(len(train))].split(128):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = nn.functional.cross_entropy(model(X[rows]), y[rows])
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        scheduler.step()
    with torch.no_grad():
        scores.append((model(X[test]).argmax(1) == y[test]).float().mean().item())
print("folds", [round(s, 3) for s in scores])
