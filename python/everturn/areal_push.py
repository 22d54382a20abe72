"""Pushes a run's samples to AReaL's trainer (`realhf`, inclusionAI/AReaL@820ca498) over ZeroMQ. docs/feed.md, "AReaL".

    pip install "./python[areal]"
    python3 -m everturn.areal_push first --areal ppo/one

It leases a step's groups, pushes their samples to the pullers that it finds in AReaL's name-resolving folders, and
acknowledges them when `training_samples` proves that the trainer has loaded all of them; `model_version` is the version.
Samples that are not proven are sent again, each to the same puller: AReaL skips an id that lies there already. The trainer
counts samples and names none, so nobody else may push to it. This program may be killed at any time and started again."""
import argparse
import getpass
import json
import os
import re
import sys
import time
import uuid

from .areal_samples import samples_of
from .feed import Feed, FeedError, _home, _read

# AReaL's own pusher sends one rollout's samples as one list
PER_MESSAGE = 16
LEASE_SECONDS = 3600
# a puller that is away blocks the socket when 1,000 messages wait; then pullers are looked for again
SEND_TIMEOUT_MS = 10_000
# the groups of a lease that ended are another's, or offered again
GONE = ("no-such-lease", "version-goes-back", "version-skips")


# ---- AReaL


def messages_of(samples):
    """Lists of at most PER_MESSAGE samples, as bytes."""
    texts = [json.dumps(sample, separators=(",", ":"), ensure_ascii=False) for sample in samples]
    return [f"[{','.join(texts[at : at + PER_MESSAGE])}]".encode() for at in range(0, len(texts), PER_MESSAGE)]


class Names:
    """AReaL's name-resolving folders, as its default ("nfs") writes them: a folder for each name, with one file ENTRY."""

    def __init__(self, root, user, trial, role):
        self.folder, self.role = os.path.join(root, user, *trial.split("/")), role

    def training_samples(self):
        return self._number("training_samples") or 0

    def model_version(self):
        return self._number(f"model_version/{self.role}") or 0

    def pullers(self):
        """host:port of each, by its rank; None until all that announced themselves have an address."""
        try:
            peers = os.listdir(os.path.join(self.folder, "push_pull_stream_peers"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        ranks = sorted(self._entry(f"push_pull_stream_peers/{peer}") or "" for peer in peers)
        if not peers or ranks != sorted(str(rank) for rank in range(len(peers))):
            return None
        found = [self._entry(f"push_pull_stream/puller{rank}") or "" for rank in range(len(peers))]
        return found if all(re.fullmatch(r"[\w.-]+:\d{1,5}", address) for address in found) else None

    def _number(self, name):
        text = self._entry(name) or ""
        return int(text) if re.fullmatch(r"\d{1,15}", text) else None

    def _entry(self, name):
        try:
            with open(os.path.join(self.folder, name, "ENTRY"), encoding="utf-8") as file:
                return file.read().strip()
        except (FileNotFoundError, NotADirectoryError):
            return None


class Sockets:
    """A PUSH socket for each puller, as AReaL's are: at most 1,000 messages wait, and none is waited for at the end."""

    def __init__(self):
        try:
            import zmq
        except ImportError:
            sys.exit("AReaL is fed over ZeroMQ, and pyzmq is not installed: pip install pyzmq")
        self.zmq, self.open = zmq, {}

    def send(self, address, message):
        """False if the puller is away. True proves nothing: the socket took it."""
        socket = self.open.get(address)
        if socket is None:
            socket = self.open[address] = self.zmq.Context.instance().socket(self.zmq.PUSH)
            for option, value in ((self.zmq.SNDHWM, 1000), (self.zmq.LINGER, 0), (self.zmq.SNDTIMEO, SEND_TIMEOUT_MS)):
                socket.setsockopt(option, value)
            socket.connect(f"tcp://{address}")
        try:
            socket.send(message)
        except self.zmq.ZMQError:
            return False
        return True

    def drop(self):
        for socket in self.open.values():
            socket.close(0)
        self.open = {}


# ---- the pusher


class TrainerRestarted(Exception):
    """The count went back: what the trainer had loaded is gone."""


class File:
    """What a pusher that was killed leaves to the next, written before the first sample of a step is sent."""

    def __init__(self, path):
        self.path = path

    def load(self):
        try:
            with open(self.path, encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def save(self, state):
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        with open(f"{self.path}.new", "w", encoding="utf-8") as file:
            json.dump(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{self.path}.new", self.path)


class Pusher:
    """groups: of a step, the run's --batch-groups. weights: the folder of a version, or None. memory: `load` and `save`.
    resend: seconds without a sample loaded after which all that is not proven is sent again."""

    def __init__(self, feed, names, sockets, memory, groups, sequences="rollout", weights=lambda version: None, poll=0.5, resend=60.0, say=print):
        self.feed, self.names, self.sockets, self.memory = feed, names, sockets, memory
        self.groups, self.sequences, self.weights = groups, sequences, weights
        self.poll, self.resend, self.say = poll, resend, say
        # seen: the highest count of samples; a lower one is of a trainer that was started again. trained: steps acknowledged.
        self.state = memory.load() or {"seen": 0, "trained": 0, "line": 0, "step": None}
        self.published = 0

    def run(self):
        """-> steps pushed, when the run is finished."""
        steps, first = 0, True
        while True:
            try:
                batch = self._resume(first)
                while True:
                    request = self.state["step"]["request"] if batch else uuid.uuid4().hex
                    batch = batch or self._lease(request)
                    if batch is None:
                        self._until_published()
                        return steps
                    self._push(batch, request)
                    batch, steps = None, steps + 1
            except TrainerRestarted:
                self.say("The trainer was started again: what it had loaded and not trained is sent again.")
            first = False

    def _lease(self, request):
        return self.feed.lease(self.groups, wait=20, seconds=LEASE_SECONDS, request=request)

    def _resume(self, first):
        """The step of a pusher that was killed, if its lease is open; else None, on a line of its own."""
        found, version = self.names.training_samples(), self.names.model_version()
        restarted = found < self.state["seen"]
        step = self.state["step"]
        now = self.feed.status() if first and step and not restarted else None
        if now and now["line"] == self.state["line"]:
            self.feed.line, self.published = now["line"], now["version"]
            if step["lease"] in [lease["lease"] for lease in now["leases"]]:
                return self._lease(step["request"])
            # it has ended, and nobody else has its groups, perhaps
            if found >= step["base"] + step["samples"]:
                self._until_published()
                if self._acknowledge(step["lease"]):
                    self._remember(trained=self.state["trained"] + 1)
            elif found > step["base"]:
                self.say(f"{found - step['base']} samples of a lease that ended were loaded: the trainer may train them twice.")
        # a trainer that lives goes on from what it loaded; one that was started again, from its checkpoint
        start = min(version, self.state["trained"]) if restarted else self.state["trained"]
        line = self.feed.rewind(start)["line"]
        self.published = self.feed.status()["version"]
        self._remember(seen=found, trained=start, step=None, line=line)
        # servers may have later weights, of a line that ended
        self._publish(self.published)
        return None

    def _push(self, batch, request):
        samples = samples_of(batch.rows, self.sequences)
        if (self.state["step"] or {}).get("lease") != batch.lease:
            self._remember(step={"lease": batch.lease, "request": request, "base": self._count(), "samples": len(samples)})
        base, sent_to, most = self.state["step"]["base"], None, 0
        moved = time.monotonic()
        while (loaded := self._count() - base) < len(samples):
            pullers = self.names.pullers()
            if loaded > most:
                most, moved = loaded, time.monotonic()
            if pullers and (pullers != sent_to or time.monotonic() - moved > self.resend):
                self.sockets.drop()
                # in one puller's order the first ones are loaded first; of several it is not known which
                whole = self._send(pullers, samples, loaded if len(pullers) == 1 else 0)
                sent_to, moved = pullers if whole else None, time.monotonic()
            time.sleep(self.poll)
        self._until_published()
        if not self._acknowledge(batch.lease):
            raise FeedError(409, "The trainer has loaded a step whose lease another process ended.", "no-such-lease", "Feed one trainer from one process; start this one again.")
        self._remember(trained=self.state["trained"] + 1, step=None)

    def _send(self, pullers, samples, start):
        """Sample i goes to puller i mod k, always."""
        for rank, address in enumerate(pullers):
            own = [sample for i, sample in enumerate(samples) if i >= start and i % len(pullers) == rank]
            if not all(self.sockets.send(address, message) for message in messages_of(own)):
                return False
        return True

    def _acknowledge(self, lease):
        try:
            self.feed.acknowledge(lease, self.state["trained"] + 1)
            return True
        except FeedError as refused:
            if refused.reason in GONE:
                return False
            raise

    def _until_published(self):
        while self.published < self.state["trained"]:
            self._count()
            while self.published < min(self.names.model_version(), self.state["trained"]):
                self._publish(self.published + 1)
            if self.published < self.state["trained"]:
                time.sleep(self.poll)

    def _publish(self, version):
        self.feed.version(version, self.weights(version))
        self.published = version

    def _count(self):
        found = self.names.training_samples()
        if found < self.state["seen"]:
            raise TrainerRestarted
        if found > self.state["seen"]:
            self._remember(seen=found)
        return found

    def _remember(self, **changes):
        self.state = {**self.state, **changes}
        self.memory.save(self.state)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("run", help="a run's name, or its folder: it was started with --train and --batch-groups")
    args.add_argument("--areal", required=True, metavar="EXPERIMENT/TRIAL", help="as AReaL was started with")
    args.add_argument("--names", default="/tmp/areal/name_resolve", help="AReaL's name-resolving folders")
    args.add_argument("--user", default=getpass.getuser(), help="the user whose names they are")
    args.add_argument("--role", default="actor", help="the model whose version counts")
    args.add_argument("--weights", metavar="FOLDER", help="load FOLDER/ROLE/VERSION on the servers (default: none)")
    args.add_argument("--groups", type=int, help="of a step (default: the run's --batch-groups)")
    args.add_argument("--sequences", choices=("rollout", "turn", "query"), help="what has one id (default: as `export` does)")
    args.add_argument("--out", default="runs", help="the folder of the runs")
    a = args.parse_args()
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", a.areal) or {".", ".."} & set(a.areal.split("/")):
        args.error(f"--areal is {a.areal!r}; it takes <experiment>/<trial>")

    def weights(version):
        return os.path.join(a.weights, a.role, str(version)) if a.weights and version > 0 else None

    with Feed(a.run, out=a.out, consumer="areal") as feed:
        # of a run in a bucket everything stays on this machine
        here = "://" not in feed.folder
        record = os.path.join(feed.folder, "run.json")
        if here and not os.path.isfile(record):
            args.error(f"there is no run {a.run!r}: {record} is not there; --out names the folder of the runs")
        run = _read(record) if here else {}
        groups = a.groups or (run.get("train") or {}).get("batchGroups")
        if not groups:
            args.error("AReaL is fed from a run that was started with --train and --batch-groups; of a run in a bucket give --groups")
        by_query = (run.get("agent") or {}).get("sampleOf") == "query"
        by_turn = (run.get("settings") or {}).get("stop") == "success"
        sequences = a.sequences or ("query" if by_query else "turn" if by_turn else "rollout")
        near = os.path.join(feed.folder, ".feed") if here else os.path.join(_home(), "feed", os.path.basename(feed.folder))
        names, memory = Names(a.names, a.user, a.areal, a.role), File(os.path.join(near, "areal.json"))
        try:
            steps = Pusher(feed, names, Sockets(), memory, groups, sequences, weights).run()
            print(f"{steps} steps were pushed and loaded.")
        except KeyboardInterrupt:
            sys.exit(130)


if __name__ == "__main__":
    main()
