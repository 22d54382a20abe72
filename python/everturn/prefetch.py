"""Batches for a trainer that is busy: the next one is leased while the caller trains, leases are renewed until they are
acknowledged, and of several ranks one alone speaks to the feed."""
import queue
import sys
import threading

from .errors import EverturnError
from .feed import Batch


def ahead(feed, groups, seconds=600.0, wait=5.0, **lease):
    """Yields batches as `feed.batches` does, with one more leased beside the caller's. Each is renewed every third of
    `seconds` until it is acknowledged; the one that was not handed out is given back at the end."""
    ready, held, stop = queue.Queue(maxsize=1), [], threading.Event()

    def fetch():
        try:
            while not stop.is_set():
                batch = feed.lease(groups, wait=wait, seconds=seconds, stop=stop.is_set, **lease)
                if batch is not None:
                    held.append(batch)
                put(batch)
                if batch is None:
                    return
        except Exception as error:  # the caller's thread raises it
            put(error)

    def put(one):
        while not stop.is_set():
            try:
                return ready.put(one, timeout=0.1)
            except queue.Full:
                pass
        if isinstance(one, Batch):
            one.give_back()

    def renew():
        while not stop.wait(seconds / 3):
            for batch in list(held):
                try:
                    if not batch.renew(seconds):
                        held.remove(batch)
                except EverturnError:
                    held.remove(batch)  # its acknowledgement says why

    def end():
        stop.set()
        for thread in threads:
            thread.join()
        while not ready.empty():
            one = ready.get()
            if isinstance(one, Batch):
                one.give_back()

    threads = [threading.Thread(target=work, daemon=True) for work in (fetch, renew)]
    feed.at_close.append(end)
    for thread in threads:
        thread.start()
    try:
        while (one := ready.get()) is not None:
            if isinstance(one, Exception):
                raise one
            yield one
    finally:
        end()
        feed.at_close.remove(end)


def on_every_rank(batches=None):
    """Yields the batches of rank 0 on every rank, by torch.distributed where it is initialised; elsewhere `batches` itself.
    `batches` is read on rank 0 alone, and its errors are raised on each. An acknowledgement on another rank does nothing."""
    torch = sys.modules.get("torch")
    ranks = getattr(torch, "distributed", None)
    if ranks is None or not ranks.is_available() or not ranks.is_initialized():
        yield from batches
        return
    source = iter(batches) if ranks.get_rank() == 0 else None
    while True:
        batch = failure = None
        if source is not None:
            try:
                batch = next(source, None)
            except Exception as error:  # told to every rank, and raised here as it is
                failure = error
        known = failure if failure is None or isinstance(failure, EverturnError) else EverturnError(repr(failure), "rank-0-failed")
        told = [known or (batch and (batch.head, batch.rows))]
        ranks.broadcast_object_list(told, src=0)
        if isinstance(told[0], EverturnError):
            raise failure or told[0]
        if told[0] is None:
            return
        yield batch or Batch(None, *told[0])
