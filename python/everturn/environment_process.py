"""The process of an environment in Python: `python3 -m everturn.environment_process FILE`. A file that speaks the protocol
itself is run as it is."""
import ast
import asyncio
import inspect
import json
import os
import sys

from .environments import Held, environment_of, hello_of, reply_of
from .tool_process import load, messages, report_of
from .tools import Outage


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
RUNS = (ast.For, ast.While, ast.If, ast.With, ast.Try)


def speaks(path):
    """Whether the file speaks by itself: it says `hello`, or it runs something and defines neither reward nor a class that
    derives from another. One that cannot be read or parsed says best what is wrong with it."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return True
    if any(isinstance(node, ast.Constant) and node.value == "hello" for node in ast.walk(tree)):
        return True
    defines = any(isinstance(node, FUNCTIONS) and node.name == "reward" or isinstance(node, ast.ClassDef) and node.bases for node in tree.body)
    return not defines and any(isinstance(node, RUNS) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) for node in tree.body)


def answered(held, method, params):
    said = held.call(method, params)
    said = asyncio.run(said) if inspect.iscoroutine(said) else said
    return {"result": reply_of(said) if method == "respond" else {} if said is None else said}


def main():
    path = os.path.abspath(sys.argv[1])
    if speaks(path):
        os.execv(sys.executable, [sys.executable, path])
    calls, put = messages()
    sys.path[0] = os.path.dirname(path)
    try:
        environment = environment_of(load(path, None, path), path)
    except BaseException as error:  # sys.exit() too
        put({"error": report_of(error)})
        sys.exit(1)
    put({"hello": hello_of(environment)})
    held = Held(environment)
    for line in calls:
        call = json.loads(line)
        try:
            put({"id": call["id"], **answered(held, call["method"], call["params"])})
        except BaseException as error:
            again = {"retryable": True} if isinstance(error, Outage) else {}
            put({"id": call["id"], "error": {**report_of(error), **again}})


if __name__ == "__main__":
    main()
