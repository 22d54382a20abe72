"""The process of a Python module of tools: `python3 -m everturn.tool_process FILE SHA256`. It runs one call at a time, a JSON
line each. The time of a call is counted while this process runs: a stopped machine is no slow tool."""
import asyncio
import hashlib
import inspect
import json
import linecache
import math
import os
import sys
import threading
import time
import traceback
import types

from . import tools

TICK_SECONDS = 0.05


def load(path, sha256, name):
    with open(path, "rb") as file:
        code = file.read()
    found = hashlib.sha256(code).hexdigest()
    if sha256 not in (None, found):
        raise tools.Unfit(f"the file has the hash {found}, and the run names {sha256}")
    linecache.cache[name] = (len(code), None, code.decode("utf-8", "replace").splitlines(True), name)
    module = types.ModuleType("module_of_the_run")
    sys.modules[module.__name__] = module
    exec(compile(code, name, "exec"), module.__dict__)
    return module


def text_of(result):
    """A text as it is, nothing as an empty one, anything else as JSON; NaN and the infinities are texts."""
    def spelt(value):
        if isinstance(value, float) and not math.isfinite(value):
            return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
        if isinstance(value, dict):
            return {str(name): spelt(one) for name, one in value.items()}
        return [spelt(one) for one in value] if isinstance(value, (list, tuple)) else value

    result = spelt(result)
    text = "" if result is None else result if isinstance(result, str) else json.dumps(result, separators=(",", ":"), ensure_ascii=False, default=str)
    return clean(text)


def said_of(error):
    return "".join(traceback.format_exception_only(type(error), error)).strip()


def report_of(error):
    """The error, and its traceback from the module on; the log gets it too."""
    if isinstance(error, tools.Unfit):
        return {"message": error.args[0]}
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename.startswith((os.path.dirname(__file__), asyncio.__path__[0])):
        frames = frames.tb_next
    trace = "".join(traceback.format_exception(type(error), error, frames))
    sys.stderr.write(trace)
    return {"message": clean(said_of(error)), "trace": clean(trace[-16_384:])}


def clean(text):
    return text.encode("utf-8", "replace").decode()


class Process:
    def __init__(self, put):
        self.put, self.lock, self.open = put, threading.Lock(), None

    def reply(self, call, **said):
        """One reply to each call: the tool's, or the clock's. After the clock's this process is about to be killed."""
        with self.lock:
            mine, self.open = self.open == call, None
            if mine:
                self.put({"id": call, **said})
        return mine

    def watch(self, call, seconds):
        ran, last = 0.0, time.monotonic()
        while self.open == call:
            time.sleep(TICK_SECONDS)
            now = time.monotonic()
            ran, last = ran + min(now - last, 2 * TICK_SECONDS), now
            if ran >= seconds:
                self.reply(call, result={"timedOut": True})

    def answer(self, found, call, params):
        self.open = call
        threading.Thread(target=self.watch, args=(call, params["timeoutMs"] / 1000), daemon=True).start()
        tools._state["key"] = params["key"]
        try:
            _, function = found[params["tool"]]
            result = function(**params["arguments"])
            result = asyncio.run(result) if inspect.iscoroutine(result) else result
            self.reply(call, result={"text": text_of(result), "failed": False})
        except tools.Outage as error:
            self.reply(call, error={**report_of(error), "retryable": True})
        except BaseException as error:  # sys.exit() in a tool ends its call, and not this process
            report = report_of(error)
            self.reply(call, result={"text": report.pop("message"), "failed": True, **report})


def messages():
    """The lines that come in, and a function that sends one: they have standard input and output for themselves, and print
    goes to the log."""
    lines, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)

    def put(said):
        out.write(json.dumps(said, allow_nan=False).encode() + b"\n")
        out.flush()

    return lines, put


def main():
    calls, put = messages()
    try:
        found = tools.tools_of(load(*sys.argv[1:]))
    except BaseException as error:  # sys.exit() too
        put({"error": report_of(error)})
        sys.exit(1)
    put({"hello": {"protocol": 1, "tools": [declared for declared, _ in found.values()]}})
    process = Process(put)
    for line in calls:
        call = json.loads(line)
        process.answer(found, call["id"], call["params"])


if __name__ == "__main__":
    main()
