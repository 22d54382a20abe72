"""A guessing game, as guess.ts. Its arguments are its kind of state, and the lease of its sessions. ENVIRONMENT_SESSIONS
names a file for the sessions that begin and end in each process."""

import json
import os
import re
import sys

KIND = sys.argv[1]
GIVEN = float(sys.argv[2]) if len(sys.argv) > 2 else 60
LEASE = {"idleSeconds": GIVEN} if KIND in ("replay", "held") else {}
SESSIONS = os.environ.get("ENVIRONMENT_SESSIONS")
games = {}


def note(what, key):
    if SESSIONS and KIND in ("replay", "held"):
        with open(SESSIONS, "a") as file:
            file.write(f"{os.getpid()} {what} {key}\n")


def number_of(episode):
    return 1 + episode["seed"] % 20


def begin(episode, **_):
    state = {"left": 3, "said": []}
    if KIND in ("replay", "held"):
        games[episode["key"]] = state
        note("begin", episode["key"])
    begun = {"messages": [{"role": "user", "content": f"I think of a number from 1 to 20, {episode['row']['name']}."}]}
    return {**begun, "state": state} if KIND == "value" else begun


def respond(episode, turn, answer, state=None, **_):
    if KIND == "none":
        state = {"left": 4 - turn, "said": []}
    elif KIND in ("replay", "held"):
        state = games[episode["key"]]
    found = re.findall(r"\d+", answer)
    guess = int(found[-1]) if found else 0
    state["left"] -= 1
    state["said"].append(guess)
    number = number_of(episode)
    off = abs(guess - number)
    out = {"state": state} if KIND == "value" else {}
    if off == 0:
        return {**out, "verdict": {"verdict": "right", "reason": "guessed"}, "reward": 1 + state["left"] / 4, "done": True}
    if state["left"] == 0:
        return {**out, "verdict": "wrong", "reward": -0.5, "metrics": {"off": off}, "done": True}
    hint = "Higher" if guess < number else "Lower"
    drift = f" {os.getpid()}" if "drift" in episode["row"] else ""
    return {
        **out,
        "reward": {"near": 1 / (1 + off), "late": -0.25 * turn},
        "metrics": {"off": off, "said": len(state["said"])},
        "messages": [{"role": "user", "content": f"{hint} than {guess}: {state['left']} left.{drift}"}],
    }


def end(episode, **_):
    if games.pop(episode["key"], None):
        note("end", episode["key"])
    return {}


def say(line):
    print(json.dumps(line), flush=True)


say({"hello": {"protocol": 1, "name": "guess", "version": "1", "state": KIND, "begins": True, "ends": True, **LEASE}})
for line in sys.stdin:
    call = json.loads(line)
    say({"id": call["id"], "result": globals()[call["method"]](**call["params"])})
