// The Python side of the sandbox: reads one job, runs the program, and for a call prints the value as one line. It has no
// secret and no expected value, so a program gains nothing by inspecting it. The program is its own module: `__main__`
// with standard input from a file, as in programming contests. Names that solutions use without an import (`List`,
// `deque`, `gcd`, …) are imported on use and never bound.

import { PYTHON_TESTS } from './python-tests.ts';

export const PYTHON_HARNESS = String.raw`${PYTHON_TESTS}
def main():
    # Not os: what it imports would cost every program a millisecond.
    import sys, posix as os, builtins
    os.write(1, b'ready\n')
    job = [os.read(0, 1 << 20)]
    while b'\n' not in job[-1]:
        job.append(os.read(0, 1 << 20))
    head, part = b''.join(job).split(b'\n', 1)
    kind, nonce, *sizes = head.split()
    sizes = list(map(int, sizes))
    job, left = [part], sum(sizes) - len(part)
    while left > 0:
        job.append(os.read(0, 1 << 20))
        left -= len(job[-1])
    job = b''.join(job)
    name, source, data, rest = (job[sum(sizes[:i]):sum(sizes[:i + 1]) if i < 3 else None] for i in range(4))
    name = name.decode()
    call = kind == b'call'
    # The program of an answer and the tests of it, each in a process of its own.
    paired = kind == b'serve' or kind == b'test'
    builtins.exit = builtins.quit = sys.exit
    sys.setrecursionlimit(600000)
    sys.argv = ['solution.py']
    if hasattr(sys, 'set_int_max_str_digits'):
        sys.set_int_max_str_digits(0)
    channel = None
    args = ()
    dumps = None
    if call or paired:
        loads, dumps = json_by_hand()
    if paired:
        talk = Talk(os, os.dup(0), os.dup(1), rest)
    if call:
        args = loads(data.decode())
        # JSON has only texts for keys: where all of them are whole numbers, numbers were meant.
        if len(args) == 1 and type(args[0]) is dict:
            try:
                args = [{int(k): v for k, v in args[0].items()}]
            except ValueError:
                pass
    if call or paired:
        channel = os.dup(1)
        null = os.open('/dev/null', os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.close(null)
    else:
        feed = nameless_file(os)
        view = memoryview(data)
        while view:
            view = view[os.write(feed, view):]
        os.lseek(feed, 0, 0)
        os.dup2(feed, 0)
        os.close(feed)
        sys.stdin = sys.__stdin__ = open(0, encoding='utf-8', errors='surrogateescape', closefd=False)
    if kind == b'test':
        os.write(channel, b'go\n')
        sys.setrecursionlimit(5000)
        said = test(source, data, name.split(), talk, loads, dumps)
        os.write(2, b'\n%s %s\n' % (nonce, said.encode('ascii', 'replace')))
        os._exit(0)
    module = type(sys)('solution' if call or paired else '__main__')
    module.__file__ = 'solution.py'
    module.__builtins__ = builtins
    sys.modules[module.__name__] = module
    space = module.__dict__
    del job, data
    os.write(1 if channel is None else channel, b'go\n')

    grant_limits(source)
    prelude(source, space)
    # The text itself: to compile it apart makes Python build its syntax classes, which costs as much again.
    if not call and not paired:
        return source, space
    exec(source, space)
    if paired:
        serve(space, talk, loads, dumps, os._exit)
    target = find(space, name)
    if target is None:
        report = 'no-function'
    else:
        value = target(*args)
        try:
            report = 'value ' + dumps(plain(value, 0))
        except Odd as odd:
            report = odd.args[0]
    line = nonce + b' ' + report.encode() + b'\n'
    view = memoryview(line)
    while view:
        view = view[os.write(channel, view):]
    os._exit(0)


def find(space, name):
    owner = space.get('Solution')
    if isinstance(owner, type) and hasattr(owner, name):
        return getattr(owner(), name)
    return space[name] if callable(space.get(name)) else None


def grant_limits(source):
    # Contest programs ask for more stack than the sandbox gives, as their judges give it. Who asks for more than there is
    # gets what there is; the kernel's limits stay as they are.
    if b'rlimit' in source:
        import resource
        current, change, both = resource.getrlimit, resource.setrlimit, resource.prlimit

        def cut(which, limits):
            if which != resource.RLIMIT_STACK:
                return limits
            most = current(which)[1]
            soft, hard = limits
            rank = lambda limit: float('inf') if limit < 0 else limit
            return min(soft, most, key=rank), min(hard, most, key=rank)

        def setrlimit(which, limits):
            change(which, cut(which, limits))

        def prlimit(pid, which, limits=None):
            return both(pid, which) if limits is None else both(pid, which, cut(which, limits))

        resource.setrlimit, resource.prlimit = setrlimit, prlimit
    if b'stack_size' in source:
        import _thread, threading, resource
        space = resource.getrlimit(resource.RLIMIT_AS)[0]
        size = _thread.stack_size
        most = 1 << 28 if space < 0 else space // 2

        def stack_size(wanted=0):
            return size(min(wanted, most))

        _thread.stack_size = threading.stack_size = stack_size


def nameless_file(os):
    try:
        return os.open('/tmp', os.O_TMPFILE | os.O_RDWR, 0o600)
    except (AttributeError, OSError):
        # Not in the sandbox, where /tmp is memory.
        import tempfile
        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())


def json_by_hand():
    # The compiled half of json alone: the rest of it costs as much as starting Python.
    try:
        from _json import encode_basestring_ascii, make_encoder, make_scanner
        import sys
        scan = make_scanner(type(sys.implementation)(
            strict=True, object_hook=None, object_pairs_hook=None, parse_float=float, parse_int=int, parse_constant=float))
        encode = make_encoder(None, None, encode_basestring_ascii, None, ': ', ', ', False, False, True)
        return (lambda text: scan(text, 0)[0]), (lambda value: ''.join(encode(value, 0)))
    except (ImportError, TypeError):
        import json
        return json.loads, json.dumps


class Odd(Exception):
    pass


def plain(value, depth):
    kind = type(value)
    if kind is int or kind is str or kind is float or kind is bool or value is None:
        return value
    if depth > 150:
        raise Odd('odd depth')
    if kind is list or kind is tuple:
        return [plain(item, depth + 1) for item in value]
    if kind is dict:
        if any(type(key) is not str and type(key) is not int for key in value):
            raise Odd('odd key')
        return {key: plain(item, depth + 1) for key, item in value.items()}
    module = kind.__module__
    raise Odd('own class' if module == 'solution' or module == '__main__' else 'odd class')


GENERIC = {'List': list, 'Dict': dict, 'Set': set, 'Tuple': tuple, 'FrozenSet': frozenset, 'Type': type}
NAMES = {
    'typing': 'Any Callable DefaultDict Deque Generator Generic Iterable Iterator Literal Mapping NamedTuple NoReturn'
    ' Optional Sequence TypeVar Union',
    'collections': 'ChainMap Counter OrderedDict UserDict defaultdict deque namedtuple',
    'heapq': 'heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest',
    'bisect': 'bisect_left bisect_right insort insort_left insort_right',
    'math': 'acos asin atan atan2 ceil comb cos degrees dist e exp fabs factorial floor fmod gcd hypot inf isclose'
    ' isfinite isinf isnan isqrt lcm log log10 log2 modf nan perm pi prod radians sin sqrt tan tau trunc',
    'itertools': 'accumulate chain combinations combinations_with_replacement count cycle dropwhile groupby islice'
    ' pairwise permutations product repeat starmap takewhile tee zip_longest',
    'functools': 'cache cached_property cmp_to_key lru_cache partial reduce total_ordering wraps',
    'operator': 'add and_ attrgetter floordiv itemgetter mod mul neg or_ sub truediv xor',
    'string': 'ascii_letters ascii_lowercase ascii_uppercase digits hexdigits punctuation whitespace',
    'random': 'choice choices randint random randrange sample seed shuffle uniform',
    'statistics': 'mean median mode pstdev stdev variance',
    'copy': 'deepcopy',
    'io': 'BytesIO StringIO',
    'sys': 'argv maxsize setrecursionlimit stderr stdin stdout',
    'json': 'dumps loads',
    'datetime': 'date timedelta timezone',
    're': 'findall finditer fullmatch match search split',
}
MODULES = ('string re datetime collections heapq bisect copy math random statistics itertools functools operator io'
           ' sys json').split()


def globals_of(source):
    import _symtable
    used = set()
    bound = set()
    table = _symtable.symtable(source, 'solution.py', 'exec')
    scopes = [table]
    while scopes:
        scope = scopes.pop()
        scopes.extend(scope.children)
        for name, flags in scope.symbols.items():
            place = (flags >> _symtable.SCOPE_OFF) & _symtable.SCOPE_MASK
            if place == _symtable.GLOBAL_IMPLICIT or place == _symtable.GLOBAL_EXPLICIT:
                used.add(name)
            if scope is table and flags & _symtable.DEF_BOUND:
                bound.add(name)
    return used, bound


def prelude(source, space):
    used, bound = globals_of(source)
    for name in used - bound:
        if name in MODULES:
            space[name] = __import__(name)
            continue
        if name in GENERIC:
            space[name] = GENERIC[name]
            continue
        for module, names in NAMES.items():
            if name in names.split():
                space[name] = getattr(__import__(module), name, None)


work = main()
del main, find, grant_limits, nameless_file, json_by_hand, plain, globals_of, prelude, Odd, GENERIC, NAMES, MODULES
del Talk, Missing, Ended, Unfit, BUILT_IN, KINDS, pack, unpack, serve, test, little_numpy
exec(*work)
`;
