// The Python side of tests in Python, part of the harness: two sandboxed processes that talk through their pipes. `serve` holds
// the program of an answer and does what it is asked: call, get, set. `test` runs the tests of the data set, where the answer's
// names are stand-ins that ask. No line of the answer runs beside the tests, and what comes back is plain data, rebuilt there.
// An object of another class stays with the answer: its stand-in equals nothing but itself.

export const PYTHON_TESTS = String.raw`
class Talk:
    def __init__(self, os, source, sink, rest):
        self.read = lambda: os.read(source, 1 << 20)
        self.write = lambda view: os.write(sink, view)
        self.rest = rest

    def say(self, text):
        view = memoryview(text.encode() + b'\n')
        while view:
            view = view[self.write(view):]

    def hear(self):
        # None: the other process has ended.
        parts = [self.rest]
        while b'\n' not in parts[-1]:
            part = self.read()
            if not part:
                return None
            parts.append(part)
        line, self.rest = b''.join(parts).split(b'\n', 1)
        return line.decode()


class Missing(Exception):
    pass


class Ended(BaseException):
    pass


class Unfit(Exception):
    # The tests want what is not here.
    pass


BUILT_IN = (bool, int, float, str, list, tuple, set, frozenset, dict, bytes, complex, type(None))
KINDS = (
    ('tuple', tuple, tuple, tuple),
    ('set', set, tuple, set),
    ('frozenset', frozenset, tuple, frozenset),
    ('dict', dict, lambda value: map(list, value.items()), dict),
    ('bytes', (bytes, bytearray), tuple, bytes),
    ('complex', complex, lambda value: (value.real, value.imag), lambda parts: complex(*parts)),
    ('range', range, lambda value: (value.start, value.stop, value.step), lambda parts: range(*parts)),
    ('type', (), None, lambda name: {one.__name__: one for one in BUILT_IN}[name]),
    ('iter', (type({}.keys()), type({}.values()), type({}.items())), tuple, iter),
)


def pack(value, own, depth=0):
    kind = type(value)
    if value is None or kind is bool or kind is int or kind is float or kind is str:
        return value
    if depth > 150:
        raise Odd('odd depth')
    if isinstance(value, list):
        return [pack(item, own, depth + 1) for item in value]
    if kind is type and value in BUILT_IN:
        return {'type': value.__name__}
    for one in (int, float, str):
        if isinstance(value, one):
            return one(value)
    for name, one, parts, _ in KINDS:
        if isinstance(value, one) or (name == 'iter' and hasattr(kind, '__next__')):
            return {name: [pack(item, own, depth + 1) for item in parts(value)]}
    return own(value)


def unpack(value, own):
    if type(value) is list:
        return [unpack(item, own) for item in value]
    if type(value) is not dict:
        return value
    (name, inside), = value.items()
    if name == 'own':
        return own(inside)
    make, = [make for known, _, _, make in KINDS if known == name]
    return make(unpack(inside, own))


def serve(space, talk, loads, dumps, leave):
    held = []

    def own(handle):
        if type(handle) is int:
            return held[handle]
        target = find(space, handle)
        if target is None:
            raise Missing
        return target

    def hold(value):
        held.append(value)
        return {'own': len(held) - 1}

    while True:
        asked = talk.hear()
        if asked is None:
            leave(0)
        try:
            what, target, *rest = unpack(loads(asked), own)
            if what == 'call':
                value = target(*rest[0], **rest[1])
            else:
                value = (getattr if what == 'get' else setattr)(target, *rest)
            reply = ['value', pack(value, hold)]
        except Missing:
            reply = ['missing']
        except Odd:
            reply = ['odd']
        except Exception as error:
            reply = ['error', type(error).__name__, str(error)[:200]]
        talk.say(dumps(reply))


def test(source, before, names, talk, loads, dumps):
    # What came of it, and the number of times that the answer was asked.
    import sys, builtins
    asked = 0
    end = None
    detail = ''

    def finish(word):
        nonlocal end
        end = end or word
        raise Ended

    def ask(*request):
        nonlocal asked
        asked += 1
        if end:
            raise Ended
        talk.say(dumps(pack(list(request), handle_of)))
        reply = talk.hear()
        if reply is None:
            finish('gone')
        try:
            word, *rest = loads(reply)
            value = unpack(rest[0], Answers) if word == 'value' else None
        except Exception:
            finish('forged')
        if word == 'value':
            return value
        if word != 'error' or len(rest) != 2:
            finish(word if word == 'missing' or word == 'odd' else 'forged')
        kind = getattr(builtins, str(rest[0]), None)
        try:
            error = kind(rest[1]) if issubclass(kind, Exception) else Exception(rest[1])
        except TypeError:
            error = Exception(rest[1])
        error.said = rest
        raise error

    class Answers:
        def __init__(self, handle):
            object.__setattr__(self, 'handle', handle)

        def __call__(self, *args, **kwargs):
            return ask('call', self, list(args), kwargs)

        def __getattr__(self, name):
            if name.startswith('__'):
                raise AttributeError(name)
            return ask('get', self, name)

        def __setattr__(self, name, value):
            ask('set', self, name, value)

    def handle_of(value):
        if type(value) is not Answers:
            raise Unfit(type(value).__name__)
        return {'own': object.__getattribute__(value, 'handle')}

    sys.modules['numpy'] = little_numpy(type(sys))
    space = {'__name__': 'tests', '__builtins__': builtins}
    try:
        exec(before, space)
        used, bound = globals_of(source)
        for name in used - bound:
            if name in MODULES and name not in space and name not in names:
                space[name] = __import__(name)
            elif name in names or not (name in space or hasattr(builtins, name)):
                space[name] = Answers(name)
        exec(source, space)
        word = 'passed' if asked else 'bad'
    except Ended:
        word = end
    except BaseException as error:
        word = 'failed'
        if hasattr(error, 'said'):
            word, detail = 'raised', ': '.join(str(part)[:200] for part in error.said)
        elif not asked or isinstance(error, (ImportError, NameError, SyntaxError, Unfit, Odd)):
            word = 'bad'
    # The tests may have caught what ended them.
    return '%s %d %s' % (end or word, asked, detail)


def little_numpy(module):
    # What the tests of EvalPlus use of it.
    numpy = module('numpy')

    def allclose(a, b, rtol=1e-05, atol=1e-08):
        # Without its broadcasting: there [5] is close to [].
        if isinstance(b, (list, tuple)):
            return len(a) == len(b) and all(allclose(x, y, rtol, atol) for x, y in zip(a, b))
        return a == b or abs(a - b) <= atol + rtol * abs(b) < float('inf')

    def unfit(name):
        if name.startswith('__'):
            raise AttributeError(name)
        raise Unfit(name)

    numpy.allclose, numpy.__getattr__ = allclose, unfit
    for name in ('ndarray', 'float64', 'float32'):
        setattr(numpy, name, type(name, (), {}))
    return numpy
`;
