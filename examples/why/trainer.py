# A trainer without a model: it takes five steps, and is killed in the third, the first time (docs/why.md).
import os
import signal

from everturn import Feed

CHECKPOINT, KILLED = "why-checkpoint", "why-killed"
with Feed("fed") as feed:
    done = int(open(CHECKPOINT).read()) if os.path.exists(CHECKPOINT) else 0
    feed.rewind(done)
    for version in range(done + 1, 6):
        batch = feed.lease(groups=8)
        queries = sorted({row["query"] for row in batch.rows})
        print(f"version {version}: {queries[0]} to {queries[-1]}", flush=True)
        if version == 3 and not os.path.exists(KILLED):
            open(KILLED, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        batch.acknowledge(version)
        with open(CHECKPOINT, "w") as file:
            file.write(str(version))
        feed.version(version)
