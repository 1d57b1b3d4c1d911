"""Tensors that travel through things which are not seen: what comes back may carry their gradients."""

from __future__ import annotations

import pytest

from tests.static.project import certain, programs

PLAIN = {
    "a graph's node data": """\
import torch
import torch.nn as nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, graph, h):
        with graph.local_scope():
            graph.ndata['h'] = h
            graph.apply_edges(dot('h', 'h', 's'))
            return graph.edata['s'] + self.bias


def train(loader):
    scorer, embedding = Scorer(), nn.Embedding(100, 8)
    opt = torch.optim.Adam(scorer.parameters(), lr=0.1)
    opt_embedding = torch.optim.SparseAdam(embedding.parameters(), lr=0.1)
    for graph, ids in loader:
        loss = scorer(graph, embedding(ids)).mean()
        opt.zero_grad()
        opt_embedding.zero_grad()
        loss.backward()
        opt.step()
        opt_embedding.step()


train(graphs)
""",
    "an embedding as a graph's features": """\
import torch
import torch.nn as nn

embedding = nn.Embedding(100, 8)
head = nn.Linear(8, 1)
graph.ndata['feat'] = embedding.weight
optimizer = torch.optim.Adam(list(head.parameters()) + list(embedding.parameters()))
for edges in loader:
    optimizer.zero_grad()
    x = propagate(graph, edges)
    head(x).mean().backward()
    nn.utils.clip_grad_norm_(embedding.parameters(), 1.0)
    nn.utils.clip_grad_norm_(head.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
""",
    "a batch that carries its own tensors": """\
import torch
import torch.nn as nn

encoder, decoder = nn.Linear(8, 4), nn.Linear(4, 1)
first = torch.optim.SGD(encoder.parameters(), lr=0.1)
second = torch.optim.SGD(decoder.parameters(), lr=0.1)
for batch in loader:
    batch.hidden = encoder(batch.x)
    loss = decoder(collect(batch)).mean()
    first.zero_grad()
    second.zero_grad()
    loss.backward()
    first.step()
    second.step()
    first.zero_grad()
    second.zero_grad()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_certain_is_said(text: str) -> None:
    assert certain(text) == []
