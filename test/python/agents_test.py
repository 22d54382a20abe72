"""Rewards and headers of an agent's program: `everturn.agents`, against an endpoint in memory."""
import http.server
import json
import os
import threading
import types
import unittest

from everturn import EverturnError
from everturn.agents import headers, reward


class Endpoint(http.server.BaseHTTPRequestHandler):
    got = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.got.append((self.path, self.headers["authorization"], body))
        wrong = body.get("call") == "chatcmpl-0"
        said = {"error": {"message": "the reward is of no reply", "code": "malformed"}} if wrong else {"ok": True, **body}
        text = json.dumps(said).encode()
        self.send_response(400 if wrong else 200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Agents(unittest.TestCase):
    def setUp(self):
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Endpoint)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.base = f"http://127.0.0.1:{self.server.server_port}/v1"
        os.environ.update(OPENAI_BASE_URL=self.base + "/", OPENAI_API_KEY="k")
        Endpoint.got.clear()

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()
        os.environ.pop("OPENAI_BASE_URL")

    def test_a_reward_is_of_the_rollout_or_of_a_reply_by_its_id(self):
        self.assertEqual(reward(1, rewards={"form": 1}), {"reward": 1, "rewards": {"form": 1}})
        for call in ("chatcmpl-7", {"id": "chatcmpl-7"}, types.SimpleNamespace(id="chatcmpl-7")):
            self.assertEqual(reward(0.5, call=call), {"call": "chatcmpl-7", "reward": 0.5})
        reward(0, call="last")
        self.assertEqual([body.get("call") for _, _, body in Endpoint.got], [None] + ["chatcmpl-7"] * 3 + ["last"])
        self.assertEqual({(path, key) for path, key, _ in Endpoint.got}, {("/v1/reward", "Bearer k")})

    def test_what_is_wrong_with_a_reward_is_an_error_with_the_words_of_the_endpoint(self):
        with self.assertRaisesRegex(EverturnError, "is of no reply"):
            reward(1, call="chatcmpl-0")
        os.environ["OPENAI_BASE_URL"] = ""
        with self.assertRaisesRegex(EverturnError, "OPENAI_BASE_URL"):
            reward(1)
        os.environ["OPENAI_BASE_URL"] = self.base

    def test_headers_hold_what_is_said_alone(self):
        self.assertEqual(headers(), {})
        self.assertEqual(headers(tag="main", train=False), {"x-everturn-tag": "main", "x-everturn-train": "0"})
        self.assertEqual(headers(train=True), {"x-everturn-train": "1"})


if __name__ == "__main__":
    unittest.main()
