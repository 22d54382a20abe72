"""Says whether the number was too low or too high, and gives a reward that grows with nearness.

    everturn run examples/arithmetic.jsonl --environment ./examples/environments/closer.py --num-turns 4
"""

import re

from everturn import Environment


class Closer(Environment):
    def respond(self, row, turn, answer):
        wanted = float(re.findall(r"\\boxed\{(-?[\d.]+)\}", row["solutions"][0])[-1])
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
