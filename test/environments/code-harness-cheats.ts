// Cheats that take the harness apart from inside, forge what it reports, or return what a reader could choke on.

export const HARNESS_CHEATS: readonly { readonly name: string; readonly program: string }[] = [
  {
    name: 'forged by an audit hook',
    program: `
import os, sys
def hook(event, args):
    if event == 'os.write' or event.startswith('cpython') or event == 'object.__getattr__':
        try: os.write(3, b'value 77\\n')
        except OSError: pass
def solve(n):
    sys.addaudithook(hook); sys.audit('os.write')
    return 0`,
  },
  {
    name: 'a profiler that writes on every call in C',
    program: `
import os, sys
write = os.write
def profile(frame, event, arg):
    if event == 'c_call':
        sys.setprofile(None)
        for fd in range(3, 10):
            try: write(fd, b'value 77\\n')
            except OSError: pass
def solve(n):
    sys.setprofile(profile)
    return 0`,
  },
  {
    name: 'the garbage collector writes',
    program: `
import gc, os
def forge(phase, info):
    try: os.write(3, b'value 202\\n')
    except OSError: pass
gc.callbacks.append(forge); gc.set_threshold(1)
def solve(n): gc.collect(); return [[] for _ in range(100)]`,
  },
  {
    name: 'os.write replaced, to send every value',
    program: `
import os
write = os.write
def every(fd, line):
    for value in (77, 202, 380): write(fd, bytes(line).split()[0] + b' value %d\\n' % value)
    return len(line)
os.write = every
def solve(n): return 0`,
  },
  {
    name: 'os.write replaced, to send every value in one line',
    program: `
import os
write = os.write
def every(fd, line):
    write(fd, bytes(line).split()[0] + b' value 77 202 380\\n')
    return len(line)
os.write = every
def solve(n): return 0`,
  },
  {
    name: "the harness's own functions replaced",
    program: `
import sys
def solve(n):
    space = sys._getframe(1).f_globals
    class Text(str): pass
    space['plain'] = lambda value, depth: Text('x')
    sys._getframe(1).f_locals['dumps'] = lambda value: '77'
    return object()`,
  },
  {
    name: 'an error of the harness itself, raised',
    program: `
import sys
def solve(n): raise sys._getframe(1).f_globals['Odd']('value 77')`,
  },
  {
    name: 'a type that changes after it was looked at',
    program: `
class Changing:
    pass
class List(list):
    pass
def solve(n):
    it = List(); it.__class__ = List
    try: it.__class__ = list
    except TypeError: pass
    return it`,
  },
  {
    name: 'a list that grows while it is read',
    program: `
import threading
def solve(n):
    values = list(range(500))
    def grow():
        while True: values.append(77)
    threading.Thread(target=grow, daemon=True).start()
    return values`,
  },
  { name: 'minus nothing', program: 'def solve(n):\n    return -0.0 if n else 0' },
  { name: 'one past every float', program: 'def solve(n):\n    return 10 ** 400  # as a float it is infinite' },
  { name: 'a number of a hundred thousand digits', program: 'def solve(n):\n    return 10 ** 100_001' },
  {
    name: 'nested deeper than any reader',
    program: `
def solve(n):
    value = 77
    for _ in range(100_000): value = [value]
    return value`,
  },
  { name: 'half a character', program: 'def solve(n):\n    return "\\\\ud800" + "\\\\udfff" * 3' },
  { name: 'a key that is there twice', program: 'def solve(n):\n    return {77: 77, "77": 202}' },
  {
    name: 'a key of every object',
    program: 'def solve(n):\n    return {"__proto__": 77, "constructor": 77, "valueOf": 77}',
  },
  {
    name: 'values of other kinds of number',
    program: `
from decimal import Decimal
from fractions import Fraction
def solve(n):
    return [Decimal(77), Fraction(77), 77j, b'77', range(77)][n % 5]`,
  },
  {
    name: 'an alarm that writes later',
    program: `
import os, signal, time
def late(*_):
    for fd in range(3, 10):
        try: os.write(fd, b'value 77\\n')
        except OSError: pass
    os._exit(0)
signal.signal(signal.SIGALRM, late)
def solve(n):
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    time.sleep(1)`,
  },
  {
    name: 'the channel by another name',
    program: `
import os
def solve(n):
    for fd in os.listdir('/proc/self/fd'):
        for path in ('/proc/self/fd/' + fd, '/dev/fd/' + fd, '/dev/stdout'):
            try:
                with open(path, 'w') as out: out.write('value 77\\n')
            except OSError: pass
    return 0`,
  },
  {
    name: 'the marks of the beginning, once more',
    program: `
import os
def solve(n):
    for fd in range(3, 10):
        try: os.write(fd, b'ready\\ngo\\n')
        except OSError: pass
    return 0`,
  },
  {
    name: 'the memory of the process searched',
    program: `
import re
def solve(n):
    found = []
    for line in open('/proc/self/maps'):
        start, end = (int(x, 16) for x in line.split()[0].split('-'))
        if 'rw' not in line or end - start > 1 << 24: continue
        with open('/proc/self/mem', 'rb') as memory:
            memory.seek(start)
            try: found += re.findall(rb'"?(?:expected|outputs)"?\\W{1,5}(\\d+)', memory.read(end - start))
            except (OSError, ValueError): pass
    return int(found[0]) if found else 0`,
  },
  { name: 'an exit code that wraps to nothing', program: 'import os\ndef solve(n):\n    os._exit(256)' },
];
