"""Worked answers.

quick: each operation in one go. split: by place value from the largest place down. other: by place value from the smallest
place up, products split along the other factor."""
import re


def places(n):
    """438 -> [400, 30, 8]"""
    digits = str(n)
    return [int(d) * 10 ** (len(digits) - i - 1) for i, d in enumerate(digits) if d != "0"]


class Paper:
    """Writes statements `x op y = v`. slip(n, v, x, y): what the n-th of them says in place of v, and the error flows on."""

    def __init__(self, style, slip=None):
        self.style, self.slip, self.lines = style, slip, []

    def state(self, op, x, y):
        v = {"+": x + y, "-": abs(x - y), "*": x * y, "/": x // max(1, y)}[op]
        if self.slip:
            v = self.slip(len(self.lines), v, x, y)
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


def work(steps, style, slip=None):
    """-> text, value, number of statements"""
    paper, values = Paper(style, slip), []
    for op, x, y in steps:
        x, y = (values[v[1]] if isinstance(v, (tuple, list)) else v for v in (x, y))
        values.append(paper.compute(op, x, y))
    return ". ".join(paper.lines) + f". The answer is \\boxed{{{values[-1]}}}.", values[-1], len(paper.lines)


def boxed(text):
    """What counts as the answer of a text: its last box, or None."""
    found = re.findall(r"\\boxed\{([^{}]*)\}", text)
    return found[-1].strip() if found else None
