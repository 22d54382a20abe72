"""A code agent with execution feedback: hidden cases judge, and the first public case that fails comes back, clipped.

    everturn run examples/code-repair.jsonl --environment examples/environments/code_repair.py --agent code-repair

Programs run under bubblewrap: no network, no files of yours, bounded time, memory, processes and output.
"""

import os
import re
import subprocess
import tempfile

from everturn import Environment

SECONDS, CLIP = 10, 400
PYTHON, PLACES = "/usr/bin/python3", ["/usr", "/bin", "/lib", "/lib64"]
BOX = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
BOX += [part for place in PLACES for part in ("--ro-bind-try", place, place)] + ["--proc", "/proc", "--dev", "/dev"]
BOX += ["--tmpfs", "/tmp", "--chdir", "/tmp", "prlimit", "--as=536870912", "--nproc=64", "--fsize=1000000", "--"]
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}  # limits spare root


def run(program, given):
    """What it printed, and what went wrong with it, or None."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        command = [*BOX, PYTHON, "-I", "-c", program]
        try:
            code = subprocess.run(command, input=given.encode(), stdout=out, stderr=err, timeout=SECONDS, **NOBODY).returncode
        except subprocess.TimeoutExpired:
            return "", f"It ran for more than {SECONDS} s."
        printed, trouble = ((f.seek(0), f.read(1_000_000).decode(errors="replace"))[1] for f in (out, err))
    return printed, None if code == 0 else f"It ended with code {code}: {trouble[-CLIP:]}"


def first_failure(program, cases):
    for given, wanted in zip(cases["inputs"], cases["outputs"]):
        printed, trouble = run(program, given)
        if trouble or printed.split() != wanted.split():
            return f"Input: {given[:CLIP]}\nExpected: {wanted[:CLIP]}\n" + (trouble or f"Printed: {printed[:CLIP]}")
    return None


def told(text):
    return [{"role": "user", "content": text}]


if run("print(6 * 7)", "")[0] != "42\n":  # never a wrong answer: without a sandbox nothing is judged
    raise OSError(f"bubblewrap runs no program here: {run('print(6 * 7)', '')[1]}")


class CodeRepair(Environment):
    timeout_seconds = 600
    agents = [{"name": "code-repair", "numTurns": 3, "stop": "success", "feedback": "delta"}]

    def respond(self, row, answer):
        programs = re.findall(r"```(?:python)?\n(.*?)```", answer, re.DOTALL)
        if not programs or len(programs[-1]) > 100_000 or "\0" in programs[-1]:
            return {"verdict": "wrong", "messages": told("Give one program in a fenced block.")}
        if not first_failure(programs[-1], row["hidden"]):
            return {"verdict": "right", "done": True}
        shown = first_failure(programs[-1], row["public"]) or "Every case that you know passes; another does not."
        return {"verdict": "wrong", "messages": told(f"Your program is wrong. {shown}\nMend it.")}
