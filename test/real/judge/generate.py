"""Pairs of answers with the oracle's word: equal, different or unclear. One JSON line each.

    python generate.py SEED COUNT

The same seed gives the same pairs. Both sides are drawn as trees, written in LaTeX by one routine and evaluated by
another, so the judge's parser has no part in the word.
"""

import json
import random
import sys

import gmpy2
from gmpy2 import mpfr, mpq

from kinds import structured
from grow import WHOLE, analytic, broken, complex_letters, complex_number, constant, counted, mutate, rewrite
from trees import NoValue, letters, numbers, ops, size, tex, value

EXACT = type(mpq(1))
POINTS = 210
TOLD = mpfr("1e-52")
SAME = mpfr("1e-58")


def points(pair, r):
    names = sorted(letters(pair[0]) | letters(pair[1]))
    used = ops(pair[0]) | ops(pair[1])
    natural = used & {"fact", "binom", "sum", "gcd", "lcm"}
    used_numbers = sorted(abs(q) for q in numbers(pair[0]) | numbers(pair[1]))
    # Where a line in one letter is zero: quotients, sums and differences of what is written.
    mixed = {f(p, q) for p in used_numbers for q in used_numbers for f in (lambda p, q: p / q if q else p, lambda p, q: p + q, lambda p, q: abs(p - q))}
    breaks = used_numbers[:8] + r.sample(sorted(mixed), min(len(mixed), 24))
    # Between two such zeros, however near they are.
    breaks += [(p + q) / 2 for p, q in zip(sorted(mixed), sorted(mixed)[1:])][-12:]
    near = [sign * q + off for q in breaks for sign in (1, -1) for off in (0, mpq(1, 10**6), -mpq(1, 10**6), mpq(1, 3))]

    guards = [guard for tree in pair for guard in guards_of(tree)]

    def drawn(name):
        roll = r.random()
        if name in WHOLE or name == "j":
            top = 9 if roll < 0.5 else 40 if roll < 0.9 else 130
            return mpq(r.randint(1 if natural else -top, top))
        if roll < 0.2:
            return mpq(r.randint(-6, 6))
        if roll < 0.35:
            return mpq(2 * r.randint(-8, 8) + 1, 2)
        if roll < 0.55 and near:
            return mpq(r.choice(near))
        if roll < 0.65:
            return mpq(r.randint(-10**6, 10**6), r.randint(1, 7))
        if roll < 0.7:
            return mpq(r.randint(-99, 99), 10**4)
        return mpq(r.randint(-4000, 4000), 997)

    for _ in range(POINTS if names else 1):
        point = {name: drawn(name) for name in names}
        if "z" in point:
            point["z"] = gmpy2.mpc(mpfr(point["z"]), mpfr(drawn("z")))
        if guards and r.random() < 0.3:
            onto(point, r.choice(guards), r)
        yield point


def guards_of(tree):
    """What changes the formula where it is zero."""
    own = [tree[1]] if tree[0] in ("abs", "sqrt") else [("-", tree[1], tree[2])] if tree[0] in ("max", "min") else []
    return own + [guard for part in tree[1:] if isinstance(part, tuple) for guard in guards_of(part)]


def onto(point, guard, r):
    """Moves one letter to where the guard is zero, or next to it."""
    names = sorted(name for name in letters(guard) if name not in WHOLE and name in point and isinstance(point[name], EXACT))
    if not names:
        return
    name = r.choice(names)
    try:
        low, high = (value(guard, {**point, name: mpq(at)}) for at in (0, 1))
    except (NoValue, OverflowError, ZeroDivisionError):
        return
    if isinstance(low, EXACT) and isinstance(high, EXACT) and low != high:
        off = r.choice([mpq(0), mpq(1, 7), mpq(-1, 7), mpq(1, 10**6), mpq(-1, 10**6), mpq(2), mpq(-2)])
        point[name] = -low / (high - low) + off


def told_again(pair, point, off):
    """With four times the digits a difference stays, and what rounding left shrinks."""
    with gmpy2.context(gmpy2.get_context(), precision=960):
        try:
            a, b = (value(tree, point) for tree in pair)
        except (NoValue, OverflowError, ZeroDivisionError):
            return False
        return abs(a - b) > off * mpfr("1e-6")


def compare(pair, r):
    """equal, different; unclear: too few values, or one side has values where the other has none."""
    told, lost = 0, 0
    for point in points(pair, r):
        found = []
        for tree in pair:
            try:
                v = value(tree, point)
                if not gmpy2.is_finite(v):
                    raise NoValue
                found.append(v)
            except (NoValue, OverflowError, ZeroDivisionError):
                found.append(None)
        a, b = found
        if a is None or b is None:
            lost += (a is None) != (b is None)
            continue
        off, scale = abs(a - b), max(abs(a), abs(b), 1)
        if off and isinstance(off, EXACT):
            return "different"
        if off > TOLD * scale:
            if told_again(pair, point, off):
                return "different"
            continue
        if off > SAME * scale:
            continue
        told += 1
    if not letters(pair[0]) and not letters(pair[1]):
        return "equal" if told else "unclear"
    # What lies this near may differ where no point lies.
    tiny = any(q.denominator >= 10**6 for tree in pair for q in numbers(tree))
    return "equal" if told >= 40 and lost == 0 and not tiny else "unclear"


def expression(r):
    roll = r.random()
    if roll < 0.25:
        kind, tree = "constant", constant(r, r.randint(1, 3))
    elif roll < 0.45:
        kind, tree = "analytic", analytic(r, r.randint(1, 3), r.sample(["x", "y", "a"], r.randint(1, 2)))
    elif roll < 0.68:
        kind, tree = "broken", broken(r, r.randint(1, 2), r.sample(["x", "y", "a"], r.choice([1, 1, 2])))
    elif roll < 0.9:
        kind, tree = "counted", counted(r, r.randint(1, 2), r.choice([["n"], ["n"], ["n", "k"]]))
    elif roll < 0.96:
        kind, tree = "complex", complex_number(r, r.randint(1, 2))
    else:
        kind, tree = "conjugates", complex_letters(r, r.randint(1, 2))
    other = rewrite(tree, r) if r.random() < 0.5 else mutate(rewrite(tree, r) if r.random() < 0.4 else tree, r)
    return kind, tree, other


def pair(seed):
    r = random.Random(seed)
    while True:
        if r.random() < 0.4:
            kind, gold, answer, word = structured(r)
        else:
            kind, tree, other = expression(r)
            if tree == other or size(tree) > 40 or size(other) > 70:
                continue
            word = compare((tree, other), r)
            gold, answer = tex(tree, r), tex(other, r)
        if gold != answer:
            return {"seed": seed, "kind": kind, "gold": gold, "answer": answer, "word": word}


if __name__ == "__main__":
    start, count = int(sys.argv[1]), int(sys.argv[2])
    for seed in range(start, start + count):
        sys.stdout.write(json.dumps(pair(seed)) + "\n")
