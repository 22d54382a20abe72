"""python/everturn/areal_push.py: its bytes beside a recording of AReaL's own ZMQJsonPusher, and every sample trained once
whoever is killed. The recording is test/fixtures/areal-push.zmtp."""
import json
import os
import random
import socket
import struct
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
from everturn import areal_push
from everturn.areal_push import File, Names, Pusher, Sockets, messages_of
from everturn.areal_samples import samples_of

try:
    import zmq
except ImportError:
    zmq = None


def lines(name):
    with open(os.path.join(HERE, "../fixtures/formats", name), encoding="utf-8") as file:
        return file.read().splitlines()


with open(os.path.join(HERE, "../fixtures/areal-push.zmtp"), "rb") as recording:
    WIRE = recording.read()
ROWS = [json.loads(line) for line in lines("rows.jsonl")]


def frames(stream):
    """[(flags, body)] of a stream of ZMTP 3 without security (rfc.zeromq.org/spec/23), behind its greeting."""
    found, at = [], 64
    while at < len(stream):
        flags = stream[at]
        size, start = (struct.unpack(">Q", stream[at + 1 : at + 9])[0], at + 9) if flags & 2 else (stream[at + 1], at + 2)
        found.append((flags, stream[start : start + size]))
        at = start + size
    return found


MESSAGES = [body for flags, body in frames(WIRE) if not flags & 4]


class Samples(unittest.TestCase):
    def test_are_the_bytes_of_an_export(self):
        for name, sequences in (("areal-rollout.jsonl", "rollout"), ("areal-turn.jsonl", "turn")):
            [*found] = [json.dumps(one, separators=(",", ":")) for one in samples_of(ROWS, sequences)]
            self.assertEqual(found, lines(name))

    def test_of_a_query_are_one_id_with_each_answer(self):
        singles = [row for row in ROWS if len(row["turn_ends"]) == 1][:2]
        one, other = singles[0], {**singles[1], "group": singles[0]["group"], "birth_time": singles[0]["birth_time"] - 1}
        [sample] = samples_of([one, other], "query")
        self.assertEqual(sample["ids"], [one["id"]])
        self.assertEqual(sample["data"]["rewards"], [one["reward"], other["reward"]])
        self.assertEqual(sample["data"]["packed_prompts"], one["prompt_ids"])
        self.assertEqual(sample["data"]["birth_time"], [other["birth_time"]])
        lengths = [len(row["prompt_ids"]) + len(row["response_ids"]) for row in (one, other)]
        self.assertEqual(sample["seqlens"]["packed_input_ids"], [lengths])
        with self.assertRaisesRegex(ValueError, "turns"):
            samples_of([row for row in ROWS if len(row["turn_ends"]) > 1], "query")

    def test_are_sent_in_the_messages_of_areals_own_pusher(self):
        self.assertEqual(messages_of(samples_of(ROWS, "turn")), MESSAGES)
        self.assertEqual([len(json.loads(message)) for message in MESSAGES], [16, 5])


class Killed(Exception):
    pass


GROUPS, B, SAMPLES = 24, 2, 3
STEP = B * SAMPLES


class World:
    """A trainer as realhf's master and workers are (ids in a store are skipped, every loaded sample is counted, a step takes
    the oldest), and the feed's promises, in memory. Each call of the pusher's may kill it; between two sends the trainer
    does not move, since what it loads twice it cannot tell."""

    def __init__(self, seed, pullers):
        self.random, self.size = random.Random(seed), pullers
        self.trained, self.lives, self.saved = [], 0, None
        self.line, self.leases, self.ledger, self.version_now = 0, {}, [], 0
        self.restart()

    def restart(self):
        self.lives += 1
        self.buffer, self.queues = [], [[] for _ in range(self.size)]
        # as its recovery does
        self.count = STEP * len(self.trained)

    def may_die(self):
        if self.random.random() < 0.02:
            raise Killed

    def tick(self):
        self.may_die()
        dice = self.random.random()
        if dice < 0.02:
            self.restart()
        elif dice < 0.5 and len(self.buffer) < STEP:
            for queue in self.queues:
                fresh = [name for name in dict.fromkeys(queue) if name not in self.buffer]
                self.buffer += fresh
                self.count += len(fresh)
                queue.clear()
        elif dice < 0.7 and len(self.buffer) >= STEP:
            self.trained.append(self.buffer[:STEP])
            del self.buffer[:STEP]

    # the names
    def training_samples(self):
        self.tick()
        return self.count

    def model_version(self):
        return len(self.trained)

    def pullers(self):
        return [f"10.0.0.{rank + 1}:{5000 + self.lives}" for rank in range(self.size)]

    # the sockets
    def send(self, address, message):
        self.may_die()
        if address in self.pullers():
            self.queues[self.pullers().index(address)] += [sample["ids"][0] for sample in json.loads(message)]
        return True

    def drop(self):
        pass

    # the memory
    def load(self):
        return json.loads(json.dumps(self.saved))

    def save(self, state):
        self.tick()
        self.saved = state
        self.tick()

    # the feed
    def status(self):
        return {"line": self.line, "version": self.version_now, "leases": [{"lease": lease} for lease in self.leases]}

    def rewind(self, version):
        self.leases, self.line = {}, self.line + 1
        self.ledger = [entry for entry in self.ledger if entry[0] <= version]
        self.version_now = min(self.version_now, version)
        return {"line": self.line}

    def lease(self, groups, wait, seconds, request):
        if request not in self.leases:
            taken = [group for _, own, _ in self.ledger for group in own] + [group for own in self.leases.values() for group in own]
            free = [group for group in range(GROUPS) if group not in taken][:groups]
            if not free:
                return None
            self.leases[request] = free
        self.tick()
        return Lease(request, [row(group, sample) for group in self.leases[request] for sample in range(SAMPLES)])

    def acknowledge(self, lease, version):
        if (lease, version) not in [(name, into) for into, _, name in self.ledger]:
            if lease not in self.leases or version != self.version_now + 1:
                raise areal_push.FeedError(404, "gone", "no-such-lease")
            self.ledger.append((version, self.leases.pop(lease), lease))
        self.tick()

    def version(self, version, weights):
        if version > self.version_now and (not self.ledger or self.ledger[-1][0] != version):
            raise AssertionError("step-too-small")
        self.version_now = version


class Lease:
    def __init__(self, lease, rows):
        self.lease, self.rows = lease, rows


def row(group, sample):
    return {**ROWS[0], "id": f"q{group}@{sample}", "sample": sample}


class ThePusher(unittest.TestCase):
    def play(self, seed, pullers):
        world, said, kills = World(seed, pullers), [], 0
        while True:
            pusher = Pusher(world, world, world, world, B, poll=0, resend=1000, say=said.append)
            try:
                pusher.run()
                return world, kills
            except Killed:
                kills += 1

    def test_has_every_sample_trained_once_whoever_is_killed(self):
        for pullers in (1, 3):
            kills = lives = 0
            for seed in range(25):
                world, died = self.play(seed, pullers)
                kills, lives = kills + died, lives + world.lives
                trained = sorted(name for step in world.trained for name in step)
                self.assertEqual(trained, sorted(f"q{g}@{s}" for g in range(GROUPS) for s in range(SAMPLES)), f"seed {seed}")
                self.assertEqual([version for version, _, _ in world.ledger], list(range(1, GROUPS // B + 1)))
            self.assertGreater(min(kills, lives - 25), 25)

    def test_remembers_its_step_in_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            memory = File(os.path.join(folder, ".feed", "areal.json"))
            self.assertIsNone(memory.load())
            memory.save({"seen": 3})
            memory.save({"seen": 4})
            self.assertEqual((memory.load(), os.listdir(os.path.join(folder, ".feed"))), ({"seen": 4}, ["areal.json"]))


class TheNames(unittest.TestCase):
    def test_are_read_as_areals_default_writes_them_and_wait_for_every_puller(self):
        with tempfile.TemporaryDirectory() as root:
            names = Names(root, "me", "ppo/t1", "actor")

            def put(name, value):
                folder = os.path.join(root, "me/ppo/t1", name)
                os.makedirs(folder)
                with open(os.path.join(folder, "ENTRY"), "w", encoding="utf-8") as file:
                    file.write(value)

            self.assertEqual((names.training_samples(), names.model_version(), names.pullers()), (0, 0, None))
            put("push_pull_stream_peers/1a2b3c4d", "1")
            self.assertIsNone(names.pullers())
            put("push_pull_stream_peers/5e6f7a8b", "0")
            put("push_pull_stream/puller0", "10.0.0.1:1000")
            self.assertIsNone(names.pullers())
            put("push_pull_stream/puller1", "10.0.0.2:2000\n")
            put("training_samples", "128")
            put("model_version/actor", "3")
            found = (names.training_samples(), names.model_version(), names.pullers())
            self.assertEqual(found, (128, 3, ["10.0.0.1:1000", "10.0.0.2:2000"]))


@unittest.skipIf(zmq is None, "there is no pyzmq")
class TheWire(unittest.TestCase):
    def test_has_byte_for_byte_the_stream_of_areals_own_pusher(self):
        puller = zmq.Context.instance().socket(zmq.PULL)
        puller.setsockopt(zmq.RCVTIMEO, 30_000)
        port = puller.bind_to_random_port("tcp://127.0.0.1")
        sent = bytearray()
        with socket.create_server(("127.0.0.1", 0)) as relay:
            threading.Thread(target=pass_on, args=(relay, port, sent), daemon=True).start()
            sockets = Sockets()
            for message in MESSAGES:
                self.assertTrue(sockets.send(f"127.0.0.1:{relay.getsockname()[1]}", message))
            self.assertEqual([puller.recv() for _ in MESSAGES], MESSAGES)
            sockets.drop()
        puller.close(0)
        self.assertEqual(bytes(sent), WIRE)


def pass_on(relay, port, sent):
    """One connection, whose bytes are kept."""
    near, _ = relay.accept()
    far = socket.create_connection(("127.0.0.1", port))

    def back():
        while chunk := far.recv(65536):
            near.sendall(chunk)

    threading.Thread(target=back, daemon=True).start()
    while chunk := near.recv(65536):
        sent.extend(chunk)
        far.sendall(chunk)


if __name__ == "__main__":
    unittest.main()
