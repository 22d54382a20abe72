"""Runs, started and read by Everturn's own library: docs/library.md.

    run = everturn.run("problems.jsonl", model="vllm:http://gpu:8000", num_turns=4)    # or start(…), or open_run("first")
    for rollout in run.rollouts():            # as they end
        print(rollout.query, rollout.reward, rollout.texts()["messages"][-1])
    run.to_pandas(); run.stats(at_turn=1); run.export("areal", "first.jsonl")

Options have the names of the flags of `everturn run`, `stats`, `export` and `check`, with `_` for `-`. Each error is an EverturnError."""
import contextlib
import dataclasses
import html
import os
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .errors import EverturnError
from .feed import RECORDED
from .process import process_of
from .types import Row


@dataclasses.dataclass(frozen=True)
class Rollout:
    """An ended rollout: its facts. Turns, texts and tokens are read when they are asked for; EverturnError where a record is damaged."""

    query: str
    # 0-based place of its row; None for a rollout that a client started directly
    index: Optional[int]
    sample: int
    # 1-based
    attempt: int
    title: str
    # complete, undecided, failed or cancelled; None where the end cannot be read
    outcome: Optional[str]
    stop_reason: Optional[str]
    reason: Optional[str]
    # by answer: 1 right, 0 wrong, None not judged
    success: List[Optional[int]]
    # by turn, of its verdict
    reasons: List[str]
    extracted: Optional[str]
    # G_1; None unless it is complete
    reward: Optional[float]
    # output tokens by turn; None where the server gave text alone
    tokens: List[Optional[int]]
    versions: Optional[Tuple[int, int]]
    # epoch milliseconds
    ended_at: Optional[int]
    steered: bool = False
    # the record that cannot be read, by its file, and what is wrong with it
    flaw: Optional[str] = None
    run: "Run" = dataclasses.field(default=None, repr=False, compare=False)

    def turns(self) -> List[Dict[str, Any]]:
        """By turn: verdict, reward, counts of tokens, versions, times, calls of tools."""
        return self._read("turns")

    def texts(self) -> Dict[str, Any]:
        """{"messages": the conversation, "solutions": the references}."""
        return self._read("texts")

    def trajectory(self) -> Dict[str, Any]:
        """All its records: per turn contextIds, outputIds, logprobs, versions, verdict."""
        return self._read("trajectory")

    def rows(self) -> List[Row]:
        """Its tokens with mask, logprobs and versions; none unless it is complete and its model gave token ids."""
        return self._read("rows-of")

    def _read(self, method):
        return self.run._call(method, query=self.query, sample=self.sample, attempt=self.attempt)


class Run:
    """name: of its folder; folder: absolute, or s3://…; total: its rollouts, 0 where nobody knows; found: of a run that was
    started, `new`, `attached` or `ended`."""

    def __init__(self, process, run: str, folder: str, total: int, found: Optional[str] = None):
        self.name, self.folder, self.total, self.found, self._process = run, folder, total, found, process

    def rollouts(self, follow: bool = True) -> Iterator[Rollout]:
        """Those that have ended, in that order, then each as it ends; follow=False: only those that have ended by now."""
        for facts in self._stream("rollouts", {"follow": follow}):
            yield Rollout(**{_snake(name): value for name, value in facts.items()}, run=self)

    def rows(self, **options) -> Iterator[Row]:
        """The token-aligned rows of `everturn export --format rows`; texts=True: with messages, answers and feedback."""
        return self._stream("rows", _options(options))

    def to_pandas(self, rows: bool = False, **options):
        """A DataFrame of the rollouts that have ended; rows=True: of rows(**options)."""
        import pandas

        if rows:
            return pandas.DataFrame(self.rows(**options))
        facts = [one.name for one in dataclasses.fields(Rollout) if one.name != "run"]
        found = ({name: getattr(rollout, name) for name in facts} for rollout in self.rollouts(follow=False))
        return pandas.DataFrame(found, columns=facts)

    def to_datasets(self, **options):
        """A datasets.Dataset of rows(**options), read as it is written to its cache."""
        import datasets

        return datasets.Dataset.from_generator(_rows_of, gen_kwargs={"folder": self.folder, "words": self._process.words, "options": options})

    def export(self, format: str, to: str, overwrite: bool = False, **options) -> Dict[str, Any]:
        """Writes it in a trainer's format, as `everturn export`; `to`: a file, of logs a folder. Returns how many, and what was left out."""
        return self._call("export", format=format, to=os.fspath(to), options={"overwrite": overwrite, **_options(options)})

    def stats(self, **options) -> Dict[str, Any]:
        """What `everturn stats --json` prints: k=[1, 4], at_turn=1, by="level", logprobs=True, …"""
        return self._call("stats", options=_options(options))

    def check(self, on_breach=None, **options) -> Dict[str, Any]:
        """What `everturn check --json` prints, "breaches" among it; each breach goes to on_breach as it is found."""
        return self._call("check", on_event=on_breach, options=_options(options))

    def judge(self, **options) -> Dict[str, Any]:
        """What `everturn judge --run --json` prints: the new verdicts are in a file beside its own. name, environment."""
        return self._call("judge", options=_options(options))

    def status(self) -> Dict[str, Any]:
        """How far it has come: state, total, done, inFlight, counts, waitingFor, …"""
        return self._call("status")

    def result(self, on_wait=None) -> Dict[str, Any]:
        """Waits for its end: its status then. While nothing happens, what is waited for goes to on_wait, each text once."""
        return self._call("result", on_event=on_wait and (lambda event: on_wait(event["why"])))

    def pause(self) -> None:
        """Begins no further rollout; those in flight are played to their end."""
        self._call("pause")

    def resume(self) -> None:
        self._call("resume")

    def tune(self, max_concurrent: int) -> None:
        """Rollouts in flight at once, from now on."""
        self._call("tune", options=_options({"max_concurrent": max_concurrent}))

    def cancel(self) -> None:
        """Asks for its end, which `result()` waits for; finished turns stay stored."""
        self._call("cancel")

    def fork(self, query: str, from_turn: int, **options) -> "Run":
        """A new run that plays a rollout again from a turn on: sample, attempt, samples, say, name, by, reason."""
        return self._forked("fork", query=query, from_turn=from_turn, **options)

    def extend(self, query: str, turns: int, **options) -> "Run":
        """A new run that plays further turns of a rollout: sample, attempt, say, name, by, reason."""
        return self._forked("extend", query=query, turns=turns, **options)

    def update_weights(self, weights=None, weight_version=None, on_server=None, adapter=None, **options) -> Dict[str, Any]:
        """Loads the weights of a folder, or an adapter, into each of its servers, and waits for that; `whole` says whether all
        have them. rewind, api_key_env."""
        folders = {name: os.fspath(folder) for name, folder in (("from", weights), ("adapter", adapter)) if folder is not None}
        given = _options({**folders, "weight_version": weight_version, **options})
        return self._call("updateWeights", on_event=on_server, options=given)

    def _forked(self, method, **options):
        return Run(self._process, **self._call(method, options=_options(options)))

    def _call(self, method, on_event=None, **params):
        return self._process.call(method, on_event, name=self.folder, cwd=os.getcwd(), **params)

    def _stream(self, method, options):
        stream = self._call(method, options=options)["stream"]
        child = self._process.child
        try:
            while True:
                if self._process.child is not child:
                    raise EverturnError("The process that read the run has ended.", "no-command")
                found = self._process.call("next", stream=stream)
                yield from found["items"]
                if found["done"]:
                    return
        finally:
            if self._process.child is child:
                self._process.call("close", stream=stream)

    def __repr__(self):
        return f"Run({self.name!r}, {self.folder!r})"

    def _repr_html_(self):
        return html_of(self.name, self.stats())


def open_run(name: str, out: str = "runs", command=RECORDED) -> Run:
    """A run by its name under `out`, by its folder, or by its place in a bucket. command: the words that call Everturn."""
    process = process_of(command)
    return Run(process, **process.call("open", name=os.fspath(name), out=out, cwd=os.getcwd()))


def start(dataset: str, out: str = "runs", command=RECORDED, on_event=None, **options) -> Run:
    """Starts a run of a file of problems, or finds the one that the same call started; it goes on without this process. options:
    name, strict, config (a file), and every setting: num_turns=4, model="vllm:http://gpu:8000", tool=["python"]."""
    process = process_of(command)
    given = {"dataset": os.fspath(dataset), "out": out, "cwd": os.getcwd(), **_options(options)}
    return Run(process, **process.call("start", on_event, **given))


def run(dataset: str, progress: bool = True, **options) -> Run:
    """Starts it as `start` does, and waits for its end, with a bar where tqdm is installed. An interrupt leaves the run to go on."""
    started = start(dataset, **options)
    with _bar(started) if progress else contextlib.nullcontext() as bar:
        for rollout in started.rollouts():
            if bar is not None and rollout.attempt == 1:
                bar.update()
    return started


def evaluate(benchmarks, models=(), vary=None, out: str = "runs", command=RECORDED, on_event=None, **options) -> Dict[str, Any]:
    """Benchmarks x models, as `everturn eval`: waits for the end of every cell, each of them a run. options: name, repeats, limit,
    config, and every setting. Returns {"evaluation": its name, "benchmarks": a table each, "settings", "differing",
    "refused": cells that cannot be played, each with "reason", "message" and "fix"}."""
    given = {"benchmarks": _texts(benchmarks), "models": _texts(models), "vary": vary, "out": out, "cwd": os.getcwd(), **options}
    return process_of(command).call("evaluate", on_event, **_options(given))


def _texts(given):
    return [given] if isinstance(given, str) else [os.fspath(one) for one in given]


def _bar(started):
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return contextlib.nullcontext()
    return tqdm(total=started.total or None, desc=started.name, unit="rollout")


def _rows_of(folder, words, options):
    yield from open_run(folder, command=words).rows(**options)


def html_of(name, stats):
    """The table of a notebook: accuracy by turn. Names are of people and files: nothing in them is markup."""
    share = lambda estimate: "–" if estimate["value"] is None else f"{100 * estimate['value']:.1f} %"  # noqa: E731
    cells = [(turn["turn"], turn["judged"], turn["right"], share(turn["accuracy"]), share(turn["rightBy"])) for turn in stats["byTurn"]]
    titles = ("turn", "judged", "right", "accuracy", "right by then")
    line = lambda tag, values: "<tr>" + "".join(f"<{tag}>{html.escape(str(value))}</{tag}>" for value in values) + "</tr>"  # noqa: E731
    left = ", ".join(f"{n} {outcome}" for outcome, n in stats["outcomes"].items() if n > 0)
    head = f"{name}: {stats['ended']} of {max(stats['total'], stats['ended'])} rollouts ended ({left or 'none'}); {stats['model'] or 'no model'}"
    return f"<p>{html.escape(head)}</p><table>{line('th', titles)}{''.join(line('td', one) for one in cells)}</table>"


def _options(given):
    """at_turn -> atTurn; without what is None."""
    return {_camel(name): value for name, value in given.items() if value is not None}


def _camel(name):
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _snake(name):
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
