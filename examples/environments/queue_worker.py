"""An environment as a Temporal worker of your own, in Python: one activity for each method, on a task queue of yours.

    pip install temporalio
    TEMPORAL_ADDRESS=127.0.0.1:7233 python3 examples/environments/queue_worker.py nearer@1
    everturn run examples/arithmetic.jsonl --environment queue:nearer@1 --num-turns 4
"""

import asyncio
import os
import re
import sys

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker


@activity.defn
async def describe(_: dict) -> dict:
    return {"protocol": 1, "name": "nearer", "version": "1", "state": "value", "begins": True}


@activity.defn
async def begin(call: dict) -> dict:
    return {"state": {"best": None}}


@activity.defn
async def respond(call: dict) -> dict:
    """Rewards an answer that is nearer than all before it."""
    wanted = float(re.findall(r"\\boxed\{(-?[\d.]+)\}", call["episode"]["row"]["solutions"][0])[-1])
    numbers = re.findall(r"-?\d+(?:\.\d+)?", call["answer"])
    off = abs(float(numbers[-1]) - wanted) if numbers else None
    if off == 0:
        return {"verdict": "right", "reward": 1.0, "done": True}
    best = call["state"]["best"]
    nearer = off is not None and (best is None or off < best)
    hint = "Nearer." if nearer else "No nearer than before."
    return {
        "verdict": "wrong",
        "reward": 0.1 if nearer else 0.0,
        "messages": [{"role": "user", "content": f"{hint} Try again."}],
        "state": {"best": off if nearer else best},
    }


async def main() -> None:
    address = os.environ.get("TEMPORAL_ADDRESS", "127.0.0.1:7233")
    client = await Client.connect(address, namespace=os.environ.get("TEMPORAL_NAMESPACE", "default"))
    print(f"Serving {sys.argv[1]} at {address}", flush=True)
    await Worker(client, task_queue=sys.argv[1], activities=[describe, begin, respond]).run()


asyncio.run(main())
