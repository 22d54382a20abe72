"""Everturn's library in a process of its own, `everturn serve-json`: a request and its answer are lines of JSON. Nothing that it
prints for people is read."""
import atexit
import contextlib
import json
import os
import shlex
import subprocess
import threading

from .errors import EverturnError
from .feed import RECORDED, recorded_command


class Process:
    """One process, started by its first call and ended with this one; one call at a time. command: the words that call Everturn."""

    def __init__(self, words):
        self.words, self.child, self.asked, self.lock = words, None, 0, threading.RLock()
        atexit.register(self.close)

    def call(self, method, on_event=None, **params):
        """The result of a method; each event before it goes to on_event. EverturnError as the library says it."""
        with self.lock:
            asked = json_line({"id": self.asked + 1, "method": method, "params": params})
            child = self._started()
            self.asked += 1
            try:
                # one that has ended takes nothing: its output ends, and that is said
                with contextlib.suppress(BrokenPipeError):
                    child.stdin.write(asked)
                    child.stdin.flush()
                return self._answer(child, on_event)
            except EverturnError:
                raise
            except BaseException:
                # an interrupted line is lost: what follows it could not be understood
                self.close()
                raise

    def _answer(self, child, on_event):
        for line in child.stdout:
            answer = json.loads(line)
            if answer["id"] != self.asked:
                continue
            if "event" in answer:
                if on_event is not None:
                    on_event(answer["event"])
            elif "error" in answer:
                error = answer["error"]
                raise EverturnError(error["message"], error["reason"], error["fix"], error["boundary"])
            else:
                return answer["result"]
        code = child.wait()
        self.close()
        raise EverturnError(f"`{shlex.join(self.words)} serve-json` ended with {code}.", "no-command", "Give command= the words that call an Everturn of this version.")

    def _started(self):
        if self.child is None or self.child.poll() is not None:
            words = [*self.words, "serve-json"]
            try:
                self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
            except OSError as error:
                raise EverturnError(f"{words[0]} cannot be started: {error.strerror}.", "no-command", "Install it, or give command=.") from error
        return self.child

    def close(self):
        child, self.child = self.child, None
        if child is None:
            return
        for stream in (child.stdin, child.stdout):
            try:
                stream.close()
            except OSError:
                pass
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()


def json_line(call):
    try:
        return json.dumps(call, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise EverturnError(f"An option cannot be sent: {error}.", "bad-value", "Give texts, numbers, lists; functions are given in TypeScript.") from error


def command_words(command):
    """By default the words that Everturn has recorded for this user, or `everturn` of the PATH."""
    if command is RECORDED:
        command = recorded_command() or ["everturn"]
    return shlex.split(command) if isinstance(command, str) else list(command)


_processes = {}
_opening = threading.Lock()


def process_of(command=RECORDED):
    """The one process of these words; another one after a fork."""
    words = command_words(command)
    with _opening:
        return _processes.setdefault((os.getpid(), *words), Process(words))
