"""`everturn run` from Python, and its answer as JSON."""
import json
import shlex
import subprocess

from .errors import EverturnError
from .feed import RECORDED
from .process import command_words


class CliError(EverturnError):
    """A command failed. `code` is its exit code, `boundary` names the part of Everturn that refused."""

    def __init__(self, error, reason=None, fix=None, code=1, boundary=None):
        super().__init__(error, reason, fix, boundary)
        self.code = code


def run(data, command=RECORDED, **flags):
    """`everturn run DATA --json`, to its end. flags: num_turns=4 is --num-turns 4, detach=True is --detach, a list repeats."""
    return call("run", data, command=command, **flags)


def call(verb, *arguments, command=RECORDED, **flags):
    """The JSON object that `everturn VERB … --json` prints. command: the words that call Everturn, by default those that it
    has recorded for this user, or `everturn` of the PATH. CliError if it fails; a run that
    ended has an answer, whose `exitCode` says how."""
    words = command_words(command) + [verb, *map(str, arguments), *flag_words(flags), "--json"]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    except OSError as error:
        raise CliError(f"{words[0]} cannot be started: {error.strerror}.", "no-command", "Install it, or give command=.", 127) from error
    last = lambda text: next((line for line in reversed(text.splitlines()) if line.strip()), "")  # noqa: E731
    answer = json.loads(last(done.stdout) or "{}")
    if done.returncode == 0 or answer.get("event") == "ended":
        return answer
    try:
        said = json.loads(last(done.stderr))["error"]
        raise CliError(said["message"], said["reason"], None, done.returncode, said["boundary"])
    except (ValueError, KeyError, TypeError):
        raise CliError(done.stderr.strip() or f"`{shlex.join(words)}` ended with {done.returncode}.", None, None, done.returncode) from None


def flag_words(flags):
    """num_turns=4 -> --num-turns 4; True -> the flag alone; None and False -> nothing; a list -> the flag once for each."""
    words = []
    for name, value in flags.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None and one is not False:
                words += [f"--{name.replace('_', '-')}", *([] if one is True else [str(one)])]
    return words
