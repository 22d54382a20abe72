"""A taskset of verifiers as an environment: its own rewards and metrics judge the answer.

    everturn run rows.jsonl --environment "venv/bin/python verifiers_env.py reverse_text"

The Python needs `verifiers` (tried with 0.4.0) and the taskset's package. The field `task` of a row is its TaskData;
`verifiers_env.py reverse_text --rows 100 > rows.jsonl` writes the taskset's own. One answer ends a rollout, so a taskset
with an Env of its own, with hooks, or with rewards that need a runtime of verifiers' is refused.
"""

import asyncio
import inspect
import json
import sys
from importlib import metadata

lines, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no message

import verifiers.v1 as vf
from verifiers.v1.graph import MessageNode
from verifiers.v1.utils import loaders


def say(line):
    print(json.dumps(line), file=lines, flush=True)


def fault_of(name, Task):
    if loaders.environment_class(name) is not vf.SingleAgentEnv:
        return "it has an Env of its own"
    for hook in ("setup", "finalize"):
        if getattr(Task, hook) is not getattr(vf.Task, hook):
            return f"its task has a `{hook}`, which needs a runtime of verifiers'"
    for member, one in inspect.getmembers(Task, inspect.isfunction):
        if any(hasattr(one, kind) for kind in ("reward", "metric")) and "runtime" in inspect.signature(one).parameters:
            return f"`{member}` needs a runtime of verifiers'"


def prompt_of(data):
    said = [vf.SystemMessage(content=data.system_prompt)] if data.system_prompt else []
    return [*said, *([vf.UserMessage(content=data.prompt)] if isinstance(data.prompt, str) else data.prompt or [])]


def begin(episode, **_):
    data = Task.data_type()(**episode["row"]["task"])
    return {"messages": [{"role": one.role, "content": one.content} for one in prompt_of(data)]}


def respond(episode, answer, **_):
    data = Task.data_type()(**episode["row"]["task"])
    task = Task(data)
    said = [*prompt_of(data), vf.AssistantMessage(content=answer)]
    trace = vf.Trace(
        task=vf.TraceTask(type=Task.__name__, data=data, key=task.key, hash=task.hash),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        nodes=[MessageNode(parent=i - 1 if i else None, message=m, sampled=m is said[-1]) for i, m in enumerate(said)],
    )
    asyncio.run(task.score(trace))
    rewards = {name: reward.value for name, reward in trace.rewards.items()}
    return {"reward": rewards, "metrics": {k: v for k, v in trace.metrics.items() if v is not None}, "done": True}


name, *more = sys.argv[1:]
Task = loaders.task_type(name)
fault = fault_of(name, Task)
if more[:1] == ["--rows"] and fault is None:
    for task in loaders.load_taskset(loaders.taskset_config_type(name)(id=name)).take(int(more[1])):
        say({"id": f"{name}-{task.data.idx}", "task": task.data.model_dump(mode="json", exclude_unset=True)})
    sys.exit()
if fault is not None:
    say({"error": {"message": f"The taskset {name} cannot be played here: {fault}."}})
    sys.exit(1)
hello = {"protocol": 1, "name": name.replace("_", "-").lower(), "version": metadata.version("verifiers"), "begins": True}
say({"hello": {**hello, "timeoutSeconds": 120}})
calls = {"begin": begin, "respond": respond}
for line in sys.stdin:
    call = json.loads(line)
    try:
        say({"id": call["id"], "result": calls[call["method"]](**call["params"])})
    except Exception as broken:
        say({"id": call["id"], "error": {"message": f"{type(broken).__name__}: {broken}"}})
