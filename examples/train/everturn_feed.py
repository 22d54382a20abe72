"""A client of `everturn feed`: leases whole groups of samples, acknowledges them, tells versions of the weights.

Standard library only. docs/feed.md defines the verbs and the rules for a trainer. Every verb may be repeated: a call
whose answer was lost is sent again, a lease under the same request id, and the feed gives the same answer."""
import http.client
import json
import os
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid


class FeedError(Exception):
    """The feed refused: `status` (HTTP), `error` and `fix` are its own words. Nothing has changed."""

    def __init__(self, status, error, reason=None, fix=None):
        super().__init__(f"{error}{f' {fix}' if fix else ''}")
        self.status, self.error, self.reason, self.fix = status, error, reason, fix


# refusals that end by themselves
BUSY = ("feed-busy", "update-in-progress")


class Batch:
    """What one lease holds. rows: neutral rows (docs/formats.md), group by group; version: the newest when leased."""

    def __init__(self, feed, head, rows):
        self.feed, self.rows = feed, rows
        self.lease, self.groups, self.until, self.version, self.line = (head[k] for k in ("lease", "groups", "until", "version", "line"))

    def acknowledge(self, version):
        """These groups were trained into `version`. FeedError: they were not counted, and the step must be discarded."""
        return self.feed.acknowledge(self.lease, version)

    def renew(self, seconds=600):
        return self.feed.call("renew", lease=self.lease, seconds=seconds)


class Feed:
    """run: its name, under the folder `out`, or its folder. url and token: of a feed that runs elsewhere.

    Without a url the address is read from <run>/.feed/server.json; `command` starts a feed of our own if none answers.
    patience: seconds for which an address that does not answer is asked again (a feed may be restarted meanwhile)."""

    def __init__(self, run=None, url=None, token=None, consumer=None, out="runs", command=("npx", "everturn"), patience=300.0):
        if (run is None) == (url is None):
            raise ValueError("give either run= (a run's name) or url= (and token=) of a feed")
        self.run, self.url, self.token, self.command, self.patience = run, url, token, list(command or ()), patience
        self.folder = None if run is None else run if os.path.isdir(run) else os.path.join(out, run)
        self.out = out if self.folder is None else os.path.dirname(os.path.abspath(self.folder))
        self.consumer = consumer or f"{os.path.basename(os.sys.argv[0]) or 'python'}-{os.getpid()}"
        self.child, self.fixed = None, url is not None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Stops the feed server that this client started; leases and versions stay."""
        if self.child and self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(30)
            except subprocess.TimeoutExpired:
                self.child.kill()
        self.child = None

    # ---- the verbs

    def lease(self, groups, wait=30.0, least=None, seconds=600):
        """-> Batch; or None when the run is finished and every group is trained or left out. Waits as long as it takes."""
        while True:
            asked = {"consumer": self.consumer, "groups": groups, "wait": wait, "seconds": seconds}
            lines = self._send("lease", {**asked, **({} if least is None else {"least": least})}, timeout=wait + 60)
            head, rows = lines[0], lines[1:]
            if head["lease"] is not None:
                return Batch(self, head, rows)
            if head["why"] == "finished":
                return None

    def batches(self, groups, **lease):
        """Yields a Batch after another until the run is finished. The caller acknowledges each before the next."""
        while (batch := self.lease(groups, **lease)) is not None:
            yield batch

    def acknowledge(self, lease, version):
        return self.call("acknowledge", lease=lease, version=version)

    def version(self, number, weights=None):
        """The newest weights are these; with a folder they are loaded on every server first."""
        folder = {} if weights is None else {"weights": os.path.abspath(weights)}
        return self.call("version", timeout=900, version=number, **folder)

    def rewind(self, version):
        """Goes on from the checkpoint `version`; call it at the start of every trainer."""
        return self.call("rewind", version=version)

    def status(self):
        return self._send("status", None)[0]

    def call(self, verb, timeout=120, **arguments):
        return self._send(verb, arguments, timeout)[0]

    # ---- HTTP

    def _send(self, verb, body, timeout=120):
        """The lines of the answer. A connection that breaks is tried again, the same request, until patience ends."""
        if verb == "lease":
            body = {**body, "request": uuid.uuid4().hex}
        started, pause = time.monotonic(), 0.2
        while True:
            try:
                return self._once(verb, body, timeout)
            except (OSError, http.client.HTTPException, ValueError) as broken:
                if isinstance(broken, urllib.error.HTTPError):
                    refusal = self._refusal(broken)
                    if refusal.status not in (502, 503, 504) and refusal.reason not in BUSY:
                        raise refusal from None
                    broken = refusal
                if time.monotonic() - started > self.patience:
                    raise FeedError(503, f"the feed at {self.url or self.folder} does not answer: {broken}") from broken
            time.sleep(pause)
            pause = min(5.0, pause * 1.5)

    def _once(self, verb, body, timeout):
        self._find()
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(urllib.parse.urljoin(self.url + "/", verb), data, headers)
        with _OPENER.open(request, timeout=timeout) as answer:
            lines = [json.loads(line) for line in answer.read().splitlines() if line]
        if not lines:
            raise ValueError("an empty answer")
        if verb == "lease" and lines[0]["lease"] is not None and len(lines) != 1 + lines[0]["rows"]:
            raise ValueError(f"the lease {lines[0]['lease']} announced {lines[0]['rows']} rows and {len(lines) - 1} came")
        return lines

    @staticmethod
    def _refusal(answer):
        try:
            said = json.loads(answer.read())
            return FeedError(answer.code, said["error"], said.get("reason"), said.get("fix"))
        except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
            return FeedError(answer.code, f"the feed answered HTTP {answer.code}")

    def _find(self):
        """The address, again before each attempt: a feed that was started again has another one."""
        if self.fixed:
            return
        try:
            with open(os.path.join(self.folder, ".feed", "server.json")) as f:
                found = json.load(f)
            self.url, self.token = found["url"], found["token"]
            probe = urllib.request.Request(self.url + "/status", headers={"Authorization": f"Bearer {self.token}"} if self.token else {})
            _OPENER.open(probe, timeout=30).close()
            return
        except urllib.error.HTTPError:
            return
        except (OSError, ValueError, KeyError, http.client.HTTPException) as absent:
            if not self.command or (self.child and self.child.poll() is None):
                raise OSError(f"no feed of {self.folder} answers: {absent}") from absent
        self.child = subprocess.Popen([*self.command, "feed", os.path.basename(os.path.abspath(self.folder)), "--out", self.out],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        raise OSError("the feed is starting")


# a proxy of the environment must not see the token
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
