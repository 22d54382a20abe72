"""Trains the model: `python train.py --out FOLDER` writes fp32 weights there, for the tokenizer of models/tiny.

Three parts, one learning-rate schedule over all steps: single answers (the arithmetic), conversations with made-up
wrong answers, and conversations with the model's own wrong answers, sampled once when the third part begins.
Everything follows from the seed and the number of conversations, nothing from the clock."""
import argparse
import math
import os
import random
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "examples", "train"))
from answers import boxed  # noqa: E402
from conversations import WRONG, conversation, single  # noqa: E402
from network import Llama, sample  # noqa: E402
from problems import problem  # noqa: E402
from tokenizer import END, START, load_tokenizer, render  # noqa: E402

BATCH_TOKENS, LONGEST = 6144, 640


def encode(tok, conversations):
    """-> list of (ids, which of them training predicts) arrays, overlong ones left out; a conversation is as in conversations.py"""
    out = []
    for s in range(0, len(conversations), 4000):
        part = conversations[s:s + 4000]
        pieces = [x for c in part for role, text, _ in c for x in (f"{START}{role}\n", text, f"{END}\n")]
        encoded = iter(tok.encode_batch(pieces, add_special_tokens=False))
        for c in part:
            ids, wanted = [], []
            for _, text, n in c:
                head, body, tail = next(encoded), next(encoded), next(encoded)
                ids += head.ids + body.ids + tail.ids
                wanted += [False] * len(head.ids) + [o[1] <= n for o in body.offsets]
                wanted += [0 < len(text) <= n] + [False] * (len(tail.ids) - 1)
            if len(ids) <= LONGEST:
                out.append((np.array(ids, dtype=np.int16), np.array(wanted)))
    return out


def batches(data, r):
    """Similar lengths together: pools of shuffled conversations, sorted, cut, shuffled."""
    order = list(range(len(data)))
    r.shuffle(order)
    out = []
    for s in range(0, len(order), 8192):
        pool, cut, current = sorted(order[s:s + 8192], key=lambda i: len(data[i][0])), [], []
        for i in pool:
            if current and (len(current) + 1) * len(data[i][0]) > BATCH_TOKENS:
                cut.append(current)
                current = []
            current.append(data[i])
        cut.append(current)
        r.shuffle(cut)
        out += cut
    return out


class Trainer:
    def __init__(self, tok, args):
        self.args, self.step, self.tokens, self.mean = args, 0, 0, None
        self.model = Llama(tok.get_vocab_size())
        self.forward = torch.compile(self.model, dynamic=True) if args.compile else self.model
        named = list(self.model.named_parameters())
        matrices = [p for n, p in named if p.dim() == 2 and "embed" not in n]
        self.optimizers = [
            torch.optim.Muon(matrices, lr=args.lr, weight_decay=.05, momentum=.95, nesterov=True, adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW([{"params": [p for n, p in named if "embed" in n], "weight_decay": .05},
                               {"params": [p for _, p in named if p.dim() < 2], "weight_decay": 0.}],
                              lr=args.lr, betas=(.9, .98), eps=1e-8, fused=True)]

    def learning_rate(self, total):
        f = self.step / total
        return self.args.lr * min(1, (self.step + 1) / 60) * (.03 + .97 * .5 * (1 + math.cos(math.pi * min(1, f))))

    def run(self, part, data, total, started):
        """One pass over the batches of one part; total: the steps of the whole training, for the schedule."""
        for batch in data:
            lr = self.learning_rate(total)
            for o in self.optimizers:
                for group in o.param_groups:
                    group["lr"] = lr
            L = max(len(ids) for ids, _ in batch)
            ids, wanted = torch.zeros(len(batch), L, dtype=torch.long), torch.zeros(len(batch), L, dtype=torch.bool)
            for j, (x, w) in enumerate(batch):
                ids[j, :len(x)], wanted[j, :len(x)] = torch.from_numpy(x), torch.from_numpy(w)
            at = wanted[:, 1:].reshape(-1).nonzero()[:, 0]
            with torch.autocast("cpu", torch.bfloat16):
                logits = self.forward(ids[:, :-1], select=at)
            loss = F.cross_entropy(logits.float(), ids[:, 1:].reshape(-1)[at])
            self.model.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.)
            for o in self.optimizers:
                o.step()
            self.step, self.tokens = self.step + 1, self.tokens + ids.numel()
            self.mean = loss.item() if self.mean is None else .95 * self.mean + .05 * loss.item()
            if self.step % 50 == 0:
                seconds = time.time() - started
                print(f"{part} {self.step}/{total} loss {self.mean:.4f} lr {lr:.2e} {self.tokens / seconds:.0f} tok/s {seconds:.0f} s", flush=True)


def own_mistakes(model, tok, r, count, seed):
    """Conversations on training problems in which the wrong answers, up to four in a row, are the model's own."""
    generator, out = torch.Generator().manual_seed(seed), []
    while len(out) < count:
        current = [(problem(r), []) for _ in range(512)]
        for _ in range(4):
            texts = [render([("user", p["question"])] + [m for w in ws for m in (("assistant", w), ("user", WRONG))], True)
                     for p, ws in current]
            prompts = [e.ids for e in tok.encode_batch(texts, add_special_tokens=False)]
            again = []
            for (p, ws), ids in zip(current, sample(model, prompts, generator, eos=tok.token_to_id(END))):
                text = tok.decode([i for i in ids if i != tok.token_to_id(END)], skip_special_tokens=False)
                value = boxed(text)
                if value is None or "<|" in text:
                    continue
                if value != str(p["answer"]):
                    again.append((p, ws + [text]))
                elif ws:
                    out.append((p, ws))
            current = again
        out += current
    return [conversation(r, p, ws) for p, ws in out[:count]]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--out", required=True)
    args.add_argument("--seed", type=int, default=1234)
    args.add_argument("--singles", type=int, default=70000)
    args.add_argument("--conversations", type=int, default=30000)
    args.add_argument("--own", type=int, default=7000, help="conversations with own mistakes; as many made-up ones are mixed in")
    args.add_argument("--lr", type=float, default=2e-3)
    args.add_argument("--compile", type=int, default=1)
    a = args.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(a.seed)
    os.makedirs(a.out, exist_ok=True)
    r, started = random.Random(a.seed), time.time()
    tok = load_tokenizer(os.path.join(HERE, "..", "tiny"))
    trainer = Trainer(tok, a)
    first = batches(encode(tok, [single(r, problem(r)) for _ in range(a.singles)]), r)
    second = batches(encode(tok, [conversation(r, problem(r)) for _ in range(a.conversations)]), r)
    made_up = [conversation(r, problem(r)) for _ in range(a.own)]
    # the third part's size is known only when it is sampled: its steps are estimated from its conversations
    total = len(first) + len(second) + round(2.4 * a.own * len(second) / max(1, a.conversations))
    print(f"{len(first)} + {len(second)} batches, {total} steps expected, data made in {time.time() - started:.0f} s", flush=True)
    trained = time.time()
    trainer.run("singles", first, total, trained)
    trainer.run("conversations", second, total, trained)
    if a.own:
        sampled = time.time()
        own = own_mistakes(trainer.model, tok, r, a.own, a.seed)
        print(f"{len(own)} conversations with own mistakes sampled in {time.time() - sampled:.0f} s", flush=True)
        third = batches(encode(tok, own + made_up), r)
        trainer.run("own mistakes", third, trainer.step + len(third), trained)
    save_file({k: v.detach().clone().contiguous() for k, v in trainer.model.named_parameters()}, f"{a.out}/model.safetensors",
              metadata={"format": "pt"})
    print(f"{trainer.step} steps, {trainer.tokens} tokens, {(time.time() - trained) / 60:.1f} min of training, "
          f"{(time.time() - started) / 60:.1f} min with the data", flush=True)


if __name__ == "__main__":
    main()
