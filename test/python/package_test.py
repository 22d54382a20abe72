"""The package everturn beside its feed client: leases ahead, renewals, ranks, the protocol, the types of rows."""
import contextlib
import io
import pickle
import sys
import threading
import time
import types
import unittest

import everturn
from everturn import EverturnError, Feed, FeedError, ahead, log, on_every_rank
from everturn.feed import _check_protocol


class Groups(Feed):
    """A feed in memory: each request has one lease as long as it is open; `count` leases in all."""

    def __init__(self, count):
        super().__init__(url="http://127.0.0.1:1", token="t")
        self.count, self.open, self.asked, self.acknowledged = count, {}, [], []

    def _once(self, verb, body, timeout):
        if verb == "acknowledge":
            self.acknowledged.append(body["lease"])
            self.open = {request: lease for request, lease in self.open.items() if lease != body["lease"]}
            return [{}]
        self.asked.append((time.monotonic(), body))
        if body["request"] not in self.open:
            if self.count == 0:
                return [{"lease": None, "why": "finished"}]
            self.count -= 1
            self.open[body["request"]] = f"r~{len(self.asked)}"
        lease = self.open[body["request"]]
        if body["seconds"] == 0.1:
            del self.open[body["request"]]
            self.count += 1
        return [{"lease": lease, "groups": ["a"], "rows": 1, "until": "", "version": 0, "line": 0}, {"id": "a/0"}]


def until(holds):
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.005)


class Ahead(unittest.TestCase):
    def test_every_lease_is_handed_out_once(self):
        feed = Groups(5)
        leases = []
        for batch in ahead(feed, 1):
            leases.append(batch.lease)
            batch.acknowledge(len(leases))
        self.assertEqual((len(set(leases)), feed.acknowledged, feed.open), (5, leases, {}))

    def test_the_next_is_leased_while_the_caller_trains_and_given_back_if_nobody_took_it(self):
        feed = Groups(9)
        batches = ahead(feed, 1)
        first = next(batches)
        until(lambda: len(feed.open) >= 2)
        first.acknowledge(1)
        batches.close()
        self.assertEqual((feed.count, feed.open, feed.at_close), (8, {}, []))

    def test_a_lease_is_renewed_until_it_is_acknowledged(self):
        feed = Groups(1)
        batches = ahead(feed, 1, seconds=0.15)
        batch = next(batches)
        request = batch.asked["request"]
        count = lambda: sum(body["request"] == request for _, body in feed.asked)  # noqa: E731
        until(lambda: count() >= 4)
        batch.acknowledge(1)
        after = count()
        time.sleep(0.2)
        self.assertEqual(count(), after)
        self.assertEqual(list(batches), [])

    def test_a_lease_that_others_took_is_not_taken_for_another_one(self):
        feed = Groups(2)
        batch = feed.lease(1)
        feed.open.clear()
        self.assertFalse(batch.renew(10))
        self.assertEqual((feed.open, feed.count), ({}, 1))
        self.assertFalse(batch.renew(10))

    def test_an_error_of_the_feed_is_raised_where_the_batches_are_read(self):
        feed = Groups(1)
        feed.lease = lambda *_, **__: (_ for _ in ()).throw(FeedError(409, "fenced", "stale-line"))
        with self.assertRaises(FeedError) as caught:
            next(ahead(feed, 1))
        self.assertEqual(caught.exception.reason, "stale-line")


class Ranks(unittest.TestCase):
    def ranks(self, batches):
        """What each of two ranks saw, over a torch.distributed whose ranks are threads and whose objects are pickled."""
        box, barrier, rank, seen = [], threading.Barrier(2), threading.local(), {}

        def broadcast(told, src):
            if rank.number == src:
                box[:] = [pickle.dumps(told[0])]
            barrier.wait(10)
            told[0] = pickle.loads(box[0])
            barrier.wait(10)

        distributed = types.SimpleNamespace(is_available=lambda: True, is_initialized=lambda: True,
                                            get_rank=lambda: rank.number, broadcast_object_list=broadcast)

        def work(number):
            rank.number, seen[number] = number, []
            try:
                for batch in on_every_rank(batches if number == 0 else None):
                    seen[number].append((batch.lease, batch.rows))
                    batch.acknowledge(len(seen[number]))
            except EverturnError as error:
                seen[number].append((type(error).__name__, error.reason))

        before = sys.modules.get("torch")
        sys.modules["torch"] = types.SimpleNamespace(distributed=distributed)
        try:
            threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(20)
        finally:
            sys.modules.pop("torch") if before is None else sys.modules.update(torch=before)
        return seen

    def test_all_see_what_rank_0_leased_and_it_alone_acknowledges(self):
        feed = Groups(3)
        seen = self.ranks(feed.batches(1))
        self.assertEqual(seen[0], seen[1])
        self.assertEqual([lease for lease, _ in seen[0]], feed.acknowledged)
        self.assertEqual(len(feed.acknowledged), 3)

    def test_an_error_of_rank_0_is_raised_on_each(self):
        def refused():
            raise FeedError(409, "fenced", "stale-line")
            yield

        self.assertEqual(self.ranks(refused()), {0: [("FeedError", "stale-line")], 1: [("FeedError", "stale-line")]})

    def test_without_torch_the_batches_pass_through(self):
        self.assertEqual(list(on_every_rank([1, 2])), [1, 2])


class Log(unittest.TestCase):
    def test_points_of_a_run_reach_the_client_of_a_tool(self):
        lines = ['{"version": 0, "rollouts": 8, "meanReturn": 0.5, "right": null}', '{"version": 2, "rollouts": 4, "meanReturn": 1, "right": 1, "eval": {"run": "r-eval-v2", "right": 0.5, "tokens": null, "answeredBy": [2, 2]}}']
        says = [sys.executable, "-c", f"import sys; assert sys.argv[1:] == ['log', 'r']; print({chr(10).join(lines)!r})"]
        logged = []
        writer = types.SimpleNamespace(log=lambda values, step: logged.append((step, values)), finish=lambda: logged.append("end"))
        sys.modules["wandb"] = types.SimpleNamespace(init=lambda **given: logged.append(given["id"]) or writer)
        try:
            log.main(["r", "--wandb", "p"], command=says)
        finally:
            sys.modules["wandb"] = None
        self.addCleanup(sys.modules.pop, "wandb")
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit) as ended:
            log.main(["r", "--wandb", "p"], command=says)
        self.assertEqual((ended.exception.code, said.getvalue().count("\n")), (2, 1))
        self.assertIn("pip install wandb", said.getvalue())
        first, last = {"everturn/rollouts": 8, "everturn/meanReturn": 0.5}, {"everturn/rollouts": 4, "everturn/meanReturn": 1, "everturn/right": 1, "eval/right": 0.5}
        self.assertEqual(logged, ["r", (0, first), (2, last), "end"])
        with self.assertRaises(EverturnError):
            list(log.points("r", command=[sys.executable, "-c", "raise SystemExit(2)"]))


class Protocol(unittest.TestCase):
    def test_another_protocol_is_refused_once_and_not_tried_again(self):
        _check_protocol(everturn.feed.PROTOCOL)
        with self.assertRaises(FeedError) as caught:
            _check_protocol("2")
        self.assertEqual(caught.exception.reason, "other-protocol")


if __name__ == "__main__":
    unittest.main()
