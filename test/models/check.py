"""Checks a folder before it ships: `python test/models/check.py --model models/tiny`. Exits with an error where something is off.

transformers against network.py, the ONNX session against transformers (whole sequences, cached steps, padded batches,
log-probabilities), greedy answers, and the tokenizer's round trip on random text."""
import argparse
import os
import random
import sys

import numpy as np
import onnxruntime
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "train"))
from network import load, sample  # noqa: E402
from problems import heldout_problems  # noqa: E402
from tokenizer import END, render  # noqa: E402


class Session:
    def __init__(self, path, config):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.config = config

    def empty(self, rows):
        c = self.config
        return {f"past_key_values.{i}.{t}": np.zeros((rows, c.num_key_value_heads, 0, c.head_dim), np.float32)
                for i in range(c.num_hidden_layers) for t in ("key", "value")}

    def __call__(self, ids, past, mask=None, positions=None):
        held = next(iter(past.values())).shape[2]
        mask = np.ones((ids.shape[0], held + ids.shape[1]), np.int64) if mask is None else mask
        positions = np.tile(np.arange(held, held + ids.shape[1]), (ids.shape[0], 1)) if positions is None else positions
        out = self.session.run(None, {"input_ids": ids, "attention_mask": mask, "position_ids": positions, **past})
        return out[0], dict(zip(past, out[1:]))


def logprobs(logits, ids):
    return torch.log_softmax(torch.tensor(logits).double(), -1)[torch.arange(len(ids) - 1), torch.tensor(ids[1:])].numpy()


def check_numbers(folder, model, hf):
    r, session = np.random.default_rng(0), Session(f"{folder}/onnx/model.onnx", hf.config)
    sequences = [r.integers(0, hf.config.vocab_size, (1, int(r.integers(5, 300)))) for _ in range(20)]
    with torch.inference_mode():
        expected = [hf(torch.tensor(s)).logits.numpy() for s in sequences]
        yield "network.py, logits", max(np.abs(model(torch.tensor(s)).numpy() - y).max() for s, y in zip(sequences, expected))
    whole = [session(s, session.empty(1))[0] for s in sequences]
    yield "onnx, logits", max(np.abs(x - y).max() for x, y in zip(whole, expected))
    yield "onnx, log-probabilities", max(np.abs(logprobs(x[0], s[0]) - logprobs(y[0], s[0])).max()
                                         for x, y, s in zip(whole, expected, sequences))
    worst = 0
    for s, y in zip(sequences, expected):
        half = s.shape[1] // 2
        _, past = session(s[:, :half], session.empty(1))
        for j in range(half, s.shape[1]):
            logits, past = session(s[:, j:j + 1], past)
            worst = max(worst, np.abs(logits - y[:, j:j + 1]).max())
    yield "onnx, cached steps", worst
    for side in ("left", "right"):
        worst = 0
        for b in range(0, 20, 5):
            L = max(s.shape[1] for s in sequences[b:b + 5])
            ids, mask = np.zeros((5, L), np.int64), np.zeros((5, L), np.int64)
            at = [slice(L - s.shape[1], L) if side == "left" else slice(0, s.shape[1]) for s in sequences[b:b + 5]]
            for j in range(5):
                ids[j, at[j]], mask[j, at[j]] = sequences[b + j][0], 1
            logits, _ = session(ids, session.empty(5), mask, np.clip(mask.cumsum(1) - 1, 0, None))
            worst = max(worst, max(np.abs(logits[j, at[j]] - expected[b + j][0]).max() for j in range(5)))
        yield f"onnx, padded on the {side}", worst


def check_greedy(folder, tok, model, hf):
    """The first answers, word for word, by network.py, transformers and ONNX."""
    session, end, same = Session(f"{folder}/onnx/model.onnx", hf.config), tok.token_to_id(END), 0
    prompts = [tok.encode(render([("user", p["question"])], True)).ids for p in heldout_problems(20)]
    for ids, ours in zip(prompts, sample(model, prompts, None, temperature=0, eos=end)):
        theirs = hf.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long), do_sample=False,
                             temperature=None, top_p=None, top_k=None, max_new_tokens=160)[0, len(ids):].tolist()
        answer, (logits, past) = [], session(np.array([ids]), session.empty(1))
        while len(answer) < 160:
            answer.append(int(logits[0, -1].argmax()))
            if answer[-1] == end:
                break
            logits, past = session(np.array([answer[-1:]]), past)
        same += ours == theirs == answer
    return same, len(prompts)


def check_round_trip(folder, tok):
    r, hf, count = random.Random(1), AutoTokenizer.from_pretrained(folder), 0
    alphabets = [range(0, 0x20), range(0x20, 0x7f), range(0x80, 0x800), range(0x800, 0xd800), range(0xe000, 0x10000),
                 range(0x10000, 0x110000), range(0x1f300, 0x1fb00), [ord(c) for c in " \n\t\r\\{}0123456789'<|im_end|>"]]
    texts = ["".join(chr(r.choice(r.choice(alphabets))) for _ in range(r.randint(1, 60))) for _ in range(20000)]
    texts += [chr(c) for c in range(0x110000) if not 0xd800 <= c < 0xe000 and (c < 0x3000 or c % 37 == 0)]
    for text, encoded in zip(texts, tok.encode_batch(texts)):
        assert tok.decode(encoded.ids, skip_special_tokens=False) == text, repr(text)
        count += 1
    for text in texts[:2000]:
        ids = hf(text)["input_ids"]
        assert ids == tok.encode(text).ids and hf.decode(ids, clean_up_tokenization_spaces=False) == text, repr(text)
    assert hf.eos_token == END and hf.pad_token_id == 0 and hf.chat_template
    return count


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--model", required=True)
    a = args.parse_args()
    torch.set_num_threads(1)
    tok, model = load(a.model)
    print(check_round_trip(a.model, tok), "texts come back from the tokenizer as they were")
    hf = AutoModelForCausalLM.from_pretrained(a.model, dtype=torch.float32).eval()
    for name, error in check_numbers(a.model, model, hf):
        print(f"{name}: largest difference from transformers {error:.2e}")
        assert error < 1e-4, name
    same, count = check_greedy(a.model, tok, model, hf)
    print(f"greedy answers: {same} of {count} the same three ways")
    assert same == count
    size = sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(a.model) for f in files)
    print("folder:", size, "bytes")
    assert size <= 8_000_000


if __name__ == "__main__":
    main()
