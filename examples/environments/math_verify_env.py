"""Math-Verify as an environment: its verdicts in place of Everturn's.

    python3 -m venv venv && venv/bin/pip install math-verify
    everturn run problems.jsonl --environment "venv/bin/python examples/environments/math_verify_env.py"
    everturn judge --run first --environment "venv/bin/python examples/environments/math_verify_env.py"

The second judges a run of Everturn's own judge again, and shows where the two differ.
"""

import json
import sys
import traceback
from importlib.metadata import version

from math_verify import parse, verify


def solutions_of(row):
    given = row.get("solutions") or row.get("answer") or row.get("solution")
    return [str(one) for one in (given if isinstance(given, list) else [given])]


def gold_of(text):
    # A bare value is LaTeX without its marks.
    return parse(text) if "\\boxed" in text or "$" in text else parse(f"${text}$")


def respond(episode, answer, **_):
    found = parse(answer)
    if not found:
        return {"verdict": {"verdict": "wrong", "reason": "no-answer"}}
    golds = [gold for gold in map(gold_of, solutions_of(episode["row"])) if gold]
    if not golds:
        return {"verdict": {"verdict": "undecided", "reason": "solution-unreadable"}}
    right = any(verify(gold, found) for gold in golds)
    shown = str(found[-1])[:200]
    return {"verdict": {"verdict": "right", "reason": "equal", "extracted": shown} if right
            else {"verdict": "wrong", "reason": "different", "extracted": shown}}


def say(line):
    print(json.dumps(line), flush=True)


say({"hello": {"protocol": 1, "name": "math-verify", "version": version("math-verify")}})
for line in sys.stdin:
    call = json.loads(line)
    try:
        say({"id": call["id"], "result": respond(**call["params"])})
    except Exception:
        say({"id": call["id"], "error": {"message": traceback.format_exc()[-400:]}})
