"""Worked answers, right and wrong, and the multi-turn conversations made of them."""
import os
import re

RIGHT = "Congratulations! You are correct!"
WRONG = "Unfortunately your answer is wrong. Let's try again."
INSTRUCTIONS = [" Please reason step by step, and put your final answer within \\boxed{}.",
                " Put your final answer in \\boxed{}."]
SYSTEMS = ["You are a helpful assistant.", "You are a math assistant.",
           "You are a helpful assistant. Solve the math problem and put the final answer in \\boxed{}."]


# ---------------------------------------------------------------- worked answers
# quick: each operation in one go.  split: by place value from the largest place down.
# other: by place value from the smallest place up, products split along the other factor.

def slip(r, value, x, y):
    """A near miss of value, the result of an operation on x and y."""
    for _ in range(50):
        t, sign = r.random(), r.choice((-1, 1))
        if t < .30:
            w = value + sign
        elif t < .40:
            w = value + 2 * sign
        elif t < .70:
            w = value + 10 * sign
        elif t < .78:
            w = value + 100 * sign
        elif t < .90:
            digits = list(str(value))
            digits[r.randrange(len(digits))] = str(r.randrange(10))
            w = int("".join(digits))
        else:
            w = value + sign * r.choice((x, y))
        if w >= 0 and w != value:
            return w
    return value + 1


def places(n):
    """438 -> [400, 30, 8]"""
    digits = str(n)
    return [int(d) * 10 ** (len(digits) - i - 1) for i, d in enumerate(digits) if d != "0"]


class Paper:
    """Writes statements `x op y = v`; the spot-th of them is wrong and the error flows on."""

    def __init__(self, style, r=None, spot=None):
        self.style, self.r, self.spot, self.lines = style, r, spot, []

    def state(self, op, x, y):
        v = {"+": x + y, "-": abs(x - y), "*": x * y, "/": x // max(1, y)}[op]
        if len(self.lines) == self.spot:
            v = slip(self.r, v, x, y)
        self.lines.append(f"{x} {op} {y} = {v}")
        return v

    def compute(self, op, x, y):
        down = self.style == "split"
        if self.style == "quick" or (x <= 12 and y <= 12):
            return self.state(op, x, y)
        if op in "+-":
            for part in places(y)[::1 if down else -1]:
                x = self.state(op, x, part)
            return x
        if op == "*":
            along_y = (y >= 10 if down else x < 10)
            fixed, cut = (x, y) if along_y else (y, x)
            parts = places(cut)[::1 if down else -1]
            products = [self.state("*", fixed, p) for p in parts]
            total = products[0] if products else 0
            for p in products[1:]:
                total = self.state("+", total, p)
            return total
        tens = x // y // 10 * 10
        if not tens or x == tens * y:
            return self.state("/", x, y)
        rest = self.state("-", x, self.state("*", y, tens))
        return self.state("+", tens, self.state("/", rest, y))


def work(steps, style, r=None, spot=None):
    """-> text, value, number of statements"""
    paper, values = Paper(style, r, spot), []
    for op, x, y in steps:
        x, y = (values[v[1]] if isinstance(v, (tuple, list)) else v for v in (x, y))
        values.append(paper.compute(op, x, y))
    return ". ".join(paper.lines) + f". The answer is \\boxed{{{values[-1]}}}.", values[-1], len(paper.lines)


OPENING = {"quick": "", "split": "Let me go step by step. ", "other": "Let me try another way. "}


def style_of_turn(i):
    return "quick" if i == 0 else "split" if i % 2 else "other"


def wrong_answer(r, p, style):
    """-> text, value of an answer with one slip, or now and then with a wrong operation"""
    for _ in range(20):
        if r.random() < .06:
            steps = [list(s) for s in p["steps"]]
            r.choice(steps)[0] = r.choice("+-*")
            text, value, _ = work(steps, style)
        else:
            count = work(p["steps"], style)[2]
            text, value, _ = work(p["steps"], style, r, r.randrange(count))
        if value != p["answer"] and value < 10000:
            break
    return text, value


# ---------------------------------------------------------------- conversations
# A conversation is a list of (role, text, n): training predicts the first n characters of the text,
# and <|im_end|> when that is all of it.

def single(r, p):
    """One question, one right answer, in any style: for learning the arithmetic itself."""
    style = r.choices(("quick", "split", "other"), (.4, .33, .27))[0]
    text = OPENING[style] + work(p["steps"], style)[0]
    return [("user", p["question"], 0), ("assistant", text, len(text))]


def conversation(r, p, wrongs=None):
    """Some wrong answers (given, or made up), then the right one, then perhaps some congratulations.

    Of a wrong answer training predicts what it shares with the right one, never the slip or what follows it."""
    m = []
    if r.random() < .12:
        m.append(("system", r.choice(SYSTEMS), 0))
    m.append(("user", p["question"] + (r.choice(INSTRUCTIONS) if r.random() < .2 else ""), 0))
    count = len(wrongs) if wrongs is not None else 0 if r.random() < .3 else r.choices((1, 2, 3, 4), (.5, .27, .14, .09))[0]
    seen = set()
    for i in range(count):
        style = style_of_turn(i)
        right = OPENING[style] + work(p["steps"], style)[0]
        if wrongs is not None:
            text = wrongs[i]
        else:
            for _ in range(4):
                text, value = wrong_answer(r, p, style)
                if value not in seen:
                    break
            seen.add(value)
            text = OPENING[style] + text
        m += [("assistant", text, len(os.path.commonprefix([text, right]))), ("user", WRONG, 0)]
    style = style_of_turn(count)
    text = OPENING[style] + work(p["steps"], style)[0]
    m.append(("assistant", text, len(text)))
    if r.random() < .2:
        for _ in range(min(r.choices((1, 2, 3), (.6, .25, .15))[0], 4 - count)):
            text = f"Thank you! The answer is \\boxed{{{p['answer']}}}."
            m += [("user", RIGHT, 0), ("assistant", text, len(text))]
    return m


def boxed(text):
    """What counts as the answer of a text: its last box, or None."""
    found = re.findall(r"\\boxed\{([^{}]*)\}", text)
    return found[-1].strip() if found else None
