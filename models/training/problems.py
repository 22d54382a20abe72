"""Arithmetic problems, those for training and those held out.

    python problems.py --heldout 1200 > heldout.jsonl      # problems never seen in training, as a data set
    python problems.py --training 2000 > training.jsonl    # of the kind seen in training: none of the held-out ones
"""
import argparse
import hashlib
import json
import random

from answers import work

NAMES = "Tom Anna Ben Mia Sam Lily Jack Emma Leo Nina Max Ella Paul Rosa Omar Ruth".split()
ITEMS = ("apples books pens cards marbles stickers coins cookies shells stamps eggs balls toys "
         "oranges candies beads").split()
THINGS = "ticket book shirt cake lamp toy pen bag".split()
ASK = ["What is {}?", "Compute {}.", "Calculate {}.", "How much is {}?", "Find the value of {}."]


# ---------------------------------------------------------------- problems
# A problem is a question and its steps; an operand ("r", i) is the result of step i.

def two_or_three_digits(r):
    return r.randint(10, 99) if r.random() < .6 else r.randint(100, 499)


def add(r):
    a, b = two_or_three_digits(r), two_or_three_digits(r)
    return f"{a} + {b}", [("+", a, b)]


def subtract(r):
    b, a = sorted((two_or_three_digits(r), two_or_three_digits(r)))
    return f"{a} - {b}", [("-", a, b)]


def multiply_by_digit(r):
    a, b = r.randint(11, 99), r.randint(2, 9)
    return f"{a} * {b}", [("*", a, b)]


def multiply(r):
    a, b = r.randint(11, 49), r.randint(11, 29)
    return f"{a} * {b}", [("*", a, b)]


def expression(r):
    n, form = r.randint, r.randrange(6)
    if form == 0:
        a, b, c = n(10, 99), n(3, 25), n(2, 9)
        return f"{a} + {b} * {c}", [("*", b, c), ("+", a, ("r", 0))]
    if form == 1:
        b, c = n(5, 25), n(3, 9)
        a = n(2, b * c - 1)
        return f"{b} * {c} - {a}", [("*", b, c), ("-", ("r", 0), a)]
    if form == 2:
        a, b, c = n(3, 25), n(3, 25), n(2, 9)
        return f"({a} + {b}) * {c}", [("+", a, b), ("*", ("r", 0), c)]
    if form == 3:
        a, b, c = n(10, 99), n(10, 99), n(10, 99)
        return f"{a} + {b} + {c}", [("+", a, b), ("+", ("r", 0), c)]
    if form == 4:
        a, c = n(20, 99), n(10, 99)
        b = n(10, a - 1)
        return f"{a} - {b} + {c}", [("-", a, b), ("+", ("r", 0), c)]
    a, b, c, d = n(3, 15), n(2, 9), n(3, 15), n(2, 9)
    return f"{a} * {b} + {c} * {d}", [("*", a, b), ("*", c, d), ("+", ("r", 0), ("r", 1))]


def word_problem(r):
    n, who, what, form = r.randint, r.choice(NAMES), r.choice(ITEMS), r.randrange(11)
    if form == 0:
        a, b = n(5, 90), n(5, 60)
        c = n(5, a + b - 1)
        return (f"{who} has {a} {what}. {who} buys {b} more and gives away {c}. "
                f"How many {what} does {who} have now?"), [("+", a, b), ("-", ("r", 0), c)]
    if form == 1:
        a, b = n(3, 19), n(3, 19)
        return (f"{who} buys {a} boxes of {what}. Each box holds {b} {what}. "
                f"How many {what} are there in total?"), [("*", a, b)]
    if form == 2:
        a, b, c = n(5, 99), n(2, 9), n(3, 25)
        return (f"{who} has {a} {what} and buys {b} packs of {c} {what}. "
                f"How many {what} does {who} have now?"), [("*", b, c), ("+", a, ("r", 0))]
    if form == 3:
        a, b, thing = n(3, 25), n(2, 9), r.choice(THINGS)
        c = a * b + n(1, 60)
        return (f"A {thing} costs ${a}. {who} buys {b} of them and pays with ${c}. "
                f"How much change does {who} get?"), [("*", a, b), ("-", c, ("r", 0))]
    if form == 4:
        a, b = n(2, 30), n(2, 9)
        return (f"{who} shares {a * b} {what} equally among {b} friends. "
                f"How many {what} does each friend get?"), [("/", a * b, b)]
    if form == 5:
        a, b = n(5, 25), n(2, 9)
        c = a * b + n(3, 99)
        return (f"{who} reads {a} pages a day for {b} days. The book has {c} pages. "
                f"How many pages are left?"), [("*", a, b), ("-", c, ("r", 0))]
    if form == 6:
        a, b, c = n(20, 60), n(2, 6), n(10, 99)
        return (f"A train travels {a} miles per hour for {b} hours and then {c} more miles. "
                f"How far does it travel?"), [("*", a, b), ("+", ("r", 0), c)]
    if form == 7:
        a, b, c, other = n(4, 20), n(2, 4), n(2, 30), r.choice([x for x in NAMES if x != who])
        return (f"{who} is {a} years old. {other} is {b} times as old as {who}. "
                f"How old will {other} be in {c} years?"), [("*", a, b), ("+", ("r", 0), c)]
    if form == 8:
        a, b, c = n(8, 30), n(2, 9), n(2, 9)
        return (f"{who} earns ${a} per hour. {who} works {b} hours on Monday and {c} hours on Tuesday. "
                f"How much does {who} earn?"), [("+", b, c), ("*", a, ("r", 0))]
    if form == 9:
        a, b = n(4, 15), n(4, 15)
        c = n(2, a * b - 1)
        return (f"There are {a} rows of {b} seats. {c} seats are empty. "
                f"How many seats are taken?"), [("*", a, b), ("-", ("r", 0), c)]
    a, b = n(5, 40), 2 * n(1, 4)
    return (f"{who} saves ${a} each week for {b} weeks and then spends half of it. "
            f"How much is left?"), [("*", a, b), ("/", ("r", 0), 2)]


KINDS = {"add": (add, .15), "sub": (subtract, .15), "mul1": (multiply_by_digit, .12), "mul2": (multiply, .10),
         "expr": (expression, .18), "word": (word_problem, .30)}


def key(kind, steps):
    return f"{kind}:{steps}"


def is_heldout(kind, steps):
    """A tenth of all problems, chosen by a hash of kind and operands, is never drawn in training."""
    return int(hashlib.md5(key(kind, steps).encode()).hexdigest(), 16) % 10 == 0


def problem(r, heldout=False):
    while True:
        kind = r.choices(list(KINDS), [share for _, share in KINDS.values()])[0]
        question, steps = KINDS[kind][0](r)
        if is_heldout(kind, steps) == heldout:
            break
    if kind != "word":
        question = r.choice(ASK).format(question)
    return {"kind": kind, "question": question, "steps": steps, "answer": work(steps, "quick")[1]}


def heldout_problems(count, seed=777):
    return distinct_problems(count, seed, heldout=True)


def distinct_problems(count, seed, heldout):
    r, seen, out = random.Random(seed), set(), []
    while len(out) < count:
        p = problem(r, heldout)
        k = key(p["kind"], p["steps"])
        if k not in seen:
            seen.add(k)
            out.append(p)
    return out


# ---------------------------------------------------------------- data sets

def as_record(p, number):
    return {"query_id": f"arith-{number:04d}", "question": p["question"],
            "solutions": [work(p["steps"], "split")[0]], "task": "math"}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wanted = args.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--heldout", type=int, help="how many held-out problems to print, one JSON object a line")
    wanted.add_argument("--training", type=int, help="how many problems that are not held out to print")
    args.add_argument("--seed", type=int, default=777)
    a = args.parse_args()
    for i, p in enumerate(distinct_problems(a.heldout or a.training, a.seed, a.heldout is not None), 1):
        print(json.dumps(as_record(p, i), ensure_ascii=False))


if __name__ == "__main__":
    main()
