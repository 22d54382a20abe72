"""An environment of OpenEnv in a process of the worker's: no server, and state `replay`, so it survives crashes.

    everturn run rows.jsonl --environment "venv/bin/python openenv_env.py \\
      grid_world_env.server.grid_world_environment:GridWorldEnvironment grid_world_env.models:GridWorldAction"

The Python needs `openenv` (tried with 0.10.0) and the environment's package. A row may hold `reset`, its arguments. Every
random number must come from the seed of `reset`; else serve the environment, and play it by openenv.mjs.
"""

import importlib
import inspect
import json
import re
import sys

from openenv.core.env_server.serialization import deserialize_action, serialize_observation
from pydantic import ValidationError

lines, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no message


def load(name):
    module, _, member = name.partition(":")
    return getattr(importlib.import_module(module), member)


Environment, Action = load(sys.argv[1]), load(sys.argv[2])
schema = Action.model_json_schema()
field, *others = [name for name in schema["properties"] if name != "metadata"]
live = {}


def action_of(answer):
    """The JSON object of an answer, or the value of the action's only field: a member of its enumeration, or the text."""
    found = re.search(r"\{.*\}", answer, re.DOTALL)
    if found or others:
        return json.loads(found[0] if found else "{}")
    kind = schema["properties"][field]
    kind = schema.get("$defs", {}).get(kind.get("$ref", "").rpartition("/")[2], kind)
    members = [m for m in kind.get("enum", []) if re.search(rf"\b{re.escape(str(m))}\b", answer, re.IGNORECASE)]
    return {field: members[-1] if members else answer.strip()}


def shown(observation):
    seen = {name: value for name, value in observation["observation"].items() if value and name != "metadata"}
    return {"role": "user", "content": json.dumps(seen)}


def begin(episode, **_):
    environment = live[episode["key"]] = Environment()
    given = {"seed": episode["seed"] % 2**31, "episode_id": episode["key"], **episode["row"].get("reset", {})}
    takes = inspect.signature(environment.reset).parameters
    return {"messages": [shown(serialize_observation(environment.reset(**{k: v for k, v in given.items() if k in takes})))]}


def respond(episode, answer, **_):
    try:
        action = deserialize_action(action_of(answer), Action)
    except (ValidationError, ValueError) as fault:
        said = f"That is no action: {fault}. Reply with JSON that has the fields {[field, *others]}."
        return {"reward": 0, "metrics": {"bad_action": 1}, "messages": [{"role": "user", "content": said}]}
    step = serialize_observation(live[episode["key"]].step(action))
    return {"reward": float(step["reward"] or 0), **({"done": True} if step["done"] else {"messages": [shown(step)]})}


def say(line):
    print(json.dumps(line), file=lines, flush=True)


say({"hello": {"protocol": 1, "name": Environment.__name__.lower(), "version": "1", "state": "replay", "begins": True}})
calls = {"begin": begin, "respond": respond, "end": lambda episode, **_: live.pop(episode["key"], None) and {}}
for line in sys.stdin:
    call = json.loads(line)
    try:
        say({"id": call["id"], "result": calls[call["method"]](**call["params"])})
    except Exception as broken:
        say({"id": call["id"], "error": {"message": f"{type(broken).__name__}: {broken}"}})
