"""An environment for Everturn: docs/environment-messages.md has the form of each message."""

import json
import re
import sys
import traceback


def respond(episode, turn, answer, **_):
    wanted = episode["row"]["wanted"]
    numbers = re.findall(r"-?\d+", answer)
    if not numbers:
        hint = "I see no number. Give one."
        return {"verdict": "wrong", "messages": [{"role": "user", "content": hint}]}
    off = abs(int(numbers[-1]) - wanted)
    if off == 0:
        return {"verdict": "right", "reward": 1.0, "done": True}
    hint = f"{numbers[-1]} is wrong. Try again."
    return {
        "verdict": "wrong",
        "reward": 1.0 / (1.0 + off),
        "metrics": {"off": off},
        "messages": [{"role": "user", "content": hint}],
    }


def say(line):
    print(json.dumps(line), flush=True)


say({"hello": {"protocol": 1, "name": "my-environment", "version": "1"}})
for line in sys.stdin:
    call = json.loads(line)
    try:
        say({"id": call["id"], "result": respond(**call["params"])})
    except Exception as error:  # never a reward
        say({"id": call["id"], "error": {"message": repr(error), "trace": traceback.format_exc()}})
