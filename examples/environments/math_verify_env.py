"""Math-Verify as an environment: its verdicts in place of Everturn's.

    python3 -m venv venv && venv/bin/pip install math-verify
    everturn run problems.jsonl --environment "venv/bin/python examples/environments/math_verify_env.py"
    everturn judge --run first --environment "venv/bin/python examples/environments/math_verify_env.py"

The second judges a run of Everturn's own judge again, and shows where the two differ.
"""

from importlib.metadata import version

from everturn import Environment
from math_verify import parse, verify


def solutions_of(row):
    given = row.get("solutions") or row.get("answer") or row.get("solution")
    return [str(one) for one in (given if isinstance(given, list) else [given])]


def gold_of(text):
    # A bare value is LaTeX without its marks.
    return parse(text) if "\\boxed" in text or "$" in text else parse(f"${text}$")


class MathVerify(Environment):
    name = "math-verify"
    version = version("math-verify")

    def respond(self, row, answer):
        found = parse(answer)
        if not found:
            return {"verdict": {"verdict": "wrong", "reason": "no-answer"}}
        golds = [gold for gold in map(gold_of, solutions_of(row)) if gold]
        if not golds:
            return {"verdict": {"verdict": "undecided", "reason": "solution-unreadable"}}
        right = any(verify(gold, found) for gold in golds)
        said = {"verdict": "right", "reason": "equal"} if right else {"verdict": "wrong", "reason": "different"}
        return {"verdict": {**said, "extracted": str(found[-1])[:200]}}
