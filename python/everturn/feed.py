"""The client of a run's feed, for a trainer. rows.py hands its rows to trainers.

    with Feed("first") as feed:
        for batch in feed.batches(groups=32):
            ...                               # a step on to_trl(batch.rows), to_verl, to_areal, ...
            batch.acknowledge(version)

docs/feed.md defines the verbs and the rules for a trainer. Every verb may be repeated: a call whose answer was
lost is sent again, a lease or a rewind under the same request id, and the feed gives the same answer. `rewind` begins a
line, which the calls after it carry: once another process has rewound, they are refused (reason `stale-line`)."""
import http.client
import json
import operator
import os
import shlex
import socket
import stat
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import warnings

from .errors import EverturnError
from .experts import checked

# a proxy of the environment must not see the token
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
# Everturn's exit code of a command that cannot be carried out as it was given
USAGE = 2
# in place of the words of a command: those that Everturn has recorded for this user
RECORDED = object()
# of the feed over HTTP
PROTOCOL = "1"
# refusals that end by themselves
BUSY = ("feed-busy", "update-in-progress")


class FeedError(EverturnError):
    """The feed refused: `status` (HTTP), `error` and `fix` are its own words. Nothing has changed."""

    def __init__(self, status, error, reason=None, fix=None):
        super().__init__(error, reason, fix)
        self.status = status

    def __reduce__(self):
        return FeedError, (self.status, self.error, self.reason, self.fix)


class Batch:
    """What one lease holds. rows: neutral rows (docs/formats.md), group by group; version: the newest when leased."""

    def __init__(self, feed, head, rows, asked=None):
        self.feed, self.head, self.rows, self.asked = feed, head, rows, asked
        self.lock = threading.Lock()
        self.lease, self.groups, self.until, self.version, self.line = (head[k] for k in ("lease", "groups", "until", "version", "line"))

    def acknowledge(self, version):
        """These groups were trained into `version`. FeedError: they were not counted, and the step must be discarded."""
        if self.feed is None:
            return None
        # a renewal after it would lease other groups
        with self.lock:
            self.asked = None
            return self.feed.acknowledge(self.lease, version)

    def renew(self, seconds):
        """Holds the groups for so many seconds from now. False: the lease has ended, or is acknowledged."""
        with self.lock:
            if self.asked is None:
                return False
            again = {**self.asked, "wait": 0, "seconds": seconds}
            found = self.feed.call("lease", **again)["lease"]
            if found == self.lease:
                return True
            # others have its groups, and these are nobody's
            if found is not None:
                self.feed.call("lease", **{**again, "seconds": 0.1})
            self.asked = None
            return False

    def give_back(self):
        """Others get the groups at once, or after the lease's seconds if the feed does not answer."""
        try:
            self.renew(0.1)
        except FeedError:
            pass


class Feed:
    """run: its name, under the folder `out`, or its folder. url and token: of a feed that runs elsewhere.

    Without a url it is found: an `everturn feed` of this run (<run>/.feed/server.json), or else the local service of this
    user, which serves every run that it plays (feed.json in EVERTURN_HOME); if neither answers, `command` starts a feed: by
    default the Everturn that started the run on this machine (command.json in EVERTURN_HOME), None for none.
    patience: seconds for which an address that does not answer is asked again (a feed may be restarted meanwhile).
    line: for a second process of the same trainer, the `line` that its first process got from `rewind`.
    max_token_gap: masks tokens that are more versions older than those they are trained at (EVERTURN_MAX_TOKEN_GAP; none)."""

    def __init__(self, run=None, url=None, token=None, consumer=None, out="runs", command=RECORDED, patience=300.0, line=None, max_token_gap=None):
        if (run is None) == (url is None):
            raise ValueError("give either run= (a run's name) or url= (and token=) of a feed")
        words = shlex.split(command) if isinstance(command, str) else command if command is RECORDED else list(command or ())
        self.run, self.url, self.token, self.command, self.patience = run, url, token, words, patience
        self.folder = None if run is None else _absolute(run if _is_folder(run) else os.path.join(out, run))
        self.out = out if self.folder is None else os.path.dirname(self.folder)
        self.consumer = consumer or f"{os.path.basename(os.sys.argv[0]) or 'python'}-{os.getpid()}"
        given = os.environ.get("EVERTURN_MAX_TOKEN_GAP") if max_token_gap is None else max_token_gap
        self.max_token_gap = None if given in (None, "") else int(given)
        self.child, self.fixed, self.line = None, url is not None, line
        self.finding, self.at_close = threading.Lock(), []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Stops the feed server that this client started; leases and versions stay."""
        for end in list(self.at_close):
            end()
        if self.child and self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(30)
            except subprocess.TimeoutExpired:
                self.child.kill()
        self.child = None

    # ---- the verbs

    def lease(self, groups, wait=30.0, least=None, seconds=600, request=None, stop=lambda: False):
        """-> Batch; or None when the run is finished and every group is trained or left out. Waits as long as it takes.
        request: an id of the caller's own, which gets the same lease again while it is open. stop: asked after each
        `wait`; None too when it says True."""
        while True:
            given = {"consumer": self.consumer, "groups": groups, "wait": wait, "seconds": seconds, "least": least, "request": request, "max_token_gap": self.max_token_gap}
            asked = {"request": uuid.uuid4().hex, **{name: value for name, value in given.items() if value is not None}}
            lines = self._send("lease", asked, timeout=wait + 60)
            head, rows = lines[0], lines[1:]
            if head["lease"] is not None:
                return Batch(self, head, rows, asked)
            if head["why"] == "finished" or stop():
                return None

    def batches(self, groups, **lease):
        """Yields a Batch after another until the run is finished. The caller acknowledges each before the next."""
        while (batch := self.lease(groups, **lease)) is not None:
            yield batch

    def acknowledge(self, lease, version):
        return self.call("acknowledge", lease=lease, version=version)

    def version(self, number, weights=None, adapter=None):
        """The newest weights are these; with a folder, or that of an adapter, they are loaded on every server first; without,
        the trainer loads them itself."""
        named = {"weights": weights, "adapter": adapter}
        folder = {kind: os.path.abspath(path) for kind, path in named.items() if path is not None}
        answer = self.call("version", timeout=900, version=number, **folder)
        if "warning" in answer:
            warnings.warn(f"version {number}: {answer['warning']}", stacklevel=2)
        return answer

    def rewind(self, version):
        """Goes on from the checkpoint `version`; call it at the start of every trainer. Whatever process had the run before
        is refused from now on."""
        answer = self.call("rewind", version=version)
        self.line = answer["line"]
        return answer

    def status(self):
        return self._send("status", None)[0]

    def experts(self, one):
        """The bytes of one of a row's `experts` (experts.py)."""
        return checked(self._send(one["path"], None), one)

    def call(self, verb, timeout=120, **arguments):
        return self._send(verb, arguments, timeout)[0]

    # ---- HTTP

    def _send(self, verb, body, timeout=120):
        """The lines of the answer. A connection that breaks is tried again, the same request, until patience ends."""
        if verb == "rewind":
            body = {"request": uuid.uuid4().hex, **body}
        if self.line is not None and verb in ("lease", "acknowledge", "version"):
            body = {**body, "line": self.line}
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
        with self.finding:
            self._find()
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        # A number of numpy is a number.
        data = None if body is None else json.dumps(body, default=operator.index).encode()
        request = urllib.request.Request(urllib.parse.urljoin(self.url + "/", verb), data, headers)
        with _OPENER.open(request, timeout=timeout) as answer:
            _check_protocol(answer.headers.get("Everturn-Protocol"))
            if answer.headers.get_content_type() == "application/octet-stream":
                return answer.read()
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
        for look in (self._own, self._of_service):
            try:
                self.url, self.token = look()
                headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
                _OPENER.open(urllib.request.Request(self.url + "/status", headers=headers), timeout=30).close()
                return
            except urllib.error.HTTPError as refused:
                # it is ours and busy; a refusal is of a stranger that has the address now, or of a service without this run
                absent = self._refusal(refused)
                refused.close()
                if absent.status >= 500:
                    return
            except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException) as broken:
                absent = broken
        record = os.path.join(self.folder, "run.json")
        if "://" not in self.folder and not os.path.isfile(record):
            raise FeedError(404, f"There is no run {self.run!r}: {record} is not there.", "no-such-run", "`out` names the folder of the runs.")
        if self.child and self.child.poll() == USAGE:
            raise FeedError(404, f"`{' '.join(self.child.args)}` was refused; its own words are on stderr.")
        words = recorded_command() if self.command is RECORDED else self.command
        if not words or (self.child and self.child.poll() is None):
            start = shlex.join(["everturn", "feed", os.path.basename(self.folder), "--out", self.out])
            raise OSError(f"no feed of {self.folder} answers: {absent}; start it: `{start}`") from absent
        self.child = subprocess.Popen([*words, "feed", os.path.basename(self.folder), "--out", self.out, "--until-stdin-ends"],
                                      stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        raise OSError("the feed is starting")

    def _own(self):
        # of a run in a bucket the token stays on this machine
        near = os.path.join(_home(), "feed", os.path.basename(self.folder)) if "://" in self.folder else os.path.join(self.folder, ".feed")
        found = _read(os.path.join(near, "server.json"))
        return found["url"], found["token"]

    def _of_service(self):
        found = _read(os.path.join(_home(), "feed.json"))
        if found["host"] != socket.gethostname():
            raise OSError(f"the local service runs on another machine, {found['host']}")
        return f"{found['url']}/{urllib.parse.quote(self.folder, safe='')}", found["token"]


def _check_protocol(spoken):
    if spoken not in (None, PROTOCOL):
        raise FeedError(505, f"The feed speaks protocol {spoken}, and this package {PROTOCOL}.", "other-protocol", "Install the package of the same Everturn.")


def _read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def _is_folder(run):
    """A run's folder rather than its name: a folder of that name which is no run is passed by."""
    return "://" in run or os.sep in run or os.path.isfile(os.path.join(run, "run.json"))


def _absolute(folder):
    """A place in a bucket is absolute."""
    return folder.rstrip("/") if "://" in folder else os.path.abspath(folder)


def recorded_command():
    """The command of the Everturn that started a run here; none if somebody else could have written it."""
    path = os.path.join(_home(), "command.json")
    try:
        facts = os.lstat(path)
        words = _read(path) if stat.S_ISREG(facts.st_mode) and facts.st_uid == os.getuid() and not facts.st_mode & 0o022 else []
    except (OSError, ValueError):
        return []
    plain = isinstance(words, list) and all(isinstance(word, str) and os.path.isabs(word) for word in words)
    return words if plain else []


def _home():
    """Where the local service has its files, as Everturn finds it."""
    state = os.environ.get("XDG_STATE_HOME", "")
    state = state if os.path.isabs(state) else os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.abspath(os.environ.get("EVERTURN_HOME") or os.path.join(state, "everturn"))
