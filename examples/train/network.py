"""A Llama in plain PyTorch, with the parameter names of transformers' LlamaForCausalLM; and batched sampling."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import load_file

from tokenizer import CONTEXT, load_tokenizer

SHAPE = dict(hidden_size=192, num_hidden_layers=4, num_attention_heads=6, num_key_value_heads=2, head_dim=32,
             intermediate_size=512, rms_norm_eps=1e-6, rope_theta=10000.0)
E, H, KV, D, I = (SHAPE[k] for k in ("hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim",
                                     "intermediate_size"))


def linear(i, o):
    return nn.Linear(i, o, bias=False)


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(E))

    def forward(self, x):
        return F.rms_norm(x, (E,), self.weight.to(x.dtype), SHAPE["rms_norm_eps"])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = linear(E, H * D), linear(E, KV * D), linear(E, KV * D), linear(H * D, E)

    def forward(self, x, cos, sin, mask, past):
        B, T, _ = x.shape
        qkv = F.linear(x, torch.cat((self.q_proj.weight, self.k_proj.weight, self.v_proj.weight)))
        qk = rotate(qkv[..., :(H + KV) * D].view(B, T, H + KV, D), cos, sin).transpose(1, 2)
        v = qkv[..., (H + KV) * D:].view(B, T, KV, D).transpose(1, 2)
        q, k = qk[:, :H], qk[:, H:]
        if past is not None:
            if past[0] is not None:
                k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
            past[0], past[1] = k, v
        S, G = k.shape[2], H // KV
        # written out: for short sequences on a CPU its backward is much faster than the fused kernel's
        if mask is None:
            mask = torch.ones(1, 1, T, T, dtype=torch.bool).tril()
        w = (q.reshape(B, KV, G * T, D) @ k.transpose(2, 3) * D ** -.5).view(B, KV, G, T, S)
        w = torch.softmax(w.float().masked_fill(~mask[..., None, :, :], -1e4), -1).to(v.dtype).view(B, KV, G * T, S)
        o = (w @ v).view(B, H, T, D)
        return self.o_proj(o.transpose(1, 2).reshape(B, T, H * D))


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = linear(E, I), linear(E, I), linear(I, E)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn, self.mlp = Attention(), MLP()
        self.input_layernorm, self.post_attention_layernorm = Norm(), Norm()

    def forward(self, x, cos, sin, mask, past):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, mask, past)
        return x + self.mlp(self.post_attention_layernorm(x))


class Body(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, E)
        self.layers = nn.ModuleList(Layer() for _ in range(SHAPE["num_hidden_layers"]))
        self.norm = Norm()


class Llama(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.model = Body(vocab)
        frequencies = 1 / SHAPE["rope_theta"] ** (torch.arange(0, D, 2).float() / D)
        angles = torch.outer(torch.arange(CONTEXT).float(), frequencies)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                small = .5 if "o_proj" in name or "down" in name else 1
                nn.init.normal_(p, std=.02 if "embed" in name else p.shape[1] ** -.5 * small)

    def forward(self, ids, positions=None, mask=None, past=None, select=None):
        """mask: None (causal) or bool B,1,T,S. past: [key, value] per layer, changed in place.
        select: the flat positions whose logits are wanted"""
        x = self.model.embed_tokens(ids)
        if positions is None:
            cos, sin = self.cos[:ids.shape[1], None], self.sin[:ids.shape[1], None]
        else:
            cos, sin = self.cos[positions][:, :, None], self.sin[positions][:, :, None]
        if torch.is_autocast_enabled("cpu"):
            x, cos, sin = x.bfloat16(), cos.bfloat16(), sin.bfloat16()
        for i, layer in enumerate(self.model.layers):
            x = layer(x, cos, sin, mask, past[i] if past is not None else None)
        x = self.model.norm(x)
        if select is not None:
            x = x.reshape(-1, E)[select]
        return F.linear(x, self.model.embed_tokens.weight)


def load(folder):
    """-> tokenizer and network of a folder like models/tiny, whose float16 weights are computed in float32."""
    tok = load_tokenizer(folder)
    model = Llama(tok.get_vocab_size())
    model.load_state_dict({k: v.float() for k, v in load_file(f"{folder}/model.safetensors").items()})
    return tok, model.eval()


@torch.inference_mode()
def sample(model, prompts, generator, temperature=1.0, most=160, eos=2, pad=0, batch=128):
    """-> for each prompt (ids) the ids of an answer, with its <|im_end|> unless it ran out of room"""
    out, order = [None] * len(prompts), sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
    for start in range(0, len(order), batch):
        rows = order[start:start + batch]
        B, L = len(rows), len(prompts[rows[-1]])
        ids, seen = torch.full((B, L), pad), torch.zeros(B, L, dtype=torch.bool)
        for j, i in enumerate(rows):                                # padded on the left
            ids[j, L - len(prompts[i]):] = torch.tensor(prompts[i])
            seen[j, L - len(prompts[i]):] = True
        positions = (seen.long().cumsum(1) - 1).clamp(min=0)
        causal = torch.ones(L, L, dtype=torch.bool).tril()
        mask = (seen[:, None, None, :] & causal) | torch.eye(L, dtype=torch.bool)
        past = [[None, None] for _ in model.model.layers]
        logits = model(ids, positions, mask, past, select=torch.arange(B) * L + L - 1)
        position, answers = positions[:, -1:], [[] for _ in rows]
        alive = list(range(B))                                      # rows of the batch still being written
        for _ in range(most):
            if temperature == 0:
                token = logits.argmax(-1)
            else:
                token = torch.multinomial(torch.softmax(logits.float() / temperature, -1), 1, generator=generator)[:, 0]
            for j, t in zip(alive, token.tolist()):
                answers[j].append(t)
            keep = (token != eos).nonzero()[:, 0]
            if len(keep) == 0:
                break
            if len(keep) < len(alive):                              # finished rows leave
                alive = [alive[j] for j in keep.tolist()]
                token, position, seen = token[keep], position[keep], seen[keep]
                past = [[k[keep], v[keep]] for k, v in past]
            position = position + 1
            seen = torch.cat((seen, torch.ones(len(alive), 1, dtype=torch.bool)), 1)
            logits = model(token[:, None], position, seen[:, None, None, :], past)[:, 0]
        for j, i in enumerate(rows):
            out[i] = answers[j]
    return out
