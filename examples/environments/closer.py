"""An environment in 40 lines of the standard library: it says whether the number was too low or too high.

    everturn run examples/arithmetic.jsonl --environment "python3 examples/environments/closer.py" --num-turns 4
"""

import json
import re
import sys
import traceback


def say(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def respond(episode, turn, answer, **_):
    wanted = float(re.findall(r"\\boxed\{(-?[\d.]+)\}", episode["row"]["solutions"][0])[-1])
    numbers = re.findall(r"-?\d+(?:\.\d+)?", answer)
    if not numbers:
        hint = "I see no number. Give one."
        return {"verdict": "wrong", "reward": -1.0, "messages": [{"role": "user", "content": hint}]}
    off = float(numbers[-1]) - wanted
    if off == 0:
        return {"verdict": "right", "reward": 1.0, "done": True}
    hint = "Too high." if off > 0 else "Too low."
    return {
        "verdict": {"verdict": "wrong", "reason": "too-high" if off > 0 else "too-low", "extracted": numbers[-1]},
        "reward": {"near": 1.0 / (1.0 + abs(off)), "late": -0.1 * turn},
        "metrics": {"off": abs(off)},
        "messages": [{"role": "user", "content": f"{hint} Try again."}],
    }


say({"hello": {"protocol": 1, "name": "closer", "version": "1"}})
for line in sys.stdin:
    call = json.loads(line)
    try:
        say({"id": call["id"], "result": respond(**call["params"])})
    except Exception:  # a row without a number, say: an error is never a reward
        say({"id": call["id"], "error": {"message": traceback.format_exc()[-400:]}})
