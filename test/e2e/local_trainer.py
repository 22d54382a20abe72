"""A trainer that only leases and acknowledges, on whatever feed of its run it finds: it starts none. Each lease, and each
step with the ids of its rows, is a line on stdout. With `--stop-after lease|acknowledge` it then waits to be killed."""
import json
import sys
import time

from everturn import Feed


def say(**line):
    print(json.dumps(line), flush=True)


def until_killed(place, stop):
    if place == stop:
        time.sleep(3600)


def main(out, run, groups, version, stop=None):
    with Feed(run, out=out, command=None) as feed:
        begun = feed.rewind(int(version))
        say(event="begun", url=feed.url, **begun)
        at = int(version)
        for batch in feed.batches(groups=int(groups)):
            say(event="leased", lease=batch.lease, groups=batch.groups)
            until_killed("lease", stop)
            at += 1
            batch.acknowledge(at)
            until_killed("acknowledge", stop)
            feed.version(at)
            say(event="step", version=at, groups=batch.groups, ids=[row["id"] for row in batch.rows])
        say(event="finished")


main(*sys.argv[1:])
