"""Answers with structure: numbers as they are spelled, lists, sets, tuples, intervals, matrices, equations, units, choices.

Each gives (kind, gold, answer, word). A near miss changes one thing; the values are exact fractions or 50 digits, and the
word is found from the values, never from how the pair was made.
"""

from gmpy2 import mpfr, mpq

from grow import constant, rewrite, small
from trees import N, NoValue, tex, value


def known(r, depth=1):
    while True:
        t = constant(r, depth)
        try:
            v = value(t, {})
            if abs(v) < 10**9:
                return t, mpfr(v)
        except (NoValue, OverflowError, ZeroDivisionError):
            continue


def same(a, b):
    return abs(a - b) <= mpfr("1e-40") * max(1, abs(a), abs(b))


def respelled(items, r):
    out = []
    for t, v in items:
        out.append((rewrite(t, r), v))
    return out


def nudged(items, r):
    k = r.randrange(len(items))
    roll = r.random()
    t, v = items[k]
    if roll < 0.4:
        step = r.choice([1, -1, 2])
        new = (("+", t, N(step)), v + step)
        return items[:k] + [new] + items[k + 1 :]
    if roll < 0.6 and len(items) > 1:
        return items[:k] + items[k + 1 :]
    if roll < 0.75:
        return items + [known(r)]
    if roll < 0.9 and len(items) > 1:
        j = (k + 1) % len(items)
        copy = list(items)
        copy[k], copy[j] = copy[j], copy[k]
        return copy
    return items[:k] + [(("neg", t), -v)] + items[k + 1 :]


def distinct(values):
    kept = []
    for v in values:
        if not any(same(v, k) for k in kept):
            kept.append(v)
    return kept


def matched(xs, ys):
    a, b = distinct(xs), distinct(ys)
    return len(a) == len(b) and all(any(same(x, y) for y in b) for x in a)


def word(flag):
    return "equal" if flag else "different"


def collection(r):
    items = [known(r) for _ in range(r.randint(2, 4))]
    other = respelled(items, r) if r.random() < 0.5 else nudged(items, r)
    kind = r.choice(["set", "list", "tuple", "matrix"])
    if kind in ("set", "list") and r.random() < 0.5:
        other = r.sample(other, len(other))

    def show(values):
        parts = [tex(t, r) for t, _ in values]
        if kind == "set":
            return "\\{" + ", ".join(parts) + "\\}"
        if kind == "list":
            return r.choice([", ", " \\text{ and } ", " or "]).join(parts) if len(parts) < 3 else ", ".join(parts)
        if kind == "tuple":
            return "(" + ", ".join(parts) + ")"
        return "\\begin{pmatrix} " + " \\\\ ".join(parts) + " \\end{pmatrix}"

    if len(other) < 2 or (kind == "tuple" and len(other) == 2 != len(items)):
        return collection(r)
    a, b = [v for _, v in items], [v for _, v in other]
    if kind in ("set", "list"):
        equal = matched(a, b)
        # A list counts its items, what "or" joins does not.
        if kind == "list" and equal and any(len(distinct(values)) < len(values) for values in (a, b)):
            return kind, show(items), show(other), "unclear"
    else:
        equal = len(a) == len(b) and all(map(same, a, b))
    return kind, show(items), show(other), word(equal)


def interval(r):
    (s, low), (t, high) = sorted([known(r, 1), known(r, 0)], key=lambda p: p[1])
    if same(low, high):
        return interval(r)
    bounds = [r.random() < 0.5, r.random() < 0.5]
    other = [s, t, list(bounds), low, high]
    if r.random() < 0.5:
        other[0], other[1] = rewrite(s, r), rewrite(t, r)
    else:
        roll = r.random()
        if roll < 0.5:
            k = r.randrange(2)
            other[2][k] = not other[2][k]
        elif roll < 0.75:
            other[1], other[4] = ("+", t, N(1)), high + 1
        else:
            other[0], other[3] = ("-", s, N(1)), low - 1
    infinite = r.choice([None, None, None, "low", "high"])

    def show(a, b, ends):
        roll = r.random()
        left, right = tex(a, r), tex(b, r)
        ge, le, leq = ("\\ge" if ends[0] else ">"), ("\\le" if ends[1] else "<"), ("\\leq" if ends[0] else "<")
        if infinite == "high":
            if roll < 0.5:
                return f"{'[' if ends[0] else '('}{left}, \\infty)"
            return f"x {ge} {left}" if roll < 0.75 else f"{left} {leq} x"
        if infinite == "low":
            return f"(-\\infty, {right}{']' if ends[1] else ')'}" if roll < 0.5 else f"x {le} {right}"
        if roll < 0.6:
            return f"{'[' if ends[0] else '('}{left}, {right}{']' if ends[1] else ')'}"
        return f"{left} {leq} x {le} {right}"

    equal = (infinite == "low" or (same(low, other[3]) and bounds[0] == other[2][0])) and (
        infinite == "high" or (same(high, other[4]) and bounds[1] == other[2][1])
    )
    return "interval", show(s, t, bounds), show(other[0], other[1], other[2]), word(equal)


def union(r):
    cuts = sorted(r.sample(range(-9, 10), 4))
    ends = [r.random() < 0.5 for _ in range(4)]
    other_cuts, other_ends = list(cuts), list(ends)
    if r.random() < 0.5:
        k = r.randrange(4)
        if r.random() < 0.5:
            other_ends[k] = not ends[k]
        else:
            other_cuts[k] += 20 if k == 3 else 0
            other_ends[0] = not ends[0] if k != 3 else ends[0]

    def show(c, e):
        one = f"{'[' if e[0] else '('}{c[0]}, {c[1]}{']' if e[1] else ')'}"
        two = f"{'[' if e[2] else '('}{c[2]}, {c[3]}{']' if e[3] else ')'}"
        parts = [one, two]
        if r.random() < 0.5:
            parts.reverse()
        return " \\cup ".join(parts)

    return "union", show(cuts, ends), show(other_cuts, other_ends), word((cuts, ends) == (other_cuts, other_ends))


def spelled(q, r):
    """One of the ways to write a fraction exactly."""
    n, d = int(q.numerator), int(q.denominator)
    sign = "-" if n < 0 else ""
    m = abs(n)
    ways = [f"{sign}\\frac{{{m}}}{{{d}}}", f"{n}/{d}"]
    if d == 1:
        ways = [str(n), f"{n}.0", f"{sign}{m:,}", f"{sign}{m}\\%".replace(f"{m}\\%", f"{m * 100}\\%")]
    if d > 1 and m > d:
        ways.append(f"{sign}{m // d}\\frac{{{m % d}}}{{{d}}}")
    rest, places = d, 0
    while rest % 2 == 0 or rest % 5 == 0:
        rest //= 2 if rest % 2 == 0 else 5
        places += 1
    if rest == 1 and d > 1:
        digits = f"{sign}{m * 10**places // d // 10**places}.{m * 10**places // d % 10**places:0{places}d}"
        ways += [digits, digits + "0"]
        percent = f"{sign}{m * 100}\\%" if d == 1 else None
        if percent:
            ways.append(percent)
    if rest == d and d > 1:
        # Purely periodic: multiply until the denominator divides a row of nines.
        length = next((k for k in range(1, 7) if (10**k - 1) % d == 0), None)
        if length:
            period = m % d * (10**length - 1) // d
            text = f"{period:0{length}d}"
            ways.append(f"{sign}{m // d}.\\overline{{{text}}}")
            if length > 1:
                ways.append(f"{sign}{m // d}.\\dot{{{text[0]}}}{text[1:-1]}\\dot{{{text[-1]}}}")
    return r.choice(ways)


def number(r):
    q = mpq(r.randint(-3000, 3000), r.choice([1, 1, 2, 3, 4, 5, 7, 8, 9, 11, 20, 25, 99]))
    other = q
    if r.random() < 0.5:
        other = r.choice([q + 1, -q, q * 10, q + mpq(1, q.denominator), 1 / q if q else q + 2, q + mpq(1, 10**r.choice([3, 6, 9]))])
    return "number", spelled(q, r), spelled(other, r), word(q == other)


UNITS = [
    {"cm": 1, "m": 100, "km": 100000, "mm": mpq(1, 10)},
    {"kg": 1000, "g": 1},
    {"s": 1, "minutes": 60, "hours": 3600},
    {"\\text{cm}^2": 1, "\\text{m}^2": 10000},
]


def unit(r):
    family = r.choice(UNITS)
    n = mpq(r.randint(1, 400))
    u, v = r.choice(list(family)), r.choice(list(family))
    m = n * family[u] / family[v]
    if r.random() < 0.5:
        m = r.choice([m + 1, m * 10, n])

    def show(q, name):
        text = str(q.numerator) if q.denominator == 1 else f"\\frac{{{q.numerator}}}{{{q.denominator}}}"
        return text + (name if name.startswith("\\") else "\\text{ " + name + "}")

    return "unit", show(n, u), show(m, v), word(n * family[u] == m * family[v])


def equation(r):
    a, b, c = (r.choice([-5, -3, -2, -1, 1, 2, 3, 4, 7]) for _ in range(3))
    k = r.choice([-3, -2, -1, 1, 2, 5])
    x, y, z = a * k, b * k, c * k
    if r.random() < 0.5:
        x, y, z = r.choice([(x + 1, y, z), (x, -y, z), (x, y, z + 1), (y, x, z)])

    def term(n, name):
        return f"{'-' if n < 0 else '+'} {abs(n) if abs(n) != 1 else ''}{name}"

    def show(p, q, s):
        text = f"{term(p, 'x')} {term(q, 'y')}".removeprefix("+ ").replace("- ", "-", 1) if p < 0 else f"{term(p, 'x')[2:]} {term(q, 'y')}"
        roll = r.random()
        if roll < 0.6:
            return f"{text} = {s}"
        return f"{text} {'-' if s > 0 else '+'} {abs(s)} = 0"

    if 0 in (x, y):
        return equation(r)
    equal = a * y == b * x and a * z == c * x and b * z == c * y
    return "equation", show(a, b, c), show(x, y, z), word(equal)


def plus_minus(r):
    (s, a), (t, b) = known(r, 1), (small(r), None)
    b = mpfr(value(t, {}))
    other = [(rewrite(s, r), a), (t, b)]
    values = [a + b, a - b]
    if r.random() < 0.5:
        other[1] = (("+", t, N(1)), b + 1)
    wanted = [other[0][1] + other[1][1], other[0][1] - other[1][1]]
    gold = f"{tex(s, r, 1)} \\pm {tex(t, r, 2)}"
    if r.random() < 0.5:
        answer = f"{tex(other[0][0], r, 1)} \\pm {tex(other[1][0], r, 2)}"
    else:
        parts = [tex(("+", other[0][0], other[1][0]), r), tex(("-", other[0][0], other[1][0]), r)]
        r.shuffle(parts)
        answer = ", ".join(parts)
        if r.random() < 0.2:
            answer, wanted = tex(("+", other[0][0], other[1][0]), r), [wanted[0]]
    return "plus-minus", gold, answer, word(matched(values, wanted))


def inequality(r):
    """A polynomial in factors against its solution."""
    p, q = sorted(r.sample(range(-6, 7), 2))
    below = r.random() < 0.5
    closed = r.random() < 0.5
    sign = ("\\le" if closed else "<") if below else ("\\ge" if closed else ">")
    middle, product = -(p + q), p * q
    text = "x^2"
    if middle:
        text += f" {'+' if middle > 0 else '-'} {abs(middle)}x"
    if product:
        text += f" {'+' if product > 0 else '-'} {abs(product)}"
    gold = r.choice([f"{text} {sign} 0", f"|{'2x' if (p + q) % 2 else 'x'} {'-' if p + q >= 0 else '+'} {abs(p + q) if (p + q) % 2 else abs(p + q) // 2}| {sign} {(q - p) if (p + q) % 2 else (q - p) // 2}"])
    u, v, inside, ends = p, q, below, closed
    if r.random() < 0.5:
        roll = r.random()
        if roll < 0.4:
            ends = not ends
        elif roll < 0.7:
            v += 1
        else:
            inside = not inside
    if inside:
        answer = f"{'[' if ends else '('}{u}, {v}{']' if ends else ')'}"
    else:
        answer = f"(-\\infty, {u}{']' if ends else ')'} \\cup {'[' if ends else '('}{v}, \\infty)"
    return "inequality", gold, answer, word((u, v, inside, ends) == (p, q, below, closed))


def small_kind(r):
    roll = r.random()
    if roll < 0.2:
        a, b = r.choice("ABCDE"), r.choice("ABCDE")
        shapes = ["{}", "({})", "\\text{{{}}}", "\\textbf{{({})}}"]
        return "choice", r.choice(shapes).format(a), r.choice(shapes).format(b), word(a == b)
    if roll < 0.45:
        n, base = r.randint(2, 500), r.choice([2, 3, 5, 7, 8])
        m, other = (n, base) if r.random() < 0.5 else r.choice([(n + 1, base), (n, base + 1)])

        def digits(v, b):
            return (digits(v // b, b) if v >= b else "") + str(v % b)

        return "base", f"{digits(n, base)}_{base}", f"{digits(m, other)}_{{{other}}}", word((n, base) == (m, other))
    if roll < 0.7:
        a, b, k = r.randint(1, 9), r.randint(1, 9), r.randint(1, 4)
        c, d = (a * k, b * k) if r.random() < 0.5 else r.choice([(b * k, a * k), (a * k + 1, b * k)])
        return "ratio", f"{a}:{b}", f"{c} : {d}", word(a * d == b * c)
    if roll < 0.85:
        n, m = r.randint(1, 24) * 15, 0
        m = n if r.random() < 0.5 else n + r.choice([15, -15, 180])
        q = mpq(m, 180)
        top = "\\pi" if q.numerator == 1 else f"{q.numerator}\\pi"
        answer = r.choice([f"{m}", f"{m}^{{\\circ}}", f"\\frac{{{top}}}{{{q.denominator}}}" if q.denominator > 1 else top])
        return "degrees", f"{n}^\\circ", answer if q != 0 else "0", word(n == m)
    u, m, k = r.randint(0, 20), r.randint(2, 12), r.randint(0, 3)
    v, w = (u % m + k * m, m) if r.random() < 0.5 else r.choice([(u + 1, m), (u, m + 1)])
    shapes = ["n \\equiv {} \\pmod {{{}}}", "n \\equiv {} \\mod {{{}}}", "n \\equiv {} \\bmod {}", "n \\equiv {} \\ (\\text{{mod }} {})"]
    return "congruence", r.choice(shapes[:3]).format(u, m), r.choice(shapes).format(v, w), word(m == w and (u - v) % m == 0)


def angle(q):
    """A fraction of pi."""
    n, d = int(q.numerator), int(q.denominator)
    top = f"{'-' if n < 0 else ''}{abs(n) if abs(n) != 1 else ''}\\pi"
    return "0" if n == 0 else top if d == 1 else f"{'-' if n < 0 else ''}\\frac{{{top.lstrip('-')}}}{{{d}}}"


def family(r):
    """start + step k over all integers: one coset or several, under any letter."""
    step = mpq(r.choice([1, 2, 2, 1, 3]), r.choice([1, 1, 2, 3]))
    starts = [mpq(r.randint(0, 11), r.choice([2, 3, 4, 6]))]
    if r.random() < 0.4:
        starts.append(starts[0] + mpq(r.randint(1, 5), 6))
    lines = [(step, t) for t in starts]
    other = [(r.choice([1, -1]) * s, t + r.randint(-2, 2) * s) for s, t in lines]
    roll = r.random()
    if roll < 0.25:
        s, t = other.pop()
        other += [(2 * s, t), (2 * s, t + s)]
    elif roll < 0.4:
        k = r.randrange(len(other))
        other[k] = (other[k][0], other[k][1] + mpq(1, r.choice([2, 3, 5])))
    elif roll < 0.55:
        k = r.randrange(len(other))
        other[k] = (2 * other[k][0], other[k][1])
    elif roll < 0.65 and len(other) > 1:
        other.pop()

    def cosets(all_lines):
        period = mpq(12)
        return {(t + k * s) % period for s, t in all_lines for k in range(int(period / abs(s)))}

    over, another = "\\mathbb{Z}", "\\mathbb{Z}"
    if r.random() < 0.1:
        another = "\\mathbb{N}"

    def show(all_lines, domain):
        letter = r.choice("knm")
        parts = []
        for s, t in all_lines:
            turn = angle(s).replace("\\pi", letter + "\\pi" if r.random() < 0.5 else "\\pi " + letter)
            parts.append(turn if t == 0 else f"{angle(t)} {'' if turn.startswith('-') else '+ '}{turn}")
        name = r.choice(["x = ", ""])
        text = r.choice([", ", " \\text{ or } "]).join(name + part for part in parts)
        if domain == over:
            tail = r.choice([f", {letter} \\in {domain}", f" \\text{{ for any integer }} {letter}", f" \\quad ({letter} \\in {domain})"])
        else:
            tail = f", {letter} \\in {domain}"
        return text + tail

    return "family", show(lines, over), show(other, another), word(over == another and cosets(lines) == cosets(other))


def structured(r):
    makers = [family, collection, collection, collection, interval, union, number, number, unit, equation, plus_minus, inequality, small_kind]
    return r.choice(makers)(r)
