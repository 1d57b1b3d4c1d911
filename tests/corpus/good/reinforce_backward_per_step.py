"""OK: policy gradient with one backward per transition and one step per episode; the sum over time is the estimator itself."""
import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(policy.parameters(), lr=0.02)
baseline = 0.0
for episode in range(30):
    contexts = torch.randn(10, 2)
    transitions = []
    for context in contexts:
        dist = torch.distributions.Categorical(logits=policy(context))
        arm = dist.sample()
        reward = float(arm.item() == int(context[0] > 0) + int(context[1] > 0))
        transitions.append((context, arm, reward))
    opt.zero_grad()
    for context, arm, reward in transitions:
        dist = torch.distributions.Categorical(logits=policy(context))
        (-(reward - baseline) * dist.log_prob(arm)).backward()
    opt.step()
    mean = sum(r for *_, r in transitions) / len(transitions)
    baseline += 0.1 * (mean - baseline)
print("baseline", baseline)
