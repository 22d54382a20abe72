"""An environment that breaks the contract in the way that a row names."""

import json
import os
import sys
import time


def say(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def raw(text):
    sys.stdout.write(text)
    sys.stdout.flush()


if "--no-hello" in sys.argv:
    raw("Loading weights ...\n")
if "--exit" in sys.argv:
    sys.exit("cannot import name 'weights'")
hello = {"protocol": 1, "name": "hostile", "version": "1", "timeoutSeconds": 3}
if "--begins" in sys.argv:
    hello["begins"] = True
say({"hello": hello})
for line in sys.stdin:
    call = json.loads(line)
    id, params = call["id"], call["params"]
    how = params["episode"]["row"].get("how", "fine")
    if how == "fine":
        say({"id": id, "result": {"verdict": "right"}})
    elif how == "hang":
        while True:
            time.sleep(1)
    elif how == "sleeper":
        # A child of its own that would outlive it.
        os.spawnlp(os.P_NOWAIT, "sleep", "sleep", params["episode"]["row"]["seconds"])
        os._exit(3)
    elif how == "exit":
        os._exit(3)
    elif how == "raise":
        raise ValueError("\x1b[31m red " + "x" * 5000)
    elif how == "half":
        raw('{"id": %d, "result": {"verd' % id)
        os._exit(0)
    elif how == "huge":
        raw('{"id": %d, "result": {"verdict": "right", "messages": [{"role": "user", "content": "' % id)
        while True:
            raw("x" * 65536)
    elif how == "nan":
        say({"id": id, "result": {"reward": float("nan")}})
    elif how == "text":
        raw("I think the answer is right.\n")
    elif how == "error":
        say({"id": id, "error": {"message": "the row has no answer \x1b[31m"}})
    elif how == "other-id":
        say({"id": id + 1, "result": {"verdict": "right"}})
    elif how == "twice":
        say({"id": id, "result": {"verdict": "right"}})
        say({"id": id, "result": {"verdict": "wrong"}})
    elif how == "surrogate":
        raw('{"id": %d, "result": {"verdict": "wrong", "messages": [{"role": "user", "content": "\\ud800"}]}}\n' % id)
    elif how == "deep":
        raw('{"id": %d, "result": {"verdict": "right", "state": %s%s}}\n' % (id, "[" * 20000, "]" * 20000))
    else:
        say({"id": id, "result": params["episode"]["row"]["reply"]})
