"""Random expressions, rewriting that keeps their value, and changes that need not."""

from trees import N, V, letters, ops, size, swap, value

REALS = ["x", "y", "a", "b", "t"]
WHOLE = ["n", "m", "k"]


def small(r):
    roll = r.random()
    if roll < 0.75:
        return N(r.randint(1, 12))
    if roll < 0.85:
        return N(-r.randint(1, 9))
    n, d = r.randint(1, 9), r.randint(2, 9)
    return N(n, d) if n % d else N(n)


def constant(r, depth):
    if depth <= 0 or r.random() < 0.2:
        return r.choice([small(r), small(r), small(r), ("pi",), ("e",), ("sqrt", N(r.choice([2, 3, 5, 6, 7, 8, 12, 18])))])
    roll = r.random()
    a = constant(r, depth - 1)
    if roll < 0.5:
        return (r.choice("+-**/"), a, constant(r, depth - 1))
    if roll < 0.6:
        return ("^", a, N(r.randint(2, 3)))
    if roll < 0.7:
        return (r.choice(["sqrt", "sqrt", "abs"]), a)
    if roll < 0.74:
        return ("root", small(r), r.choice([3, 4, 5]))
    if roll < 0.82:
        angle = ("/", ("*", N(r.randint(1, 11)), ("pi",)), N(r.choice([2, 3, 4, 5, 6, 12])))
        return (r.choice(["sin", "cos", "tan"]), angle)
    if roll < 0.88:
        return r.choice([("ln", N(r.randint(2, 12))), ("log", N(r.randint(2, 30)), N(r.randint(2, 9)))])
    if roll < 0.91:
        return (r.choice(["arctan", "exp", "sinh", "cosh"]), small(r))
    if roll < 0.95:
        return (r.choice(["floor", "ceil"]), a)
    return r.choice([("fact", N(r.randint(2, 8))), ("binom", N(r.randint(3, 9)), N(r.randint(0, 4))), ("gcd", N(r.randint(2, 60)), N(r.randint(2, 60)))])


def analytic(r, depth, names):
    if depth <= 0 or r.random() < 0.15:
        return V(r.choice(names)) if r.random() < 0.65 else small(r)
    a = analytic(r, depth - 1, names)
    roll = r.random()
    if roll < 0.62:
        return (r.choice("++--**/"), a, analytic(r, depth - 1, names))
    if roll < 0.74:
        return ("^", a, N(r.randint(2, 3)))
    if roll < 0.82:
        return (r.choice(["sin", "cos", "exp"]), a)
    if roll < 0.87:
        return (r.choice(["sqrt", "ln"]), a)
    if roll < 0.9:
        return ("root", a, 3)
    if roll < 0.93:
        return (r.choice(["arctan", "sinh", "cosh", "tanh"]), a)
    return ("*", r.choice([("pi",), ("e",), ("sqrt", N(2))]), a)


def line(r, names):
    t = V(r.choice(names))
    if r.random() < 0.4:
        t = ("*", N(r.randint(2, 5)), t)
    if len(names) > 1 and r.random() < 0.4:
        t = (r.choice("+-"), t, V(r.choice(names)))
    if r.random() < 0.6:
        t = (r.choice("+-"), t, N(r.choice([1, 1, 2, 3, 5, 7, 10, 100])))
    return t


def broken(r, depth, names):
    """Formulas that change with signs and orders."""
    if depth <= 0:
        return line(r, names) if r.random() < 0.8 else small(r)
    roll = r.random()
    if roll < 0.35:
        return (r.choice("+-*"), broken(r, depth - 1, names), broken(r, depth - 1, names))
    if roll < 0.55:
        return ("abs", line(r, names))
    if roll < 0.72:
        return (r.choice(["max", "min"]), line(r, names), line(r, names) if r.random() < 0.6 else small(r))
    if roll < 0.82:
        return ("sqrt", ("^", line(r, names), N(2)))
    if roll < 0.94:
        return ("abs", ("-", ("^", V(names[0]), N(2)), N(r.choice([1, 4, 9, 100]))))
    return ("sqrt", line(r, names))


def counted(r, depth, names):
    """Factorials, binomials, powers and sums."""
    n = V(names[0])
    if depth <= 0:
        return line(r, names) if r.random() < 0.5 else r.choice([("fact", n), ("^", N(r.randint(2, 3)), n), small(r)])
    roll = r.random()
    if roll < 0.45:
        return (r.choice("+-**/"), counted(r, depth - 1, names), counted(r, depth - 1, names))
    if roll < 0.6:
        return ("fact", ("+", n, N(r.randint(0, 2))) if r.random() < 0.6 else n)
    if roll < 0.75:
        return ("binom", n, N(r.randint(1, 3)) if len(names) == 1 or r.random() < 0.5 else V(names[1]))
    if roll < 0.85:
        body = r.choice([V("j"), ("^", V("j"), N(2)), ("*", N(2), V("j")), ("^", N(2), V("j"))])
        return ("sum", "j", N(1), n, body)
    if roll < 0.95:
        return ("^", N(r.randint(2, 4)), ("+", n, N(r.randint(1, 2))))
    return ("^", N(-1), n)


def complex_number(r, depth):
    if depth <= 0:
        return r.choice([("i",), small(r), ("+", small(r), ("*", small(r), ("i",)))])
    roll = r.random()
    a = complex_number(r, depth - 1)
    if roll < 0.65:
        return (r.choice("+-**/"), a, complex_number(r, depth - 1))
    if roll < 0.8:
        return ("^", a, N(r.randint(2, 3)))
    return (r.choice(["conj", "re", "im", "abs"]), a)


def complex_letters(r, depth):
    z = V("z")
    if depth <= 0:
        return r.choice([z, z, ("conj", z), ("abs", z), ("re", z), ("im", z), small(r)])
    return (r.choice("+-**"), complex_letters(r, depth - 1), complex_letters(r, depth - 1))


def rewrite(t, r):
    """The same value at every point where it has one."""
    t = swap(t, lambda child: rewrite(child, r))
    if size(t) > 60 or r.random() < 0.35:
        return t
    op = t[0]
    a = t[1] if len(t) > 1 and isinstance(t[1], tuple) else None
    b = t[2] if len(t) > 2 and isinstance(t[2], tuple) else None
    ways = []
    if op in ("+", "*", "max", "min", "gcd", "lcm"):
        ways.append((op, b, a))
    if op == "-":
        ways += [("+", a, ("neg", b)), ("neg", ("-", b, a)), ("+", ("neg", b), a)]
    if op == "*" and b[0] in "+-" and len(b) == 3:
        ways.append((b[0], ("*", a, b[1]), ("*", a, b[2])))
    if op == "*" and a[0] in "+-" and len(a) == 3:
        ways.append((a[0], ("*", a[1], b), ("*", a[2], b)))
    if op == "/":
        ways.append(("*", a, ("/", N(1), b)))
        if a[0] in "+-" and len(a) == 3:
            ways.append((a[0], ("/", a[1], b), ("/", a[2], b)))
        if b[0] == "sqrt" and b[1][0] == "num" and b[1][1] > 0:
            ways.append(("/", ("*", a, b), b[1]))
    if op == "^" and b[0] == "num" and b[2] == 1 and b[1] in (2, 3):
        ways.append(("*", a, a if b[1] == 2 else ("^", a, N(2))))
        if a[0] == "-":
            ways.append(("*", N((-1) ** b[1]), ("^", ("-", a[2], a[1]), b)))
    if op == "^" and a[0] == "num" and a[2] == 1 and b[0] == "+":
        ways.append(("*", ("^", a, b[1]), ("^", a, b[2])))
    if op == "^" and a == N(-1):
        ways.append(("^", N(-1), ("+", b, N(2))))
        ways.append(("neg", ("^", N(-1), ("+", b, N(1)))))
    if op == "num" and t[2] == 1 and abs(t[1]) < 50:
        ways += [("-", N(t[1] + 3), N(3)), ("/", N(t[1] * 2), N(2))]
    if op == "abs":
        ways += [("abs", ("neg", a)), ("sqrt", ("^", a, N(2)))] if "i" not in ops(a) and "z" not in letters(a) else [("abs", ("neg", a)), ("abs", ("conj", a))]
        if a[0] == "-":
            ways.append(("abs", ("-", a[2], a[1])))
        if "i" not in ops(a) and "z" not in letters(a):
            ways.append(("max", a, ("neg", a)))
    if op == "sqrt" and a[0] == "^" and a[2] == N(2):
        ways += [("abs", a[1])]
    if op == "sqrt" and a[0] == "num" and a[2] == 1 and a[1] > 0:
        ways += [("/", ("sqrt", N(a[1] * 4)), N(2)), ("^", a, N(1, 2))]
    if op == "max":
        ways += [("/", ("+", ("+", a, b), ("abs", ("-", a, b))), N(2)), ("neg", ("min", ("neg", a), ("neg", b)))]
    if op == "min":
        ways += [("-", ("+", a, b), ("max", a, b))]
    if op == "ceil":
        ways += [("neg", ("floor", ("neg", a))), ("-", ("ceil", ("+", a, N(1))), N(1))]
    if op == "floor":
        ways += [("neg", ("ceil", ("neg", a))), ("-", ("floor", ("+", a, N(2))), N(2))]
    if op == "fact" and a[0] == "+" and a[2][0] == "num" and a[2][1] >= 1:
        ways.append(("*", a, ("fact", ("+", a[1], N(a[2][1] - 1)))))
    if op == "binom" and (letters(a) or 0 <= value(b, {}) <= value(a, {})):
        ways.append(("/", ("fact", a), ("*", ("fact", b), ("fact", ("-", a, b)))))
        if b == N(2):
            ways.append(("/", ("*", a, ("-", a, N(1))), N(2)))
    if op == "sum":
        if t[4] == V("j"):
            ways.append(("/", ("*", t[3], ("+", t[3], N(1))), N(2)))
        if t[4] == ("^", N(2), V("j")):
            ways.append(("-", ("^", N(2), ("+", t[3], N(1))), N(2)))
    if op == "sin":
        ways += [("neg", ("sin", ("neg", a))), ("cos", ("-", ("/", ("pi",), N(2)), a))]
    if op == "cos":
        ways += [("cos", ("neg", a)), ("-", N(1), ("*", N(2), ("^", ("sin", ("/", a, N(2))), N(2))))]
    if op == "tan":
        ways.append(("/", ("sin", a), ("cos", a)))
    if op == "sinh":
        ways.append(("/", ("-", ("exp", a), ("exp", ("neg", a))), N(2)))
    if op == "exp" and a[0] == "+":
        ways.append(("*", ("exp", a[1]), ("exp", a[2])))
    if op == "log":
        ways.append(("/", ("ln", a), ("ln", b)))
    if op == "conj":
        if a[0] in "+-*" and len(a) == 3:
            ways.append((a[0], ("conj", a[1]), ("conj", a[2])))
        if a[0] == "conj":
            ways.append(a[1])
    if op == "re":
        ways.append(("/", ("+", a, ("conj", a)), N(2)))
    return r.choice(ways) if ways else t


def mutate(t, r):
    """One node changed: a sign, a number, a letter, an operator, a function; or a wrapper dropped."""
    left = [r.randrange(size(t))]

    def walk(node):
        left[0] -= 1
        if left[0] != -1:
            return swap(node, walk)
        return change(node, r)

    return walk(t)


OTHER = {
    "sin": "cos", "cos": "sin", "tan": "sin", "floor": "ceil", "ceil": "floor", "max": "min", "min": "max", "abs": "neg",
    "sqrt": "abs", "exp": "cosh", "sinh": "cosh", "cosh": "sinh", "tanh": "sinh", "ln": "sqrt", "arctan": "tanh", "gcd": "lcm",
    "lcm": "gcd", "conj": "neg", "re": "im", "im": "re",
}
UNWRAP = {"abs", "floor", "ceil", "max", "min", "conj", "re", "fact", "gcd", "neg", "sqrt"}


def change(node, r):
    op = node[0]
    if op == "num":
        roll = r.random()
        if roll < 0.5:
            return N(node[1] + r.choice([-1, 1]) * (1 if node[2] > 1 else 1), node[2])
        if roll < 0.65:
            return N(-node[1], node[2]) if node[1] else N(1)
        if roll < 0.75:
            return ("+", node, N(1, 10 ** r.choice([6, 9, 15, 40])))
        return N(node[1] * 10, node[2])
    if op == "var":
        return V(r.choice([name for name in (WHOLE if node[1] in WHOLE else REALS) if name != node[1]]))
    if op in UNWRAP and r.random() < 0.5:
        return node[1]
    if op == "ceil":
        return ("+", ("floor", node[1]), N(1))
    if op in OTHER:
        return (OTHER[op], *node[1:]) if OTHER[op] not in ("neg", "abs", "sqrt") else (OTHER[op], node[1])
    if op in ("+", "-", "*", "/"):
        if r.random() < 0.3:
            return (op, node[2], node[1])
        return (r.choice([o for o in "+-*/" if o != op]), node[1], node[2])
    if op == "^":
        return r.choice([("^", node[1], ("+", node[2], N(1))), ("*", node[1], node[2]), ("^", node[2], node[1]) if node[2][0] == "var" else node[1]])
    if op in ("pi", "e"):
        return ("e",) if op == "pi" else ("pi",)
    return ("neg", node)
