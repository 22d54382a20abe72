"""python/everturn/feed.py against a scripted HTTP server: what is repeated, and what is not."""
import json
import os
import socket
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from everturn import Feed, FeedError

HEAD = {"lease": "r~1", "groups": ["a"], "rows": 2, "until": "2026-01-01T00:00:00Z", "version": 3, "trained_at": 4, "line": 0}
LEASE = [HEAD, {"id": "a/0"}, {"id": "a/1"}]


class Script:
    """A server that answers call after call with `steps`: (status, lines), or a function of the handler."""

    def __init__(self, *steps):
        self.steps, self.calls = list(steps), []
        script = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or b"null")
                script.calls.append((self.path, body, self.headers.get("Authorization")))
                step = script.steps.pop(0)
                step(self) if callable(step) else answer(self, *step)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def answer(handler, status, lines, length=None):
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.end_headers()
    handler.wfile.write(body)


def torn(handler):
    """Promises more than it sends."""
    answer(handler, 200, LEASE[:2], length=10_000)


def cut(handler):
    """Ends in the middle of a line, as a proxy without a length does."""
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(json.dumps(HEAD).encode() + b'\n{"id": "a/')


def silent(handler):
    handler.close_connection = True


def feed(script, **more):
    return Feed(url=script.url, token="secret", consumer="me", **{"patience": 20, **more})


class Leases(unittest.TestCase):
    def test_a_lease_is_whole_groups_with_the_token_sent(self):
        with Script((200, LEASE)) as script:
            batch = feed(script).lease(1, least=1)
        self.assertEqual([row["id"] for row in batch.rows], ["a/0", "a/1"])
        self.assertEqual((batch.lease, batch.groups, batch.version, batch.line), ("r~1", ["a"], 3, 0))
        path, body, token = script.calls[0]
        self.assertEqual((path, token), ("/lease", "Bearer secret"))
        self.assertEqual((body["consumer"], body["groups"], body["least"]), ("me", 1, 1))

    def test_a_gap_of_versions_is_sent_with_each_lease_of_the_feed_or_of_its_process(self):
        with Script((200, LEASE), (200, LEASE), (200, LEASE)) as script:
            feed(script, max_token_gap=2).lease(1)
            with unittest.mock.patch.dict(os.environ, {"EVERTURN_MAX_TOKEN_GAP": "3"}):
                feed(script).lease(1)
            feed(script).lease(1)
        self.assertEqual([body.get("max_token_gap") for _, body, _ in script.calls], [2, 3, None])

    def test_a_lost_answer_is_asked_for_again_under_the_same_request(self):
        for broken in (torn, cut, silent, (200, []), (503, [{"error": "Temporal is away"}]), (502, [])):
            with self.subTest(broken=broken), Script(broken, (200, LEASE)) as script:
                self.assertEqual(len(feed(script).lease(1).rows), 2)
                requests = [body["request"] for _, body, _ in script.calls]
                self.assertEqual((len(requests), len(set(requests))), (2, 1))

    def test_the_next_lease_has_another_request(self):
        with Script((200, LEASE), (200, LEASE)) as script:
            client = feed(script)
            client.lease(1), client.lease(1)
        self.assertEqual(len({body["request"] for _, body, _ in script.calls}), 2)

    def test_waiting_is_asked_again_and_finished_ends_the_batches(self):
        steps = [(200, [{"lease": None, "why": "waiting"}]), (200, LEASE), (200, [{"lease": None, "why": "finished"}])]
        with Script(*steps) as script:
            self.assertEqual(len(list(feed(script).batches(1))), 1)
        self.assertEqual(len(script.calls), 3)

    def test_fewer_rows_than_announced_are_asked_for_again(self):
        with Script((200, LEASE[:2]), (200, LEASE)) as script:
            self.assertEqual(len(feed(script).lease(1).rows), 2)
        self.assertEqual(len({body["request"] for _, body, _ in script.calls}), 1)


class Refusals(unittest.TestCase):
    def test_a_refusal_is_not_repeated_and_has_the_feeds_words(self):
        for status in (400, 401, 404, 409, 413):
            refusal = {"error": "The lease ended.", "reason": "lease-lost", "fix": "Rewind."}
            with self.subTest(status=status), Script((status, [refusal])) as script:
                with self.assertRaises(FeedError) as raised:
                    feed(script).acknowledge("r~1", 4)
                self.assertEqual((raised.exception.status, raised.exception.reason), (status, "lease-lost"))
                self.assertEqual(str(raised.exception), "The lease ended. Rewind.")
                self.assertEqual(len(script.calls), 1)

    def test_a_refusal_that_is_no_json_still_has_its_status(self):
        with Script(lambda handler: answer(handler, 409, [])) as script:
            with self.assertRaises(FeedError) as raised:
                feed(script).rewind(1)
        self.assertEqual(raised.exception.status, 409)

    def test_a_refusal_that_ends_by_itself_is_waited_for(self):
        busy = (409, [{"error": "An update runs.", "reason": "update-in-progress"}])
        with Script(busy, (200, [{"version": 4}])) as script:
            self.assertEqual(feed(script).version(4), {"version": 4})
        self.assertEqual([body for _, body, _ in script.calls], [{"version": 4}] * 2)

    def test_patience_ends(self):
        with Script() as script:
            url = script.url
        with self.assertRaises(FeedError) as raised:
            Feed(url=url, patience=0.3).rewind(1)
        self.assertEqual(raised.exception.status, 503)

    def test_a_feed_needs_a_run_or_an_address(self):
        for wrong in ({}, {"run": "a", "url": "http://127.0.0.1:1"}):
            with self.assertRaises(ValueError):
                Feed(**wrong)


class Found(unittest.TestCase):
    """Where no address is given: the run's own feed, or else the local service, or else one of our own."""

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = os.path.join(self.place.name, "runs", "first")
        self.home = os.path.join(self.place.name, "home")
        os.makedirs(os.path.join(self.folder, ".feed"))
        os.makedirs(self.home)
        with open(os.path.join(self.folder, "run.json"), "w") as f:
            f.write("{}")
        os.environ["EVERTURN_HOME"] = self.home

    def tearDown(self):
        del os.environ["EVERTURN_HOME"]
        self.place.cleanup()

    def announce(self, path, script, **more):
        with open(path, "w") as f:
            json.dump({"url": script.url, "token": "secret", "pid": 1, **more}, f)

    def own(self, script):
        self.announce(os.path.join(self.folder, ".feed", "server.json"), script)

    def service(self, script, host=None):
        self.announce(os.path.join(self.home, "feed.json"), script, host=host or socket.gethostname())

    def client(self, **more):
        return Feed("first", out=os.path.join(self.place.name, "runs"), **{"command": None, "patience": 0.3, **more})

    def test_the_runs_own_feed_comes_before_the_service(self):
        with Script((200, [{}]), (200, [{"version": 1}])) as own, Script() as service:
            self.own(own), self.service(service)
            self.assertEqual(self.client().version(1), {"version": 1})
        self.assertEqual([path for path, _, _ in own.calls], ["/status", "/version"])

    def test_the_service_has_a_run_under_its_encoded_folder(self):
        with Script((200, [{}]), (200, [{"version": 1}])) as service:
            self.service(service)
            self.assertEqual(self.client().version(1), {"version": 1})
        named = "/" + urllib.parse.quote(self.folder, safe="")
        self.assertEqual([(path, token) for path, _, token in service.calls], [(f"{named}/status", "Bearer secret"), (f"{named}/version", "Bearer secret")])

    def test_an_address_that_a_stranger_has_now_is_left_for_the_service(self):
        with Script((401, [{"error": "no"}])) as stranger, Script((200, [{}]), (200, [{"version": 1}])) as service:
            self.own(stranger), self.service(service)
            self.assertEqual(self.client().version(1), {"version": 1})

    def test_a_service_that_has_not_this_run_or_another_machine_is_no_answer(self):
        with Script(*[(404, [{"error": "no such run"}])] * 9) as service:
            self.service(service)
            with self.assertRaises(FeedError):
                self.client().version(1)
            self.service(service, host="another")
            asked = len(service.calls)
            with self.assertRaises(FeedError) as raised:
                self.client().version(1)
            self.assertIn("another machine", str(raised.exception))
            self.assertEqual(len(service.calls), asked)

    def test_where_nobody_answers_a_feed_is_started_with_the_runs_folder(self):
        said = os.path.join(self.place.name, "said")
        command = [sys.executable, "-c", f"import json, sys; json.dump(sys.argv[1:], open({said!r}, 'w')); sys.stdin.read()"]
        with self.client(command=command, patience=20) as client:
            with self.assertRaises(OSError):
                client._find()
            while not os.path.exists(said) or not os.path.getsize(said):
                time.sleep(0.02)
            with open(said) as f:
                self.assertEqual(json.load(f), ["feed", "first", "--out", os.path.dirname(self.folder), "--until-stdin-ends"])

    def record(self, words, mode=0o600):
        path = os.path.join(self.home, "command.json")
        with open(path, "w") as f:
            json.dump(words, f)
        os.chmod(path, mode)

    def test_the_recorded_command_is_started_and_no_other(self):
        said, npx = os.path.join(self.place.name, "said"), os.path.join(self.place.name, "npx")
        for path, text in ((said + ".sh", f'#!/bin/sh\necho "$@" > {said}\ncat\n'), (npx, f"#!/bin/sh\ntouch {npx}.called\n")):
            with open(path, "w") as f:
                f.write(text)
            os.chmod(path, 0o755)
        path = os.environ["PATH"]
        os.environ["PATH"] = f"{self.place.name}{os.pathsep}{path}"
        try:
            for words, mode in ((None, 0o600), (["npx", "everturn"], 0o600), ([said + ".sh"], 0o622), ({"a": 1}, 0o600)):
                if words is not None:
                    self.record(words, mode)
                with Feed("first", out=os.path.join(self.place.name, "runs"), patience=0.3) as client:
                    with self.assertRaises(FeedError) as raised:
                        client.version(1)
                    self.assertIsNone(client.child)
                self.assertIn("start it: `everturn feed first --out", str(raised.exception))
            self.record([said + ".sh"])
            with Feed("first", out=os.path.join(self.place.name, "runs"), patience=20) as client:
                with self.assertRaises(OSError):
                    client._find()
                while not os.path.exists(said) or not os.path.getsize(said):
                    time.sleep(0.02)
        finally:
            os.environ["PATH"] = path
        self.assertFalse(os.path.exists(npx + ".called"))

    def test_a_feed_that_is_refused_is_not_started_again(self):
        began = time.monotonic()
        with self.client(command=[sys.executable, "-c", "raise SystemExit(2)"], patience=600) as client:
            with self.assertRaises(FeedError) as raised:
                client.rewind(0)
        self.assertEqual(raised.exception.status, 404)
        self.assertLess(time.monotonic() - began, 300)

    def test_a_run_that_is_not_there_is_said_at_once(self):
        self.record([sys.executable, "-c", "raise SystemExit(1)"])
        began = time.monotonic()
        with self.assertRaises(FeedError) as raised:
            Feed("typo", out=os.path.join(self.place.name, "runs"), patience=600).status()
        self.assertEqual((raised.exception.status, raised.exception.reason), (404, "no-such-run"))
        self.assertLess(time.monotonic() - began, 300)

    def test_a_place_in_a_bucket_is_not_a_folder_here(self):
        for client in (Feed("s3://b/p/first"), Feed("first", out="s3://b/p")):
            self.assertEqual((client.folder, client.out), ("s3://b/p/first", "s3://b/p"))
        os.makedirs(os.path.join(self.home, "feed", "first"))
        with Script((200, [{}]), (200, [{"version": 1}])) as own:
            self.announce(os.path.join(self.home, "feed", "first", "server.json"), own)
            self.assertEqual(Feed("s3://b/p/first", command=None).version(1), {"version": 1})


class Verbs(unittest.TestCase):
    def test_weights_are_an_absolute_folder(self):
        with Script((200, [{"version": 4}]), (200, [{"version": 5}])) as script:
            feed(script).version(4, "weights/4")
            feed(script).version(5, adapter="adapters/5")
        self.assertEqual(script.calls[0][1], {"version": 4, "weights": os.path.abspath("weights/4")})
        self.assertEqual(script.calls[1][1], {"version": 5, "adapter": os.path.abspath("adapters/5")})

    def test_a_proxy_of_the_environment_does_not_see_the_token(self):
        os.environ["http_proxy"] = "http://127.0.0.1:9"
        try:
            with Script((200, [{"version": 4}])) as script:
                self.assertEqual(feed(script).status(), {"version": 4})
        finally:
            del os.environ["http_proxy"]


if __name__ == "__main__":
    unittest.main()
