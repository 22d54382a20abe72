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
# A form is a text, its draws in order, and its steps. An operand of a step is a draw's letter, or the number of the step
# whose result it is: ("r", i) in a problem.

def n(low, high):
    """A draw of a whole number; its upper limit may follow from the draws before."""
    return lambda r, v: r.randint(low, high(v) if callable(high) else high)


def one_of(items):
    return lambda r, v: r.choice(items)


def digits(r, v):
    """Two, or three up to 499."""
    return r.randint(10, 99) if r.random() < .6 else r.randint(100, 499)


ADD = ("{a} + {b}", dict(a=digits, b=digits), (("+", "a", "b"),))
MULTIPLY_BY_DIGIT = ("{a} * {b}", dict(a=n(11, 99), b=n(2, 9)), (("*", "a", "b"),))
MULTIPLY = ("{a} * {b}", dict(a=n(11, 49), b=n(11, 29)), (("*", "a", "b"),))
EXPRESSIONS = (
    ("{a} + {b} * {c}", dict(a=n(10, 99), b=n(3, 25), c=n(2, 9)), (("*", "b", "c"), ("+", "a", 0))),
    ("{b} * {c} - {a}", dict(b=n(5, 25), c=n(3, 9), a=n(2, lambda v: v["b"] * v["c"] - 1)), (("*", "b", "c"), ("-", 0, "a"))),
    ("({a} + {b}) * {c}", dict(a=n(3, 25), b=n(3, 25), c=n(2, 9)), (("+", "a", "b"), ("*", 0, "c"))),
    ("{a} + {b} + {c}", dict(a=n(10, 99), b=n(10, 99), c=n(10, 99)), (("+", "a", "b"), ("+", 0, "c"))),
    ("{a} - {b} + {c}", dict(a=n(20, 99), c=n(10, 99), b=n(10, lambda v: v["a"] - 1)), (("-", "a", "b"), ("+", 0, "c"))),
    ("{a} * {b} + {c} * {d}", dict(a=n(3, 15), b=n(2, 9), c=n(3, 15), d=n(2, 9)),
     (("*", "a", "b"), ("*", "c", "d"), ("+", 0, 1))),
)
STORIES = (
    ("{who} has {a} {what}. {who} buys {b} more and gives away {c}. How many {what} does {who} have now?",
     dict(a=n(5, 90), b=n(5, 60), c=n(5, lambda v: v["a"] + v["b"] - 1)), (("+", "a", "b"), ("-", 0, "c"))),
    ("{who} buys {a} boxes of {what}. Each box holds {b} {what}. How many {what} are there in total?",
     dict(a=n(3, 19), b=n(3, 19)), (("*", "a", "b"),)),
    ("{who} has {a} {what} and buys {b} packs of {c} {what}. How many {what} does {who} have now?",
     dict(a=n(5, 99), b=n(2, 9), c=n(3, 25)), (("*", "b", "c"), ("+", "a", 0))),
    ("A {thing} costs ${a}. {who} buys {b} of them and pays with ${c}. How much change does {who} get?",
     dict(a=n(3, 25), b=n(2, 9), thing=one_of(THINGS), c=lambda r, v: v["a"] * v["b"] + r.randint(1, 60)),
     (("*", "a", "b"), ("-", "c", 0))),
    ("{who} shares {c} {what} equally among {b} friends. How many {what} does each friend get?",
     dict(a=n(2, 30), b=n(2, 9), c=lambda r, v: v["a"] * v["b"]), (("/", "c", "b"),)),
    ("{who} reads {a} pages a day for {b} days. The book has {c} pages. How many pages are left?",
     dict(a=n(5, 25), b=n(2, 9), c=lambda r, v: v["a"] * v["b"] + r.randint(3, 99)), (("*", "a", "b"), ("-", "c", 0))),
    ("A train travels {a} miles per hour for {b} hours and then {c} more miles. How far does it travel?",
     dict(a=n(20, 60), b=n(2, 6), c=n(10, 99)), (("*", "a", "b"), ("+", 0, "c"))),
    ("{who} is {a} years old. {other} is {b} times as old as {who}. How old will {other} be in {c} years?",
     dict(a=n(4, 20), b=n(2, 4), c=n(2, 30), other=lambda r, v: r.choice([x for x in NAMES if x != v["who"]])),
     (("*", "a", "b"), ("+", 0, "c"))),
    ("{who} earns ${a} per hour. {who} works {b} hours on Monday and {c} hours on Tuesday. How much does {who} earn?",
     dict(a=n(8, 30), b=n(2, 9), c=n(2, 9)), (("+", "b", "c"), ("*", "a", 0))),
    ("There are {a} rows of {b} seats. {c} seats are empty. How many seats are taken?",
     dict(a=n(4, 15), b=n(4, 15), c=n(2, lambda v: v["a"] * v["b"] - 1)), (("*", "a", "b"), ("-", 0, "c"))),
    ("{who} saves ${a} each week for {b} weeks and then spends half of it. How much is left?",
     dict(a=n(5, 40), b=lambda r, v: 2 * r.randint(1, 4), c=lambda r, v: 2), (("*", "a", "b"), ("/", 0, "c"))),
)


def filled(r, form, **v):
    text, draws, steps = form
    for name, draw in draws.items():
        v[name] = draw(r, v)
    return text.format(**v), [(op, *(v[x] if isinstance(x, str) else ("r", x) for x in operands)) for op, *operands in steps]


def subtract(r):
    b, a = sorted((digits(r, {}), digits(r, {})))
    return f"{a} - {b}", [("-", a, b)]


def expression(r):
    return filled(r, EXPRESSIONS[r.randrange(len(EXPRESSIONS))])


def word_problem(r):
    who, what = r.choice(NAMES), r.choice(ITEMS)
    return filled(r, STORIES[r.randrange(len(STORIES))], who=who, what=what)


KINDS = {"add": (lambda r: filled(r, ADD), .15), "sub": (subtract, .15), "mul1": (lambda r: filled(r, MULTIPLY_BY_DIGIT), .12),
         "mul2": (lambda r: filled(r, MULTIPLY), .10), "expr": (expression, .18), "word": (word_problem, .30)}


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
