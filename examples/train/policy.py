"""The policy that grpo.py trains: the shipped Llama in plain PyTorch, its loss, and its weights as folders.

A folder is complete or absent: it is written beside its place and renamed. It holds what Everturn's embedded model
reads (onnx/model.onnx, tokenizer, config) and what the trainer resumes from (trainer.pt, float32).
The network itself is network.py, the one the shipped weights were made with."""
import json
import os
import shutil

import numpy as np
import onnx
import torch
from safetensors.numpy import save_file
from safetensors.torch import load_file

from everturn.kept import kept_logprobs

from answers import boxed
from network import Llama, sample
from onnx_graph import build_graph
from problems import heldout_problems
from tokenizer import END, load_tokenizer, render

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json")
ROWS = 32  # rows of one forward pass: longer batches cost memory and no less time


class Policy:
    """Weights of one version with their optimizer.

    train: "norms" trains the 1,728 weights of the norms and freezes the rest; "all" trains everything.
    played: the float16 weights that Everturn samples with, rather than the float32 ones that training goes on from."""

    def __init__(self, folder, learning_rate=5e-3, train="norms", warmup=5, clip=0.2, played=False):
        self.folder, self.clip, self.warmup, self.rate, self.steps = folder, clip, warmup, learning_rate, 0
        self.tokenizer = load_tokenizer(folder)
        self.network = Llama(self.tokenizer.get_vocab_size())
        self.network.load_state_dict({k: v.float() for k, v in load_file(f"{folder}/model.safetensors").items()})
        for name, p in self.network.named_parameters():
            p.requires_grad = train == "all" or "norm" in name
        trained = [p for p in self.network.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(trained, lr=learning_rate, betas=(0.9, 0.95), weight_decay=0.0)
        if not played and os.path.exists(f"{folder}/trainer.pt"):
            state = torch.load(f"{folder}/trainer.pt", weights_only=True)
            self.network.load_state_dict(state["weights"], strict=False)
            self.optimizer.load_state_dict(state["optimizer"])
            self.steps = state["steps"]

    def logprobs(self, rows):
        """float32 tensor: the logprob of each trained token of each row, row after row, in order of tokens.

        At temperature 1, over what they were drawn from: the whole vocabulary, or the kept sets of their rows."""
        ids = [r["prompt_ids"] + r["response_ids"] for r in rows]
        longest = max(map(len, ids))
        batch = torch.zeros(len(rows), longest, dtype=torch.long)
        wanted = torch.zeros(len(rows), longest, dtype=torch.bool)
        for j, (row, tokens) in enumerate(zip(rows, ids)):
            batch[j, : len(tokens)] = torch.tensor(tokens)
            start = len(row["prompt_ids"])
            wanted[j, start : start + len(row["response_mask"])] = torch.tensor(row["response_mask"], dtype=torch.bool)
        at = wanted[:, 1:].reshape(-1).nonzero()[:, 0]
        logits = self.network(batch[:, :-1], select=at)
        sets = [r.get("kept_ids") or [None] * len(r["response_ids"]) for r in rows]
        kept = [one for r, own in zip(rows, sets) for one, m in zip(own, r["response_mask"]) if m]
        return kept_logprobs(logits, batch[:, 1:].reshape(-1)[at], kept)

    def step(self, rows, advantages):
        """One update. advantages: for each row a list of floats as long as its response_ids.

        Loss: the clipped ratio of PPO against the logprobs of the sampler, mean over trained tokens; rows without
        signal (all advantages 0) are left out. -> {"trained_tokens", "ratio", "clipped", "grad_norm"}"""
        pairs = [(r, a) for r, a in zip(rows, advantages) if any(x != 0 and m for x, m in zip(a, r["response_mask"]))]
        figures = {"trained_rows": len(pairs), "trained_tokens": 0, "ratio": 1.0, "clipped": 0.0, "grad_norm": 0.0}
        self.steps += 1
        if not pairs:
            return figures
        pairs.sort(key=lambda p: len(p[0]["prompt_ids"]) + len(p[0]["response_ids"]))
        total = sum(sum(r["response_mask"]) for r, _ in pairs)
        ratios, clipped = 0.0, 0
        self.optimizer.zero_grad(set_to_none=True)
        for s in range(0, len(pairs), ROWS):
            part = pairs[s : s + ROWS]
            masked = [[(x, y) for x, y, m in zip(r["logprobs"], a, r["response_mask"]) if m] for r, a in part]
            old, advantage = (torch.tensor([pair[k] for row in masked for pair in row]) for k in (0, 1))
            ratio = torch.exp(self.logprobs([r for r, _ in part]) - old)
            limited = ratio.clamp(1 - self.clip, 1 + self.clip)
            loss = -torch.minimum(ratio * advantage, limited * advantage).sum() / total
            loss.backward()
            ratios, clipped = ratios + ratio.detach().sum().item(), clipped + int((limited != ratio).sum())
        norm = torch.nn.utils.clip_grad_norm_([p for p in self.network.parameters() if p.requires_grad], 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate * min(1.0, self.steps / max(1, self.warmup))
        self.optimizer.step()
        return {**figures, "trained_tokens": total, "ratio": ratios / total, "clipped": clipped / total, "grad_norm": norm.item()}

    def save(self, folder, notes):
        """Writes the weights and the optimizer under `folder`, with `notes` (JSON) as trained.json."""
        if os.path.isdir(folder):
            return
        beside = f"{folder}.part-{os.getpid()}"
        write_weights({k: v.detach().numpy() for k, v in self.network.named_parameters()}, self.folder, beside)
        trained = {k: v.detach() for k, v in self.network.named_parameters() if v.requires_grad}
        state = {"weights": trained, "optimizer": self.optimizer.state_dict(), "steps": self.steps}
        torch.save(state, f"{beside}/trainer.pt")
        with open(f"{beside}/trained.json", "w") as f:
            json.dump(notes, f)
        publish(beside, folder)
        self.folder = folder  # the folder it began with may be removed by now

    def accuracy(self, count=400, seed=11, temperature=1.0):
        """First-turn accuracy on `count` held-out problems, with its standard error. Temperature 0 is greedy."""
        problems = heldout_problems(count)
        generator = torch.Generator().manual_seed(seed)
        prompts = [self.tokenizer.encode(render([("user", p["question"])], True), add_special_tokens=False).ids for p in problems]
        end = self.tokenizer.token_to_id(END)
        answers = sample(self.network.eval(), prompts, generator, temperature, eos=end)
        right = [boxed(self.tokenizer.decode([t for t in ids if t != end], skip_special_tokens=False)) == str(p["answer"])
                 for ids, p in zip(answers, problems)]
        share = sum(right) / count
        return {"right": share, "standard_error": (share * (1 - share) / count) ** 0.5, "problems": count}


def write_weights(tensors, like, folder):
    """Writes float32 `tensors` (the names of transformers) as Everturn reads a model; the rest is copied from `like`."""
    os.makedirs(f"{folder}/onnx")
    half = {k: v.astype(np.float16) for k, v in tensors.items()}
    save_file(half, f"{folder}/model.safetensors", metadata={"format": "pt"})
    for name in FILES:
        shutil.copyfile(f"{like}/{name}", f"{folder}/{name}")
    with open(f"{like}/config.json") as f:
        config = json.load(f)
    onnx.save(build_graph({k: v.astype(np.float32) for k, v in half.items()}, config), f"{folder}/onnx/model.onnx")


def publish(beside, folder):
    """A whole folder appears at once, and is on disk before it does."""
    for at, _, names in os.walk(beside):
        for name in names:
            with open(os.path.join(at, name), "rb") as f:
                os.fsync(f.fileno())
    os.rename(beside, folder)
