"""The Python side of Everturn: the client of a run's feed, its rows as trainers take them (`everturn.rows`), and
runs, started (`run`, `start`) and read (`open_run`).

Standard library alone. Each error is an `EverturnError`, whose `reason` is one stable word to compare with."""
from .environments import Environment
from .errors import EverturnError
from .feed import RECORDED, Batch, Feed, FeedError
from .prefetch import ahead, on_every_rank
from .rows import read_rows
from .runs import Rollout, Run, evaluate, open_run, run, start
from .sessions import Session, sessions
from .tools import Outage, call_key, idempotent, once, pure
from .types import Row

__all__ = ["RECORDED", "Batch", "Environment", "EverturnError", "Feed", "FeedError", "Outage", "Rollout", "Row", "Run", "Session", "ahead",
           "call_key", "evaluate", "idempotent", "on_every_rank", "once", "open_run", "pure", "read_rows", "run", "sessions", "start"]
