"""The tokenizer of the shipped model, and what its chat template renders."""
from tokenizers import Tokenizer

START, END = "<|im_start|>", "<|im_end|>"
CONTEXT = 2048


def load_tokenizer(folder):
    return Tokenizer.from_file(f"{folder}/tokenizer.json")


def render(messages, generation_prompt=False):
    """What the chat template renders."""
    text = "".join(f"{START}{role}\n{content}{END}\n" for role, content in messages)
    return text + (f"{START}assistant\n" if generation_prompt else "")
