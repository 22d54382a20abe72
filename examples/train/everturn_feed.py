"""Everturn for a trainer, in one file: a client of a run's feed, and adapters from its rows to what trainers take.

Needs Python 3.9 and nothing else at import; a framework is imported inside the function that is asked for its objects.

    with Feed("first") as feed:
        for batch in feed.batches(groups=32):
            ...                               # a step on to_trl(batch.rows), to_verl, to_areal, ...
            batch.acknowledge(version)

The client: docs/feed.md defines the verbs and the rules for a trainer. Every verb may be repeated: a call whose answer was
lost is sent again, a lease or a rewind under the same request id, and the feed gives the same answer. `rewind` begins a
line, which the calls after it carry: once another process has rewound, they are refused (reason `stale-line`).

The adapters: pure functions of the neutral rows of a lease, or of `everturn export <run> --format rows` (`read_rows`):
nothing is tokenised again, and no field of a row is changed. A trainer that sums or discounts over tokens itself gets
r_t on the last token of each answer (`token_rewards`); one that takes a single number gets the return of turn 1, which is
the discounted sum of all r_t; one that takes finished advantages needs rows that have them: those of the feed, and those
of an export with `--advantages mean` or `std`."""
import http.client
import json
import operator
import os
import shlex
import socket
import stat
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

# a proxy of the environment must not see the token
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
# Everturn's exit code of a command that cannot be carried out as it was given
USAGE = 2
# in place of the words of a command: those that Everturn has recorded for this user
RECORDED = object()
# refusals that end by themselves
BUSY = ("feed-busy", "update-in-progress")


class FeedError(Exception):
    """The feed refused: `status` (HTTP), `error` and `fix` are its own words. Nothing has changed."""

    def __init__(self, status, error, reason=None, fix=None):
        super().__init__(f"{error}{f' {fix}' if fix else ''}")
        self.status, self.error, self.reason, self.fix = status, error, reason, fix


class Batch:
    """What one lease holds. rows: neutral rows (docs/formats.md), group by group; version: the newest when leased."""

    def __init__(self, feed, head, rows):
        self.feed, self.rows = feed, rows
        self.lease, self.groups, self.until, self.version, self.line = (head[k] for k in ("lease", "groups", "until", "version", "line"))

    def acknowledge(self, version):
        """These groups were trained into `version`. FeedError: they were not counted, and the step must be discarded."""
        return self.feed.acknowledge(self.lease, version)


class Feed:
    """run: its name, under the folder `out`, or its folder. url and token: of a feed that runs elsewhere.

    Without a url it is found: an `everturn feed` of this run (<run>/.feed/server.json), or else the local service of this
    user, which serves every run that it plays (feed.json in EVERTURN_HOME); if neither answers, `command` starts a feed: by
    default the Everturn that started the run on this machine (command.json in EVERTURN_HOME), None for none.
    patience: seconds for which an address that does not answer is asked again (a feed may be restarted meanwhile).
    line: for a second process of the same trainer, the `line` that its first process got from `rewind`."""

    def __init__(self, run=None, url=None, token=None, consumer=None, out="runs", command=RECORDED, patience=300.0, line=None):
        if (run is None) == (url is None):
            raise ValueError("give either run= (a run's name) or url= (and token=) of a feed")
        words = shlex.split(command) if isinstance(command, str) else command if command is RECORDED else list(command or ())
        self.run, self.url, self.token, self.command, self.patience = run, url, token, words, patience
        self.folder = None if run is None else _absolute(run if _is_folder(run) else os.path.join(out, run))
        self.out = out if self.folder is None else os.path.dirname(self.folder)
        self.consumer = consumer or f"{os.path.basename(os.sys.argv[0]) or 'python'}-{os.getpid()}"
        self.child, self.fixed, self.line = None, url is not None, line

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

    def lease(self, groups, wait=30.0, least=None, seconds=600, request=None):
        """-> Batch; or None when the run is finished and every group is trained or left out. Waits as long as it takes.
        request: an id of the caller's own, which gets the same lease again while it is open."""
        while True:
            asked = {"consumer": self.consumer, "groups": groups, "wait": wait, "seconds": seconds, "least": least, "request": request}
            lines = self._send("lease", {name: value for name, value in asked.items() if value is not None}, timeout=wait + 60)
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
        """Goes on from the checkpoint `version`; call it at the start of every trainer. Whatever process had the run before
        is refused from now on."""
        answer = self.call("rewind", version=version)
        self.line = answer["line"]
        return answer

    def status(self):
        return self._send("status", None)[0]

    def call(self, verb, timeout=120, **arguments):
        return self._send(verb, arguments, timeout)[0]

    # ---- HTTP

    def _send(self, verb, body, timeout=120):
        """The lines of the answer. A connection that breaks is tried again, the same request, until patience ends."""
        if verb in ("lease", "rewind"):
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
        self._find()
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        # A number of numpy is a number.
        data = None if body is None else json.dumps(body, default=operator.index).encode()
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
        if self.child and self.child.poll() == USAGE:
            raise FeedError(404, f"`{' '.join(self.child.args)}` was refused; its own words are on stderr.")
        words = _recorded() if self.command is RECORDED else self.command
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


def _read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def _is_folder(run):
    """A run's folder rather than its name: a folder of that name which is no run is passed by."""
    return "://" in run or os.sep in run or os.path.isfile(os.path.join(run, "run.json"))


def _absolute(folder):
    """A place in a bucket is absolute."""
    return folder.rstrip("/") if "://" in folder else os.path.abspath(folder)


def _recorded():
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


# ---- adapters


def read_rows(path):
    """Every row of an export, one a line; a line that is torn or not a row is a ValueError that names it."""
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                if not line.endswith("\n"):
                    raise ValueError("the line is cut off")
                row = json.loads(line)
                check(row)
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path}, line {number}: {type(error).__name__}: {error}") from error
            yield row


ALIGNED = ("response_ids", "response_mask", "logprobs", "versions", "turn_ids")


def check(row):
    """Raises ValueError where a row's lists do not belong together."""
    length = len(row["response_ids"])
    for name in ALIGNED:
        if len(row[name]) != length:
            raise ValueError(f"{row['id']}: {name} has {len(row[name])} entries for {length} tokens")
    turns = len(row["turn_rewards"])
    for name in ("turn_ends", "turn_returns", "turn_success", "turn_finish"):
        if len(row[name]) != turns:
            raise ValueError(f"{row['id']}: {name} has {len(row[name])} entries for {turns} turns")
    for at, (mask, turn) in enumerate(zip(row["response_mask"], row["turn_ids"])):
        if (mask == 1) != (turn >= 0):
            raise ValueError(f"{row['id']}: token {at} has mask {mask} and turn {turn}")


def input_ids(row):
    return row["prompt_ids"] + row["response_ids"]


def on_all_tokens(row, values, fill=0):
    """A list over the response as one over all tokens."""
    return [fill] * len(row["prompt_ids"]) + list(values)


def token_rewards(row):
    """r_t on the last token of turn t's answer, 0.0 elsewhere. An answer without a token gives its reward to the token
    before its place, or to the first: the sum is always that of the turns."""
    rewards = [0.0] * len(row["response_ids"])
    if not rewards:
        raise ValueError(f"{row['id']} has no response token to carry a reward")
    for end, reward in zip(row["turn_ends"], row["turn_rewards"]):
        rewards[max(end - 1, 0)] += reward
    return rewards


def token_advantages(row):
    """The turn's advantage on every token of its answer, 0.0 elsewhere."""
    advantages = row.get("turn_advantages")
    if advantages is None:
        raise ValueError(f"{row['id']} has no advantages: export with --advantages mean or std")
    return [advantages[turn] if turn >= 0 else 0.0 for turn in row["turn_ids"]]


def action_ranges(row):
    """[start, end) of each run of sampled tokens in `input_ids`."""
    ranges, prompt = [], len(row["prompt_ids"])
    for at, mask in enumerate(row["response_mask"]):
        if not mask:
            continue
        if ranges and ranges[-1][1] == prompt + at and row["turn_ids"][at] == row["turn_ids"][at - 1]:
            ranges[-1] = (ranges[-1][0], prompt + at + 1)
        else:
            ranges.append((prompt + at, prompt + at + 1))
    return ranges


def to_trl(rows):
    """What a `rollout_func` of TRL's GRPOTrainer returns: one entry per row, in order. `reward` reaches the reward
    functions as a keyword list; `env_mask` becomes the loss mask."""
    return {
        "prompt_ids": [row["prompt_ids"] for row in rows],
        "completion_ids": [row["response_ids"] for row in rows],
        "logprobs": [row["logprobs"] for row in rows],
        "env_mask": [row["response_mask"] for row in rows],
        "reward": [row["reward"] for row in rows],
        "row_id": [row["id"] for row in rows],
    }


def to_verl(row):
    """The fields of verl's AgentLoopOutput, and the tensors beside it. `AgentLoopOutput(**to_verl(row)["output"])` has
    one score for the rollout; `rm_scores` has r_t at each turn's end, for a trainer that sums over tokens."""
    fields = {"min_global_steps": row["version_start"], "max_global_steps": row["version_end"]}
    return {
        "output": {
            "prompt_ids": row["prompt_ids"],
            "response_ids": row["response_ids"],
            "response_mask": row["response_mask"],
            "response_logprobs": row["logprobs"],
            "reward_score": row["reward"],
            "num_turns": 2 * len(row["turn_rewards"]),
            "metrics": {},
            "extra_fields": {**fields, "turn_scores": row["turn_rewards"]},
        },
        "rm_scores": token_rewards(row),
        "uid": verl_uid(row["group"]),
    }


def verl_uid(group):
    """verl finds a group by cutting its key at the first `_`, so a group's id is hashed."""
    import hashlib

    return hashlib.sha256(group.encode("utf-8")).hexdigest()[:32]


def to_areal(rows, tensor=None):
    """AReaL's RolloutWorkflow result for one group: tensors [B, L], padded on the right. `tensor(values, dtype_name)`
    makes one; without it torch is imported."""
    if tensor is None:
        import torch

        def tensor(values, dtype):
            return torch.tensor(values, dtype=getattr(torch, dtype))

    length = max(len(input_ids(row)) for row in rows)

    def padded(values, fill):
        return [list(value) + [fill] * (length - len(value)) for value in values]

    def over(name, fill):
        return padded([on_all_tokens(row, row[name], fill) for row in rows], fill)

    whole = [input_ids(row) for row in rows]
    return {
        "input_ids": tensor(padded(whole, 0), "int32"),
        "attention_mask": tensor(padded([[True] * len(ids) for ids in whole], False), "bool"),
        "loss_mask": tensor(over("response_mask", 0), "int32"),
        "logprobs": tensor(over("logprobs", 0.0), "float32"),
        "versions": tensor(over("versions", -1), "int32"),
        "turn_ids": tensor(over("turn_ids", -1), "int32"),
        "rewards": tensor([row["reward"] for row in rows], "float32"),
    }


def to_skyrl(rows, trajectory_id=None):
    """SkyRL's GeneratorOutput: token-level rewards, r_t at each turn's end. `trajectory_id(instance, repetition)` makes
    SkyRL's TrajectoryID; without it there are none."""
    made = {
        "prompt_token_ids": [row["prompt_ids"] for row in rows],
        "response_ids": [row["response_ids"] for row in rows],
        "rewards": [token_rewards(row) for row in rows],
        "loss_masks": [row["response_mask"] for row in rows],
        "stop_reasons": [row["finish"] for row in rows],
        "rollout_logprobs": [row["logprobs"] for row in rows],
        "rollout_metrics": None,
    }
    if trajectory_id is not None:
        made["trajectory_ids"] = [trajectory_id(row["group"], row["sample"]) for row in rows]
    return made


SLIME_STATUS = {"stop": "completed", "length": "truncated", "abort": "aborted"}


def to_slime(row, group_index=0, index=0):
    """The dict that slime's and miles' `Sample.from_dict` takes; lists of groups of these are a rollout function's
    `samples`."""
    return {
        "group_index": group_index,
        "index": index,
        "tokens": input_ids(row),
        "response_length": len(row["response_ids"]),
        "loss_mask": row["response_mask"],
        "rollout_log_probs": row["logprobs"],
        "reward": row["reward"],
        "status": SLIME_STATUS[row["finish"]],
        "weight_versions": [str(version) for version in turn_versions(row)],
        "metadata": {"id": row["id"], "group": row["group"], "turn_rewards": row["turn_rewards"]},
    }


def turn_versions(row):
    """The newest weight version of each turn that has a token."""
    newest = {}
    for turn, version in zip(row["turn_ids"], row["versions"]):
        if turn >= 0:
            newest[turn] = max(version, newest.get(turn, version))
    return [newest[turn] for turn in sorted(newest)]


def to_openrlhf(row):
    """What an OpenRLHF AgentExecutor's `execute` returns for one sample."""
    return {
        "observation_tokens": input_ids(row),
        "action_ranges": action_ranges(row),
        "rollout_log_probs": on_all_tokens(row, row["logprobs"], 0.0),
        "reward": row["reward"],
        "scores": 1.0 if row["success"] else 0.0,
        "extra_logs": {"turns": len(row["turn_rewards"])},
        "truncated": row["finish"] == "length",
    }


def to_tinker(row, dict_only=False):
    """tinker's Datum: the input without the last token, and targets, logprobs, advantages and mask of its length."""
    ids = input_ids(row)
    shifted = {
        "target_tokens": ("int64", ids[1:]),
        "logprobs": ("float32", on_all_tokens(row, row["logprobs"], 0.0)[1:]),
        "advantages": ("float32", on_all_tokens(row, token_advantages(row), 0.0)[1:]),
        "mask": ("float32", on_all_tokens(row, [float(one) for one in row["response_mask"]], 0.0)[1:]),
    }
    datum = {
        "model_input": {"chunks": [{"type": "encoded_text", "tokens": ids[:-1]}]},
        "loss_fn_inputs": {
            name: {"data": data, "dtype": dtype, "shape": [len(data)]} for name, (dtype, data) in shifted.items()
        },
    }
    return datum if dict_only else tinker_datum(datum)


def tinker_datum(datum):
    """The object of a Datum's JSON, as `everturn export --format tinker` writes it too."""
    from tinker.types import Datum, ModelInput, TensorData

    inputs = {name: TensorData(**value) for name, value in datum["loss_fn_inputs"].items()}
    return Datum(model_input=ModelInput.model_validate(datum["model_input"]), loss_fn_inputs=inputs)
