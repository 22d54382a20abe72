"""Replies of a model that grades SimpleQA, with the letter that its authors read in each: writes test/formats/benchmarks/simpleqa-replies.jsonl.

python simpleqa_replies.py > ../../formats/benchmarks/simpleqa-replies.jsonl
"""

import json
import re

WORDS = {"A": "CORRECT", "B": "INCORRECT", "C": "NOT_ATTEMPTED"}
FORMS = {
    "letter": "{letter}",
    "line end": "{letter}\n",
    "full stop": "{letter}.",
    "quoted": '"{letter}"',
    "bold": "**{letter}**",
    "brackets": "({letter})",
    "with its word": "{letter}: {word}",
    "reason behind it": "{letter}\n\nThe two texts were read side by side.",
    "thought": "<think>the gold target is in it</think>\n{letter}",
    "box": "[{letter}]",
    "code": "`{letter}`",
    "small": "{small}",
    "word alone": "{word}",
    "sentence": "the grade is {letter}",
    "mark": "Answer: {letter}",
    "thought of letters": "<think>A, or B, or C?</think>\n{letter}",
    "two letters": "{letter} or {other}",
}
NONE = ["", "I cannot say.", "???", "D", "unclear"]


def by_simple_evals(reply):
    """simpleqa_eval.py of simple-evals ee3b0318."""
    found = re.search(r"(A|B|C)", reply)
    return found.group(0) if found else "C"


for kind, form in FORMS.items():
    for letter, word in WORDS.items():
        reply = form.format(letter=letter, word=word, small=letter.lower(), other="ABC"["BCA".index(letter)])
        print(json.dumps({"kind": kind, "meant": letter, "reply": reply, "by": by_simple_evals(reply)}))
for reply in NONE:
    print(json.dumps({"kind": "none", "meant": None, "reply": reply, "by": by_simple_evals(reply)}))
