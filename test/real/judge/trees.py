"""Expressions as tuples, how they are written, and what they are worth at a point: the oracle's own tree.

Nothing here knows the judge. Values are reals or complex numbers of 70 digits (gmpy2's MPFR and MPC).
"""

import math
from operator import add, mul, neg, sub

import gmpy2
from gmpy2 import mpfr, mpq

gmpy2.get_context().precision = 240


class NoValue(Exception):
    pass


def N(n, d=1):
    return ("num", n, d)


def V(name):
    return ("var", name)


EXACT, COMPLEX = type(mpq(1)), type(gmpy2.mpc(0))


def real(x):
    if isinstance(x, COMPLEX):
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
    if op != "sum":
        return OPERATIONS[op](*(value(part, at) if isinstance(part, tuple) else part for part in t[1:]))
    total = mpq(0)
    low, high = whole(value(t[2], at)), whole(value(t[3], at))
    if high - low > 400 or high < low - 1:
        raise NoValue
    for j in range(low, high + 1):
        total += value(t[4], {**at, t[1]: mpq(j)})
    return total


def quotient(a, b):
    if b == 0 or (not isinstance(b, EXACT) and abs(b) < mpfr("1e-55")):
        raise NoValue
    return a / b


def of_wholes(least, most, f):
    """The function of whole numbers, of which the first lies between these and the others are at least `least`."""

    def of(*arguments):
        first, *others = map(whole, arguments)
        if not least <= first <= most or min(others, default=least) < least:
            raise NoValue
        return mpq(f(first, *others))

    return of


def of_real(f):
    def of(a):
        a = mpfr(a) if not isinstance(a, COMPLEX) else a
        if abs(a) > 5000:
            raise NoValue
        return f(a)

    return of


def tangent(a):
    if abs(gmpy2.cos(a)) < mpfr("1e-55"):
        raise NoValue
    return gmpy2.tan(a)


def floor(a):
    a = real(a)
    if isinstance(a, EXACT):
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
    if isinstance(a, COMPLEX):
        a = real(a)
    if a < 0:
        if n % 2 == 0:
            raise NoValue
        return -root(-a, n)
    if isinstance(a, EXACT):
        top, exact = gmpy2.iroot(gmpy2.mpz(a.numerator), n)
        bottom, also = gmpy2.iroot(gmpy2.mpz(a.denominator), n)
        if exact and also:
            return mpq(top, bottom)
    return gmpy2.sqrt(mpfr(a)) if n == 2 else gmpy2.rootn(mpfr(a), n)


def power(a, b):
    if isinstance(b, EXACT) and b.denominator == 1:
        n = int(b)
        if a == 0 and n <= 0:
            raise NoValue
        if abs(n) > 3000:
            raise NoValue
        if isinstance(a, EXACT) and abs(n) > 400:
            a = mpfr(a)
        return a ** n if n >= 0 else 1 / a ** (-n)
    a, b = real(a), real(b)
    if a <= 0:
        raise NoValue
    e = gmpy2.log(mpfr(a)) * b
    if abs(e) > 5000:
        raise NoValue
    return gmpy2.exp(e)


OPERATIONS = {
    "pi": gmpy2.const_pi,
    "e": lambda: gmpy2.exp(mpfr(1)),
    "i": lambda: gmpy2.mpc(0, 1),
    **{"neg": neg, "+": add, "-": sub, "*": mul, "/": quotient, "^": power, "abs": abs, "floor": floor, "root": root},
    "sqrt": lambda a: root(a, 2),
    "conj": lambda a: a.conjugate() if isinstance(a, COMPLEX) else a,
    "re": lambda a: a.real if isinstance(a, COMPLEX) else a,
    "im": lambda a: a.imag if isinstance(a, COMPLEX) else mpq(0),
    "ceil": lambda a: -floor(-a),
    "max": lambda a, b: max(real(a), real(b)),
    "min": lambda a, b: min(real(a), real(b)),
    "gcd": of_wholes(1, math.inf, gmpy2.gcd),
    "lcm": of_wholes(1, math.inf, gmpy2.lcm),
    "fact": of_wholes(0, 200, gmpy2.fac),
    "binom": of_wholes(0, 300, lambda n, k: gmpy2.bincoef(n, k) if k <= n else 0),
    "ln": logarithm,
    "log": lambda a, b: logarithm(a) / logarithm(b),
    "tan": of_real(tangent),
    "arctan": of_real(gmpy2.atan),
    **{name: of_real(getattr(gmpy2, name)) for name in ("sin", "cos", "sinh", "cosh", "tanh", "exp")},
}


def nodes(t):
    yield t
    for part in t[1:]:
        if isinstance(part, tuple):
            yield from nodes(part)


def letters(t):
    """The free ones: no letter of a sum stands outside of it."""
    return {node[1] for node in nodes(t) if node[0] == "var"} - {node[1] for node in nodes(t) if node[0] == "sum"}


def ops(t):
    return {node[0] for node in nodes(t)}


def numbers(t):
    return {mpq(node[1], node[2]) for node in nodes(t) if node[0] == "num"}


def size(t):
    return sum(1 for _ in nodes(t))


def swap(t, f):
    """The same node over other children."""
    return tuple(f(p) if isinstance(p, tuple) else p for p in t)


# How it is written. Levels: 1 sum, 2 product, 3 factor, 4 power's base; 9 stands for itself.
# An operation is its level, its signs and the levels of its sides; a form its level, the texts of which one is drawn, and
# the level of its first part.
SIGNS = {"+": (1, ["+", " + "], 1, 2), "-": (1, ["-", " - "], 1, 2), "*": (2, [" \\cdot ", " \\times "], 2, 3)}
FORMS = {
    "neg": (1, ["-{}"], 2),
    "/": (3, ["\\frac{{{}}}{{{}}}", "\\dfrac{{{}}}{{{}}}"], 0),
    "^": (3, ["{}^{{{}}}"], 5),
    "sqrt": (3, ["\\sqrt{{{}}}"], 0),
    "abs": (9, ["|{}|", "\\left|{}\\right|", "\\lvert {} \\rvert"], 0),
    "floor": (9, ["\\lfloor {} \\rfloor"], 0),
    "ceil": (9, ["\\left\\lceil {} \\right\\rceil"], 0),
    "lcm": (3, ["\\operatorname{{lcm}}({}, {})"], 0),
    "fact": (3, ["{}!"], 5),
    "binom": (4, ["\\binom{{{}}}{{{}}}"], 0),
    "conj": (9, ["\\overline{{{}}}"], 0),
    "re": (3, ["\\operatorname{{Re}}({})"], 0),
    "im": (3, ["\\operatorname{{Im}}({})"], 0),
    "exp": (3, ["e^{{{}}}"], 0),
}


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
        return wrap(4, fraction(n, d, r))
    if op == "var":
        return t[1]
    if op in ("pi", "e", "i"):
        return "\\pi" if op == "pi" else op
    if op == "+" and t[2][0] == "neg":
        return wrap(1, f"{tex(t[1], r, 1)} - {tex(t[2][1], r, 2)}")
    if op in SIGNS:
        own, signs, left, right = SIGNS[op]
        return wrap(own, tex(t[1], r, left) + r.choice(signs) + tex(t[2], r, right))
    if op == "root":
        return wrap(3, f"\\sqrt[{t[2]}]{{{tex(t[1], r)}}}")
    if op == "log":
        return wrap(3, f"\\log_{{{tex(t[2], r)}}}({tex(t[1], r)})")
    if op == "sum":
        return wrap(1, f"\\sum_{{{t[1]}={tex(t[2], r)}}}^{{{tex(t[3], r)}}} {tex(t[4], r, 3)}")
    own, texts, first = FORMS.get(op, (3, [f"\\{op}(" + ", ".join("{}" for _ in t[1:]) + ")"], 0))
    if op == "abs" and ops(t[1]) & {"abs", "conj"}:
        texts = texts[2:]
    text = r.choice(texts) if len(texts) > 1 else texts[0]
    return wrap(own, text.format(*(tex(part, r, 0 if i else first) for i, part in enumerate(t[1:]))))


def fraction(n, d, r):
    roll = r.random()
    if roll < 0.7:
        return f"\\frac{{{n}}}{{{d}}}"
    return f"({n}/{d})"
