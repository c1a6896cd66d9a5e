"""The models that torch_step.py trains, in plain PyTorch: GPT-2, and Llama as Hugging Face writes it."""
import math

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


class Attention(nn.Module):
    """Causal attention of (batch, heads, sequence, width): products and a softmax of their own, or PyTorch's fused one."""

    def __init__(self, sequence, fused, dropout):
        super().__init__()
        self.fused, self.dropout = fused, nn.Dropout(dropout)
        mask = torch.triu(torch.ones(sequence, sequence, dtype=torch.bool), diagonal=1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, q, k, v):
        if self.fused:
            rate = self.dropout.p if self.training else 0.0
            return functional.scaled_dot_product_attention(q, k, v, dropout_p=rate, is_causal=True)
        scores = torch.matmul(q, k.transpose(-2, -1)) * (1.0 / math.sqrt(q.size(-1)))
        scores = scores.masked_fill(self.mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1).to(v.dtype)
        return torch.matmul(self.dropout(weights), v)


class LoraLinear(nn.Module):
    """LoRA: a frozen linear layer beside a trained one of low rank."""

    def __init__(self, frozen, rank):
        super().__init__()
        self.frozen = frozen.requires_grad_(False)
        self.narrow = nn.Linear(frozen.in_features, rank, bias=False)
        self.widen = nn.Linear(rank, frozen.out_features, bias=False)
        nn.init.zeros_(self.widen.weight)

    def forward(self, x):
        return self.frozen(x) + self.widen(self.narrow(x))


class Gpt2Block(nn.Module):
    def __init__(self, sizes, attention, dropout):
        super().__init__()
        hidden, wide = sizes["hidden"], sizes["intermediate"]
        self.heads, self.attention = sizes["heads"], attention
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.projection = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, wide), nn.Linear(wide, hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch, length, hidden = x.shape
        q, k, v = self.qkv(self.norm1(x)).split(hidden, dim=2)
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        y = self.attention(q, k, v).transpose(1, 2).reshape(batch, length, hidden)
        x = x + self.dropout(self.projection(y))
        y = functional.gelu(self.up(self.norm2(x)), approximate="tanh")
        return x + self.dropout(self.down(y))


class RmsNorm(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


class Rotary(nn.Module):
    """Turns queries and keys by their position."""

    def __init__(self, sequence, width):
        super().__init__()
        rates = 10000.0 ** (-torch.arange(0, width, 2).float() / width)
        angles = torch.outer(torch.arange(sequence).float(), rates).repeat(1, 2)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, x):
        first, second = x.chunk(2, dim=-1)
        turned = torch.cat((-second, first), dim=-1)
        return x * self.cos.to(x.dtype) + turned * self.sin.to(x.dtype)


class LlamaBlock(nn.Module):
    def __init__(self, sizes, attention, rotary):
        super().__init__()
        hidden, wide = sizes["hidden"], sizes["intermediate"]
        self.width, self.attention, self.rotary = hidden // sizes["heads"], attention, rotary
        self.shared = sizes["heads"] // sizes["kv_heads"]  # heads for each key and value
        keys = self.width * sizes["kv_heads"]
        self.norm1, self.norm2 = RmsNorm(hidden), RmsNorm(hidden)
        self.query, self.projection = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, hidden, bias=False)
        self.key, self.value = nn.Linear(hidden, keys, bias=False), nn.Linear(hidden, keys, bias=False)
        self.gate, self.up = nn.Linear(hidden, wide, bias=False), nn.Linear(hidden, wide, bias=False)
        self.down = nn.Linear(wide, hidden, bias=False)

    def forward(self, x):
        batch, length, hidden = x.shape
        y = self.norm1(x)
        q, k, v = (t.view(batch, length, -1, self.width).transpose(1, 2)
                   for t in (self.query(y), self.key(y), self.value(y)))
        q, k = self.rotary(q), self.rotary(k)
        if self.shared > 1:
            k, v = k.repeat_interleave(self.shared, dim=1), v.repeat_interleave(self.shared, dim=1)
        y = self.attention(q, k, v).transpose(1, 2).reshape(batch, length, hidden)
        x = x + self.projection(y)
        y = self.norm2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Model(nn.Module):
    """Embeddings, blocks, a norm and a head; forward returns the loss."""

    def __init__(self, sizes, fused_attention=False, dropout=0.0, checkpoints=False, lora=0):
        super().__init__()
        hidden, sequence, vocabulary = sizes["hidden"], sizes["sequence"], sizes["vocabulary"]
        self.checkpoints = checkpoints
        self.tokens = nn.Embedding(vocabulary, hidden)
        gpt2 = sizes["family"] == "gpt2"
        attention = Attention(sequence, fused_attention, dropout if gpt2 else 0.0)
        if gpt2:
            self.positions, self.dropout = nn.Embedding(sequence, hidden), nn.Dropout(dropout)
            self.register_buffer("places", torch.arange(sequence), persistent=False)
            self.norm = nn.LayerNorm(hidden)
            blocks = (Gpt2Block(sizes, attention, dropout) for _ in range(sizes["layers"]))
        else:
            self.positions, self.norm = None, RmsNorm(hidden)
            rotary = Rotary(sequence, hidden // sizes["heads"])
            blocks = (LlamaBlock(sizes, attention, rotary) for _ in range(sizes["layers"]))
        self.blocks = nn.ModuleList(blocks)
        self.head = nn.Linear(hidden, vocabulary, bias=False)
        self.apply(initialise)
        if sizes["tied_embedding"]:
            self.head.weight = self.tokens.weight
        if lora:
            self.adapt(lora)

    def adapt(self, rank):
        """Freezes all and lays adapters beside the products that make queries, keys and values."""
        self.requires_grad_(False)
        for block in self.blocks:
            for name in ("qkv", "query", "value"):
                if hasattr(block, name):
                    setattr(block, name, LoraLinear(getattr(block, name), rank))

    def forward(self, inputs, targets):
        x = self.tokens(inputs)
        if self.positions is not None:
            x = self.dropout(x + self.positions(self.places))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpoints else block(x)
        logits = self.head(self.norm(x))
        return functional.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))


def initialise(module):
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
