"""Writes what the project's tests compare with, and the example data set:

    python test/models/fixtures.py --model models/tiny --tests test/fixtures --examples examples
"""
import argparse
import hashlib
import json
import os
import random
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[:0] = [os.path.join(ROOT, "examples", "train"), os.path.join(ROOT, "models", "training")]
from conversations import WRONG  # noqa: E402
from network import load, sample  # noqa: E402
from problems import as_record, heldout_problems  # noqa: E402
from tokenizer import END, render  # noqa: E402


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def tokenizer_fixture(folder, tok, earlier):
    """Of the texts and chats of the earlier one."""
    hf = AutoTokenizer.from_pretrained(folder)
    strings = []
    for text in (each["text"] for each in earlier["strings"]):
        ids = tok.encode(text).ids
        assert ids == hf(text)["input_ids"], text
        assert tok.decode(ids, skip_special_tokens=False) == text, text
        strings.append({"text": text, "ids": ids})
    chats = []
    for messages, prompt in ((each["messages"], each["add_generation_prompt"]) for each in earlier["chats"]):
        text = hf.apply_chat_template(messages, tokenize=False, add_generation_prompt=prompt)
        chats.append({"messages": messages, "add_generation_prompt": prompt, "text": text, "ids": tok.encode(text).ids})
    return {"tokenizer": sha256(f"{folder}/tokenizer.json"), "strings": strings, "chats": chats}


def conversations(tok, model, problems, turns=5):
    """-> the ids of conversations in which every answer is called wrong"""
    generator, end = torch.Generator().manual_seed(3), tok.token_to_id(END)
    feedback = tok.encode("\n" + render([("user", WRONG)], True)).ids
    contexts = [tok.encode(render([("user", p["question"])], True)).ids for p in problems]
    for turn in range(turns):
        answers = sample(model, contexts, generator, temperature=1.2, eos=end)
        contexts = [c + a + ([] if a[-1] == end else [end]) + (feedback if turn + 1 < turns else []) for c, a in zip(contexts, answers)]
    return contexts


def logprobs_fixture(folder, tok, own):
    """Half conversations of the model itself, half random ids; transformers' model in float32."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    r = random.Random(5)
    contexts = conversations(tok, own, heldout_problems(13, seed=99))
    played = [ids[:r.randint(40, 400) if i % 3 == 0 else 400] for i, ids in enumerate(contexts)]
    lengths = [5, 6, 9, 17, 32, 33, 64, 100, 128, 200, 257, 333, 400]
    sequences = []
    for ids in played + [[r.randrange(tok.get_vocab_size()) for _ in range(n)] for n in lengths]:
        with torch.inference_mode():
            logits = model(torch.tensor([ids])).logits[0].double()
        logprobs = torch.log_softmax(logits, -1)[torch.arange(len(ids) - 1), torch.tensor(ids[1:])]
        sequences.append({"ids": ids, "logprobs": [round(v, 7) for v in logprobs.tolist()]})
    return {"model": sha256(f"{folder}/onnx/model.onnx"), "sequences": sequences}


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(content, f, ensure_ascii=True)
        f.write("\n")


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--model", required=True)
    args.add_argument("--tests", required=True)
    args.add_argument("--examples", required=True)
    a = args.parse_args()
    torch.set_num_threads(1)
    tok, own = load(a.model)
    with open(f"{a.tests}/tiny-tokenizer.json", encoding="utf-8") as f:
        earlier = json.load(f)
    write(f"{a.tests}/tiny-tokenizer.json", tokenizer_fixture(a.model, tok, earlier))
    write(f"{a.tests}/tiny-logprobs.json", logprobs_fixture(a.model, tok, own))
    os.makedirs(a.examples, exist_ok=True)
    with open(f"{a.examples}/arithmetic.jsonl", "w", encoding="utf-8") as f:
        for i, p in enumerate(heldout_problems(60), 1):
            f.write(json.dumps(as_record(p, i), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
