"""An environment for Everturn: docs/environments.md says what its methods take and return."""

import re

from everturn import Environment


class Mine(Environment):
    name = "my-environment"

    def respond(self, row, answer):
        numbers = re.findall(r"-?\d+", answer)
        if not numbers:
            hint = "I see no number. Give one."
            return {"verdict": "wrong", "messages": [{"role": "user", "content": hint}]}
        off = abs(int(numbers[-1]) - row["wanted"])
        if off == 0:
            return {"verdict": "right", "reward": 1.0, "done": True}
        return {
            "verdict": "wrong",
            "reward": 1.0 / (1.0 + off),
            "metrics": {"off": off},
            "messages": [{"role": "user", "content": f"{numbers[-1]} is wrong. Try again."}],
        }
