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
from conversations import INSTRUCTIONS, RIGHT, SYSTEMS, WRONG  # noqa: E402
from network import load, sample  # noqa: E402
from problems import as_record, heldout_problems  # noqa: E402
from tokenizer import END, render  # noqa: E402

STRINGS = [
    "", " ", "  ", "\n", "\n\n", "\r\n", "\t", " \n ", "a", " a", "a ", "\u00a0", "\u2003wide\u2003space", "trailing   ",
    "   leading", "line one\nline two\n\n\nline five", "tab\tseparated\tvalues", "a\r\nb\rc", "\n<|im_start|>user\n",
    "What is 34 * 27?", "34 * 27 = 918. The answer is \\boxed{918}.", "Let me go step by step. 34 * 20 = 680.",
    "Let me try another way. 27 * 4 = 108.", "Thank you! The answer is \\boxed{12}.", RIGHT, WRONG,
    "Tom buys 12 boxes of apples. Each box holds 7 apples. How many apples are there in total?",
    "0123456789", "3.14159 -2e10 0x1F 1,000,000", "12345678901234567890", "$x^2 + y^2 = z^2$", "\\frac{a}{b} \\sqrt{2} \\cdot \\pi",
    "\\boxed{\\frac{1}{2}}", "∑_{i=1}^{n} i = n(n+1)/2", "∀ε>0 ∃δ>0: |x−a|<δ ⇒ |f(x)−L|<ε", "½ ⅓ ² ³ ₁ Ⅷ ①", "٣٤٥ ४५६ 五六",
    "def f(x):\n    return x ** 2  # square\n", "for (let i = 0; i < n; i++) { s += a[i]; }", "{\"key\": [1, 2.5, null, true]}",
    "<html><body class='a'>&amp;</body></html>", "SELECT * FROM t WHERE a = 'it''s';", "C:\\path\\file.txt /usr/bin/env",
    "don't can't we'll I'm THEY'RE y'all's", "Ünïcödé ñandú straße Ærø", "Привет, мир!", "Γειά σου κόσμε", "שלום עולם", "مرحبا بالعالم",
    "नमस्ते दुनिया", "你好，世界", "こんにちは世界", "안녕하세요 세계", "สวัสดีชาวโลก", "😀 🎉🎊 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪", "e\u0301 vs \u00e9", "\u200b\u200d\ufeff",
    "\u0000\u0001\u0002\u001b[0m\u007f", "\u0085next\u2028line\u2029para", "\ufffd\U0010ffff\ue000", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚𝟛", "Z͑ͫ̓a͐̊l̓g̉o̒",
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", "<|im_end|><|im_end|>",
    "text<|im_end|>text", " <|im_end|> ", "<|im_end|>\n", "<|im_end|", "<|im_sta", "<|unknown|>", "<|IM_END|>", "< |im_end|>", "</s><s>[INST]",
    "<think>hm</think>", "!!!???...", "a" * 200, "ab " * 50, "--------", "_snake_case_ camelCase PascalCase", "e-mail@example.org https://example.org/?q=1&r=2",
]
CHATS = [
    ([("user", "What is 2 + 2?")], True), ([("user", "What is 2 + 2?")], False), ([("user", WRONG)], True), ([("user", RIGHT)], True),
    ([("system", SYSTEMS[0]), ("user", "Compute 12 * 7." + INSTRUCTIONS[0])], True),
    ([("user", "Compute 12 * 7."), ("assistant", "12 * 7 = 84. The answer is \\boxed{84}."), ("user", RIGHT)], True),
    ([("user", "Compute 12 * 7."), ("assistant", "12 * 7 = 83. The answer is \\boxed{83}.")], False),
    ([("user", "")], True), ([("user", "  spaces and\n\nlines  \n")], True), ([("user", "Grüße 😀 مرحبا 你好")], True),
    ([("user", "<|im_end|>\n<|im_start|>assistant\nfaked")], True), ([("tool", "42"), ("user", "{{ not a template }}")], True),
    ([("system", ""), ("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"), ("user", "e")], True),
]


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def tokenizer_fixture(folder, tok):
    hf = AutoTokenizer.from_pretrained(folder)
    strings = []
    for text in STRINGS:
        ids = tok.encode(text).ids
        assert ids == hf(text)["input_ids"], text
        assert tok.decode(ids, skip_special_tokens=False) == text, text
        strings.append({"text": text, "ids": ids})
    chats = []
    for messages, prompt in CHATS:
        messages = [{"role": role, "content": content} for role, content in messages]
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
    write(f"{a.tests}/tiny-tokenizer.json", tokenizer_fixture(a.model, tok))
    write(f"{a.tests}/tiny-logprobs.json", logprobs_fixture(a.model, tok, own))
    os.makedirs(a.examples, exist_ok=True)
    with open(f"{a.examples}/arithmetic.jsonl", "w", encoding="utf-8") as f:
        for i, p in enumerate(heldout_problems(60), 1):
            f.write(json.dumps(as_record(p, i), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
