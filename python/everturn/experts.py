"""The experts that a mixture of experts sent tokens to when it sampled them: a trainer that routes them anew trains on other
computations than those. Needs numpy."""
import gzip
import hashlib
import os


def routing(row, place):
    """The row's experts, or None if it names none: an array [tokens - 1, layers, experts a token] of the row's input ids, all but
    the last, which no model was fed with.

    place: the run's folder, or the Feed that the row is of."""
    if "experts" not in row:
        return None
    import numpy

    read = place.experts if hasattr(place, "experts") else lambda one: read_file(one, place)
    parts, at = [], 0
    for one in row["experts"]:
        if one["start"] != at:
            raise ValueError(f"{row['id']}: experts from token {one['start']} on follow those up to token {at}")
        shape, numbers = (-1, one["layers"], one["per_token"]), numpy.frombuffer(read(one), dtype=numpy.dtype(one["type"]).newbyteorder("<"))
        parts.append(numbers.reshape(shape)[: one["rows"]])
        at += one["rows"]
    tokens = len(row["prompt_ids"]) + len(row["response_ids"])
    if sum(map(len, parts)) != tokens - 1:
        raise ValueError(f"{row['id']}: experts of {at} tokens for {tokens}")
    return numpy.concatenate(parts)


def read_file(one, folder):
    """The bytes of one of a row's `experts`, which are those of its hash."""
    with gzip.open(os.path.join(folder, one["path"])) as file:
        return checked(file.read(), one)


def checked(data, one):
    if hashlib.sha256(data).hexdigest() != one["sha256"]:
        raise ValueError(f"{one['path']} has other bytes than its name says")
    return data
