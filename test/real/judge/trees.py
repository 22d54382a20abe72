"""Expressions as tuples, how they are written, and what they are worth at a point: the oracle's own tree.

Nothing here knows the judge. Values are reals or complex numbers of 70 digits (gmpy2's MPFR and MPC).
"""

import gmpy2
from gmpy2 import mpfr, mpq

gmpy2.get_context().precision = 240


class NoValue(Exception):
    pass


def N(n, d=1):
    return ("num", n, d)


def V(name):
    return ("var", name)


WHOLE_LETTERS = ("n", "m", "k")
FUNCS = {
    "sin": gmpy2.sin, "cos": gmpy2.cos, "tan": gmpy2.tan, "arcsin": gmpy2.asin, "arccos": gmpy2.acos,
    "arctan": gmpy2.atan, "sinh": gmpy2.sinh, "cosh": gmpy2.cosh, "tanh": gmpy2.tanh, "exp": gmpy2.exp,
}


def real(x):
    if isinstance(x, type(gmpy2.mpc(0))):
        if x.imag == 0:
            return x.real
        raise NoValue
    return x


def whole(x):
    x = real(x)
    if gmpy2.is_integer(x):
        return int(x)
    raise NoValue


def value(t, at):
    """An exact fraction while it can be one, else a float of 240 bits."""
    op = t[0]
    if op == "num":
        return mpq(t[1], t[2])
    if op == "var":
        return at[t[1]]
    if op == "pi":
        return gmpy2.const_pi()
    if op == "e":
        return gmpy2.exp(mpfr(1))
    if op == "i":
        return gmpy2.mpc(0, 1)
    if op == "sum":
        total = mpq(0)
        low, high = whole(value(t[2], at)), whole(value(t[3], at))
        if high - low > 400 or high < low - 1:
            raise NoValue
        for j in range(low, high + 1):
            total += value(t[4], {**at, t[1]: mpq(j)})
        return total
    a = value(t[1], at)
    if op == "neg":
        return -a
    if op in ("+", "-", "*", "/", "^"):
        b = value(t[2], at)
        if op == "+":
            return a + b
        if op == "-":
            return a - b
        if op == "*":
            return a * b
        if op == "/":
            if b == 0 or (not isinstance(b, type(mpq(1))) and abs(b) < mpfr("1e-55")):
                raise NoValue
            return a / b
        return power(a, b)
    if op == "sqrt":
        return root(a, 2)
    if op == "root":
        return root(a, t[2])
    if op == "abs":
        return abs(a)
    if op == "conj":
        return a.conjugate() if isinstance(a, type(gmpy2.mpc(0))) else a
    if op == "re":
        return a.real if isinstance(a, type(gmpy2.mpc(0))) else a
    if op == "im":
        return a.imag if isinstance(a, type(gmpy2.mpc(0))) else mpq(0)
    if op == "floor":
        return floor(a)
    if op == "ceil":
        return -floor(-a)
    if op in ("max", "min"):
        b = real(value(t[2], at))
        return max(real(a), b) if op == "max" else min(real(a), b)
    if op in ("gcd", "lcm"):
        x, y = whole(a), whole(value(t[2], at))
        if x <= 0 or y <= 0:
            raise NoValue
        return mpq(gmpy2.gcd(x, y) if op == "gcd" else gmpy2.lcm(x, y))
    if op == "fact":
        x = whole(a)
        if not 0 <= x <= 200:
            raise NoValue
        return mpq(gmpy2.fac(x))
    if op == "binom":
        x, y = whole(a), whole(value(t[2], at))
        if not 0 <= x <= 300 or y < 0:
            raise NoValue
        return mpq(gmpy2.bincoef(x, y)) if y <= x else mpq(0)
    if op == "ln":
        return logarithm(a)
    if op == "log":
        return logarithm(a) / logarithm(value(t[2], at))
    if op in FUNCS:
        x = real(a) if not isinstance(a, type(gmpy2.mpc(0))) else a
        if op in ("arcsin", "arccos") and abs(x) > 1:
            raise NoValue
        if abs(x) > 5000:
            raise NoValue
        if op == "tan" and abs(gmpy2.cos(mpfr(x))) < mpfr("1e-55"):
            raise NoValue
        result = FUNCS[op](mpfr(x) if not isinstance(x, type(gmpy2.mpc(0))) else x)
        return result
    raise ValueError(op)


def floor(a):
    a = real(a)
    if isinstance(a, type(mpq(1))):
        return mpq(a.numerator // a.denominator)
    near = gmpy2.rint(a)
    if abs(a) > mpfr("1e30"):
        raise NoValue
    if abs(a - near) < mpfr("1e-55"):
        return mpq(int(near))
    return mpq(int(gmpy2.floor(a)))


def logarithm(a):
    a = real(a)
    if a <= 0:
        raise NoValue
    return gmpy2.log(mpfr(a))


def root(a, n):
    if isinstance(a, type(gmpy2.mpc(0))):
        a = real(a)
    if a < 0:
        if n % 2 == 0:
            raise NoValue
        return -root(-a, n)
    if isinstance(a, type(mpq(1))):
        top, exact = gmpy2.iroot(gmpy2.mpz(a.numerator), n)
        bottom, also = gmpy2.iroot(gmpy2.mpz(a.denominator), n)
        if exact and also:
            return mpq(top, bottom)
    return gmpy2.sqrt(mpfr(a)) if n == 2 else gmpy2.rootn(mpfr(a), n)


def power(a, b):
    if isinstance(b, type(mpq(1))) and b.denominator == 1:
        n = int(b)
        if a == 0 and n <= 0:
            raise NoValue
        if abs(n) > 3000:
            raise NoValue
        if isinstance(a, type(mpq(1))) and abs(n) > 400:
            a = mpfr(a)
        return a ** n if n >= 0 else 1 / a ** (-n)
    a, b = real(a), real(b)
    if a <= 0:
        raise NoValue
    e = gmpy2.log(mpfr(a)) * b
    if abs(e) > 5000:
        raise NoValue
    return gmpy2.exp(e)


def letters(t, into=None):
    into = set() if into is None else into
    if t[0] == "var":
        into.add(t[1])
    elif t[0] == "sum":
        letters(t[2], into)
        letters(t[3], into)
        into |= letters(t[4], set()) - {t[1]}
    else:
        for part in t[1:]:
            if isinstance(part, tuple):
                letters(part, into)
    return into


def ops(t, into=None):
    into = set() if into is None else into
    into.add(t[0])
    for part in t[1:]:
        if isinstance(part, tuple):
            ops(part, into)
    return into


def numbers(t, into=None):
    into = set() if into is None else into
    if t[0] == "num":
        into.add(mpq(t[1], t[2]))
    for part in t[1:]:
        if isinstance(part, tuple):
            numbers(part, into)
    return into


def size(t):
    return 1 + sum(size(p) for p in t[1:] if isinstance(p, tuple))


def swap(t, f):
    """The same node over other children."""
    return tuple(f(p) if isinstance(p, tuple) else p for p in t)


# How it is written. Levels: 1 sum, 2 product, 3 factor, 4 power's base.
def tex(t, r, level=0):
    op = t[0]

    def wrap(own, text):
        if own >= level:
            return text
        return f"({text})" if r.random() < 0.6 else f"\\left({text}\\right)"

    if op == "num":
        n, d = t[1], t[2]
        if d == 1:
            return str(n) if n >= 0 else wrap(1, str(n))
        if n < 0:
            return wrap(1, "-" + fraction(-n, d, r))
        return wrap(4, fraction(n, d, r)) if level >= 4 else fraction(n, d, r)
    if op == "var":
        return {"x1": "x_1", "x2": "x_{2}", "an": "a_n"}.get(t[1], t[1])
    if op == "pi":
        return "\\pi"
    if op in ("e", "i"):
        return op
    if op == "+":
        right = t[2]
        if right[0] == "neg":
            return wrap(1, f"{tex(t[1], r, 1)} - {tex(right[1], r, 2)}")
        return wrap(1, f"{tex(t[1], r, 1)}{r.choice(['+', ' + '])}{tex(right, r, 2)}")
    if op == "-":
        return wrap(1, f"{tex(t[1], r, 1)}{r.choice(['-', ' - '])}{tex(t[2], r, 2)}")
    if op == "neg":
        return wrap(1, f"-{tex(t[1], r, 2)}")
    if op == "*":
        return wrap(2, tex(t[1], r, 2) + r.choice([" \\cdot ", " \\times "]) + tex(t[2], r, 3))
    if op == "/":
        return wrap(3, r.choice(["\\frac", "\\dfrac"]) + f"{{{tex(t[1], r)}}}{{{tex(t[2], r)}}}")
    if op == "^":
        return wrap(3, f"{tex(t[1], r, 5)}^{{{tex(t[2], r)}}}")
    if op == "sqrt":
        return wrap(3, f"\\sqrt{{{tex(t[1], r)}}}")
    if op == "root":
        return wrap(3, f"\\sqrt[{t[2]}]{{{tex(t[1], r)}}}")
    if op == "abs":
        return r.choice(["|{}|", "\\left|{}\\right|", "\\lvert {} \\rvert"]).format(tex(t[1], r)) if not ops(t[1]) & {"abs", "conj"} else f"\\lvert {tex(t[1], r)} \\rvert"
    if op == "floor":
        return f"\\lfloor {tex(t[1], r)} \\rfloor"
    if op == "ceil":
        return f"\\left\\lceil {tex(t[1], r)} \\right\\rceil"
    if op in ("max", "min", "gcd"):
        return wrap(3, f"\\{op}({tex(t[1], r)}, {tex(t[2], r)})")
    if op == "lcm":
        return wrap(3, f"\\operatorname{{lcm}}({tex(t[1], r)}, {tex(t[2], r)})")
    if op == "fact":
        return wrap(3, f"{tex(t[1], r, 5)}!")
    if op == "binom":
        return wrap(4, f"\\binom{{{tex(t[1], r)}}}{{{tex(t[2], r)}}}")
    if op == "conj":
        return f"\\overline{{{tex(t[1], r)}}}"
    if op in ("re", "im"):
        return wrap(3, f"\\operatorname{{{op.capitalize()}}}({tex(t[1], r)})")
    if op == "log":
        return wrap(3, f"\\log_{{{tex(t[2], r)}}}({tex(t[1], r)})")
    if op == "exp":
        return wrap(3, f"e^{{{tex(t[1], r)}}}")
    if op == "sum":
        return wrap(1, f"\\sum_{{{t[1]}={tex(t[2], r)}}}^{{{tex(t[3], r)}}} {tex(t[4], r, 3)}")
    return wrap(3, f"\\{op}({tex(t[1], r)})")


def fraction(n, d, r):
    roll = r.random()
    if roll < 0.7:
        return f"\\frac{{{n}}}{{{d}}}"
    return f"({n}/{d})"
