"""Rows with advantages as prime-rl's micro batches: rollouts/step_N/rank_R.bin, MessagePack, each struct a list in field order.
The layout is that of PrimeIntellect-ai/prime-rl@559b4477, src/prime_rl/transports/rollouts/types.py, and changes often. Every
rank of a step has the same number of micro batches; a sample beyond the trainer's sequence length is cut there, as prime-rl
does. It gets no ids, rewards or versions: its steps are trained in order, from 1 on. Holds one step."""
import os
import shutil

from .rows import input_ids, on_all_tokens, token_advantages

ENV = "everturn"  # "all" is reserved for totals
INPUT_IDS, LOSS_MASK, ADVANTAGES = 0, 1, 2


def micro_batch(row, seq_len):
    """The fields of MicroBatch up to the last that is not optional."""
    ids = input_ids(row)[:seq_len]
    length = len(ids)
    # The trainer divides its logits by it. Greedy answers and raw logprobs are of temperature 1.
    temperature = 1.0 if row["logprobs_of"] == "raw" or row["temperature"] == 0 else row["temperature"]
    return [
        ids,
        [mask == 1 for mask in on_all_tokens(row, row["response_mask"])[:length]],
        on_all_tokens(row, map(float, token_advantages(row)), 0.0)[:length],
        on_all_tokens(row, map(float, row["logprobs"]), 0.0)[:length],
        list(range(length)),
        [length],
        [float(temperature)] * length,
        [ENV] * length,
        [length],
    ]


def steps(rows, seq_len, ranks=1, groups_per_step=32, first_step=1):
    """Yields (step, its micro batches by rank) of whole groups, in the order of the rows."""
    samples, groups, step = [], set(), first_step
    for row in rows:
        if row["group"] not in groups and len(groups) >= groups_per_step:
            yield step, packed(samples, seq_len, ranks)
            samples, groups, step = [], set(), step + 1
        groups.add(row["group"])
        samples.append(micro_batch(row, seq_len))
    if samples:
        yield step, packed(samples, seq_len, ranks)


def length_of(batch):
    return len(batch[INPUT_IDS])


def packed(samples, seq_len, ranks):
    """First fit decreasing into micro batches, then the longest to the lightest rank that has a place."""
    bins = []
    for sample in sorted(samples, key=length_of, reverse=True):
        free = next((one for one in bins if sum(map(length_of, one)) + length_of(sample) <= seq_len), None)
        if free is None:
            bins.append([sample])
        else:
            free.append(sample)
    # positions restart at 0 in each sample of a batch
    batches = [[sum(fields, []) for fields in zip(*samples_of)] for samples_of in bins]
    each = -(-len(batches) // ranks)
    filler = list(min(batches, key=length_of))
    # a copy on which nothing is trained
    filler[LOSS_MASK], filler[ADVANTAGES] = [False] * length_of(filler), [0.0] * length_of(filler)
    batches += [filler] * (each * ranks - len(batches))
    by_rank = [[] for _ in range(ranks)]
    for batch in sorted(batches, key=length_of, reverse=True):
        lightest = min((rank for rank in by_rank if len(rank) < each), key=lambda rank: sum(map(length_of, rank)))
        lightest.append(batch)
    return by_rank


def write_steps(made, folder, pack=None):
    """Fills `<folder>/rollouts`, which appears whole or not at all; one that is there is refused: a trainer may be reading it.
    pack: a value to MessagePack, by default msgspec's, which prime-rl needs itself, or msgpack's."""
    target, part = os.path.join(folder, "rollouts"), os.path.join(folder, f"rollouts.{os.getpid()}.part")
    if os.path.exists(target):
        raise ValueError(f"{target} exists already: name another folder, or move that one away")
    try:
        for step, by_rank in made:
            write_step(os.path.join(part, f"step_{step}"), by_rank, pack=pack)
        if os.path.isdir(part):
            os.rename(part, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_step(folder, by_rank, more={}, pack=None):
    """The files of one step, and more of them: {name: bytes}. The folder appears whole, its files on disk."""
    pack, (above, name) = pack or _pack(), os.path.split(folder)
    # no name that prime-rl would take for a step's; a kill may have left it
    part = os.path.join(above, f".{name}.part")
    shutil.rmtree(part, ignore_errors=True)
    os.makedirs(part)
    for name, data in {**{f"rank_{rank}.bin": pack(batches) for rank, batches in enumerate(by_rank)}, **more}.items():
        with open(os.path.join(part, name), "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
    os.rename(part, folder)


def _pack():
    try:
        from msgspec.msgpack import encode

        return encode
    except ImportError:
        pass
    try:
        from msgpack import packb

        return packb
    except ImportError:
        raise ImportError("prime-rl's files need msgspec or msgpack: pip install msgspec") from None
