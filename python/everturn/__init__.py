"""The Python side of Everturn: the client of a run's feed, and its rows as trainers take them (`everturn.rows`).

Standard library alone. Each error is an `EverturnError`, whose `reason` is one stable word to compare with."""
from .errors import EverturnError
from .feed import RECORDED, Batch, Feed, FeedError
from .rows import read_rows

__all__ = ["RECORDED", "Batch", "EverturnError", "Feed", "FeedError", "read_rows"]
