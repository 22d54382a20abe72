"""Environments in Python: `everturn run … --environment ./my_env.py` (docs/environments.md). The file defines a function

    def reward(row, answer):
        return row["answer"] in answer

or a class, for anything more:

    from everturn import Environment

    class Guess(Environment):
        def respond(self, row, answer): ...
"""
import inspect
import os
import re
from typing import Any, List, Optional, Union

from .tools import Unfit

# what begin, respond and end may ask for, by the names of their parameters (docs/environment-messages.md)
GIVEN = ("episode", "row", "turn", "answer", "cut", "messages", "state")
# with these states an instance belongs to one rollout
OF_ROLLOUT = ("held", "replay")


class Environment:
    """Its methods take what they name: episode, row (that of the data set), turn, answer, cut, messages, state. With the state
    `none` or `value` one instance serves all rollouts; with `held` or `replay` each rollout has its own, made before its
    `begin` or its first `respond`. An exception is a failure of the environment, and never a reward."""

    name: Optional[str] = None  # default: the file's
    version: str = "1"
    state: str = "none"
    idle_seconds: Optional[float] = None
    processes: Optional[int] = None
    credits: Optional[bool] = None  # its replies may have `credit` and `train`
    timeout_seconds: Optional[float] = None
    agents: Optional[List[Any]] = None

    def respond(self, *args: Any, **given: Any) -> Union[bool, float, str, dict]:
        """A verdict ("right", "wrong", True, False), a reward (a number), or a whole reply (a dictionary)."""
        raise NotImplementedError


def environment_of(module, path):
    """The class that the module defines, or one around its function `reward`."""
    own = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, Environment) and one.__module__ == module.__name__]
    if len(own) > 1:
        raise Unfit(f"it defines {len(own)} environments: {', '.join(one.__name__ for one in own)}. Keep one in a file")
    reward = getattr(module, "reward", None)
    if not own and not inspect.isfunction(reward):
        raise Unfit("it defines no environment: a function reward(row, answer), or a class that derives everturn.Environment")
    found = own[0] if own else type("Reward", (Environment,), {"respond": lambda self, **given: named(reward, given)})
    if found.name is None:
        found.name = re.sub(r"[^a-z0-9]+", "-", os.path.splitext(os.path.basename(path))[0].lower()).strip("-")
    methods = {name: getattr(found, name, None) for name in ("begin", "respond", "end")} if own else {"reward": reward}
    for method, function in methods.items():
        unknown = [name for name in taken(function) if name not in GIVEN + ("self",)] if function else []
        if unknown:
            raise Unfit(f"{method} asks for {unknown[0]}, and there are {', '.join(GIVEN)}")
    return found


def taken(function):
    """The names of the parameters that it has; GIVEN for one that takes any."""
    parameters = inspect.signature(function).parameters.values()
    return GIVEN if any(one.kind == one.VAR_KEYWORD for one in parameters) else [one.name for one in parameters]


def named(function, given):
    return function(**{name: given.get(name) for name in taken(function)})


def hello_of(environment):
    own = {"idleSeconds": "idle_seconds", "processes": "processes", "credits": "credits", "timeoutSeconds": "timeout_seconds", "agents": "agents"}
    given = {key: getattr(environment, name) for key, name in own.items() if getattr(environment, name) is not None}
    held = environment.state in OF_ROLLOUT
    has = {key: True for key, method in (("begins", "begin"), ("ends", "end")) if held or hasattr(environment, method)}
    return {"protocol": 1, "name": environment.name, "version": environment.version, "state": environment.state, **has, **given}


def reply_of(value):
    if value is None:
        raise TypeError("it returned None, which is neither a verdict, a number nor a reply")
    value = value.item() if callable(getattr(value, "item", None)) else value  # of NumPy, or a tensor
    if isinstance(value, bool):
        return {"verdict": "right" if value else "wrong"}
    if isinstance(value, (int, float)):
        return {"reward": value}
    return {"verdict": value} if isinstance(value, str) else value


class Held:
    """The instances of an environment: one for all rollouts, or one for each."""

    def __init__(self, environment):
        self.environment, self.of = environment, {}
        self.is_of_rollout = environment.state in OF_ROLLOUT

    def call(self, method, params):
        """The value that the method returned, which may be a coroutine."""
        key = params["episode"]["key"] if self.is_of_rollout else None
        if key not in self.of or (method == "begin" and key is not None):
            self.of[key] = self.environment()
        one = self.of.pop(key) if method == "end" and key is not None else self.of[key]
        function = getattr(one, method, None)
        return named(function, {**params, "row": params["episode"]["row"]}) if function else None
