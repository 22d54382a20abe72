"""examples/train/grpo.py, ended at one place as `kill -9` would: killed_trainer.py <place> <arguments of grpo.py>

Places: the second time that the trainer comes `before-` or `after-` lease, step, acknowledge, log, rename or version."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../examples/train"))
import everturn  # noqa: E402
import grpo  # noqa: E402
import policy  # noqa: E402

PARTS = {"lease": (everturn.Feed, "lease"), "step": (policy.Policy, "step"), "acknowledge": (everturn.Batch, "acknowledge"),
         "log": (grpo, "log"), "rename": (policy, "publish"), "version": (everturn.Feed, "version")}


def end_at(when, part, count=2):
    holder, name = PARTS[part]
    real, calls = getattr(holder, name), [0]

    def ending(*args, **named):
        calls[0] += part != "log" or named.get("event") == "trained"
        if when == "before" and calls[0] == count:
            os._exit(137)
        answer = real(*args, **named)
        if when == "after" and calls[0] == count:
            os._exit(137)
        return answer

    setattr(holder, name, ending)


if __name__ == "__main__":
    place = sys.argv.pop(1)
    if place != "nowhere":
        end_at(*place.split("-"))
    grpo.main()
