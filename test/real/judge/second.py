"""The same trees by mpmath, at 60 digits: a second evaluator, so that a fault of the first one is found.

Nothing here is shared with trees.py but the shape of a tree and what has no value.
"""

import gmpy2
import mpmath
from gmpy2 import mpq
from mpmath import mp, mpc, mpf

from trees import NoValue

mp.dps = 60
ZERO = mpf(10) ** -50
UNARY = {
    "neg": lambda a: -a, "abs": abs, "conj": mpmath.conj, "re": mpmath.re, "im": mpmath.im, "exp": mpmath.exp,
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "arcsin": mpmath.asin, "arccos": mpmath.acos,
    "arctan": mpmath.atan, "sinh": mpmath.sinh, "cosh": mpmath.cosh, "tanh": mpmath.tanh,
}
BINARY = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}


def as_mp(v):
    """A fraction, a real or a complex number of gmpy2's."""
    if isinstance(v, type(mpq(1))):
        return mpf(int(v.numerator)) / int(v.denominator)
    if isinstance(v, type(gmpy2.mpc(0))):
        return mpc(as_mp(v.real), as_mp(v.imag))
    return mpf(str(v))


def real(a):
    if isinstance(a, mpc):
        if a.imag != 0:
            raise NoValue
        return a.real
    return a


def whole(a):
    a = real(a)
    if a != mpmath.nint(a):
        raise NoValue
    return int(a)


def floor(a):
    a = real(a)
    near = mpmath.nint(a)
    return near if abs(a - near) < ZERO else mpmath.floor(a)


def root(a, n):
    a = real(a)
    if a < 0 and n % 2 == 0:
        raise NoValue
    return mpmath.sign(a) * mpmath.root(abs(a), n)


def logarithm(a):
    a = real(a)
    if a <= 0:
        raise NoValue
    return mpmath.log(a)


def power(a, b):
    if not isinstance(b, mpc) and b == mpmath.nint(b):
        if a == 0 and b <= 0:
            raise NoValue
        return a ** int(b)
    return mpmath.exp(logarithm(a) * real(b))


def second(t, at):
    op = t[0]
    if op == "num":
        return mpf(t[1]) / t[2]
    if op == "var":
        return as_mp(at[t[1]])
    if op in ("pi", "e", "i"):
        return {"pi": +mp.pi, "e": +mp.e, "i": mpc(0, 1)}[op]
    if op == "sum":
        low, high = whole(second(t[2], at)), whole(second(t[3], at))
        if high - low > 400 or high < low - 1:
            raise NoValue
        return mpmath.fsum(second(t[4], {**at, t[1]: mpq(j)}) for j in range(low, high + 1))
    a = second(t[1], at)
    if op in UNARY:
        return UNARY[op](a)
    if op == "sqrt" or op == "root":
        return root(a, 2 if op == "sqrt" else t[2])
    if op == "floor" or op == "ceil":
        return floor(a) if op == "floor" else -floor(-a)
    if op == "ln":
        return logarithm(a)
    if op == "fact":
        if not 0 <= whole(a) <= 200:
            raise NoValue
        return mpmath.factorial(whole(a))
    b = second(t[2], at)
    if op in BINARY:
        return BINARY[op](a, b)
    if op == "/":
        if abs(b) < ZERO:
            raise NoValue
        return a / b
    if op == "^":
        return power(a, b)
    if op == "log":
        return logarithm(a) / logarithm(b)
    if op == "max" or op == "min":
        return (max if op == "max" else min)(real(a), real(b))
    x, y = whole(a), whole(b)
    if op == "binom":
        return mpmath.binomial(x, y) if 0 <= y <= x else mpf(0)
    both = int(gmpy2.gcd(x, y))
    return mpf(both if op == "gcd" else x * y // both)

