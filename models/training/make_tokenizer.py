"""A small byte-level BPE tokenizer: no normalizer, every byte has a token, so any text comes back as it was."""
import json
import os
import random

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from conversations import conversation, single
from problems import problem
from tokenizer import CONTEXT, END, PAD, SPECIALS, START

CHAT_TEMPLATE = ("{% for message in messages %}"
                 "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
                 "{% endfor %}"
                 "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
# words with their leading space, single digits, punctuation, line ends, other space
SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def make_tokenizer(folder, seed=1):
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(SPLIT), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tok.decoder = decoders.ByteLevel()
    r = random.Random(seed)
    texts = ["\n".join(t for _, t, _ in make(r, problem(r))) for make in (single, conversation) for _ in range(10000)]
    texts += ["system\n", "user\n", "assistant\n"] * 3000
    tok.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=1024, min_frequency=20, special_tokens=SPECIALS, show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    os.makedirs(folder, exist_ok=True)
    tok.save(f"{folder}/tokenizer.json")
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": None, "eos_token": END, "pad_token": PAD,
              "unk_token": None, "add_bos_token": False, "add_prefix_space": False,
              "clean_up_tokenization_spaces": False, "padding_side": "left", "model_max_length": CONTEXT,
              "chat_template": CHAT_TEMPLATE}
    with open(f"{folder}/tokenizer_config.json", "w") as f:
        json.dump(config, f, indent=1)
        f.write("\n")
    return tok


def encode_conversations(tok, conversations):
    """-> list of (ids, which of them training predicts); a conversation is as in conversations.py"""
    pieces = [x for c in conversations for role, text, _ in c for x in (f"{START}{role}\n", text, f"{END}\n")]
    encoded = iter(tok.encode_batch(pieces, add_special_tokens=False))
    out = []
    for c in conversations:
        ids, wanted = [], []
        for _, text, n in c:
            head, body, tail = next(encoded), next(encoded), next(encoded)
            ids += head.ids + body.ids + tail.ids
            wanted += [False] * len(head.ids) + [o[1] <= n for o in body.offsets]
            wanted += [0 < len(text) <= n] + [False] * (len(tail.ids) - 1)
        out.append((ids, wanted))
    return out
