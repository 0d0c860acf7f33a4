#!/usr/bin/env python3
"""A GPT of GPT-2's size (124 M parameters) in FP32: training, and a forward pass without gradients.

The text is made up: each word follows from the one before by a fixed rule, with some noise, so that
there is something to learn and nothing to download.
"""

from __future__ import annotations

from collections.abc import Callable

import common
import torch
from torch import Tensor, nn
from torch.nn import functional

import warpladder

VOCABULARY, CONTEXT = 50257, 1024
WORDS_IN_USE = 2048


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, width = x.shape
        qkv = self.qkv(self.before_attention(x)).view(batch, tokens, 3, self.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.mlp(self.before_mlp(x))


class Gpt(nn.Module):
    def __init__(self, layers: int, heads: int, width: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(VOCABULARY, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.last = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        self.head.weight = self.words.weight
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, words: Tensor) -> Tensor:
        x = self.words(words) + self.places.weight[: words.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.last(x))


def text(batch: int, tokens: int) -> Tensor:
    """Words of which each is 31 times the one before, and a little, modulo WORDS_IN_USE."""
    words = torch.empty(batch, tokens + 1, dtype=torch.int64, device="cuda")
    words[:, 0] = torch.randint(WORDS_IN_USE, (batch,), device="cuda")
    noise = torch.randint(4, (batch, tokens), device="cuda")
    for t in range(tokens):
        words[:, t + 1] = (31 * words[:, t] + noise[:, t]) % WORDS_IN_USE
    return words


def training(sizes: tuple[int, int, int], batch: int, tokens: int) -> Callable[[], Tensor]:
    model = Gpt(*sizes).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    data = common.batches(lambda: text(batch, tokens), 4)

    def step() -> Tensor:
        words = next(data)
        logits = model(words[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def forward(
    sizes: tuple[int, int, int], batch: int, tokens: int, prepared: bool
) -> Callable[[], None]:
    model = Gpt(*sizes).cuda().eval()
    if prepared:
        warpladder.prepare(model)
    words = text(batch, tokens)[:, :-1].contiguous()

    def step() -> None:
        with torch.no_grad():
            model(words)

    return step


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument(
        "--what",
        default="train:4x1024,train:16x1024,forward:8x512,prepared:8x512",
        help="train, forward, or forward with warpladder.prepare(); with sequences x tokens "
        "(default: %(default)s)",
    )
    options = parser.parse_args()
    common.require_gpu()
    sizes = (options.layers, options.heads, options.width)

    def step_of(kind: str, batch: int, tokens: int) -> Callable[[str], Callable[[], Tensor | None]]:
        if kind == "train":
            return lambda contestant: training(sizes, batch, tokens)
        return lambda contestant: forward(
            sizes, batch, tokens, kind == "prepared" and contestant == "warpladder"
        )

    rows = []
    for each in options.what.split(","):
        kind, _, shape = each.partition(":")
        batch, tokens = (int(size) for size in shape.split("x"))
        label = f"GPT {'forward, prepared' if kind == 'prepared' else kind} {batch}x{tokens}"
        rows.append(common.compared(label, step_of(kind, batch, tokens), options))
    common.write_report(options, "gpt", rows)


if __name__ == "__main__":
    main()
