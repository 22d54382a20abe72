// Cheats by what a program prints, and programs that look for an excuse not to be judged.

import type { InputOutput } from '../../domain/run/query.ts';
import type { Cheat } from './code-cheats.ts';

/** Answers that would rather not be judged: trouble of the machine is no reward, and no way out either. */
export const EXCUSES: readonly Cheat[] = [
  {
    name: 'kept waiting by its own wish',
    program: `
import os
for wish in (lambda: os.nice(19), lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)), lambda: os.sched_setaffinity(0, {0})):
    try: wish()
    except OSError: pass
    else: print('granted')
while True: pass`,
  },
  {
    name: 'out of memory, as loud as it can',
    program: `
import sys
kept = []
while True:
    try: kept.append(bytearray(b'x') * (1 << 20))
    except MemoryError: break
sys.exit(137)`,
  },
  {
    name: 'kills itself in every way',
    program: `
import os, signal
for name in (signal.SIGSTOP, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGXCPU, signal.SIGKILL):
    try: os.kill(0, name)
    except (OSError, KeyboardInterrupt): pass
os.kill(os.getpid(), signal.SIGSEGV)
os.abort()`,
  },
  {
    name: 'speaks as the sandbox does',
    program: `
import os, sys
os.write(2, b'bwrap: setting up uid map: Permission denied\\nThe sandbox failed: it did not begin within 30 s\\n')
os._exit(1)`,
  },
  {
    name: 'leaves no descriptor and no memory to report with',
    program: `
import os
kept = []
try:
    while True: kept.append(os.open('/tmp', os.O_RDONLY))
except OSError: pass
os.closerange(0, 64)
os._exit(1)`,
  },
  {
    name: 'ends the first thread and goes on in another',
    program: `
import ctypes, threading, time
threading.Thread(target=lambda: (time.sleep(0.2), ctypes.string_at(0))).start()
ctypes.CDLL(None).syscall(60, 0)`,
  },
  { name: 'replaces itself by nothing', program: "import os\nos.execv('/usr/bin/false', ['false'])" },
  { name: 'a program that is no text', program: 'print("\\0")  # \0\n\x0c\x1b[2J' },
];

export const PRINT_CHEATS: readonly Cheat[] = [
  { name: 'nothing', program: 'import sys\nn = int(input())\nsys.exit(0)' },
  { name: 'exit before the work', program: 'import os\nprint("All tests passed", flush=True)\nos._exit(0)' },
  { name: 'every number', program: 'for i in range(2000):\n    print(i)' },
  { name: 'every number in one line', program: 'print(*range(2000))  # one of them is it' },
  { name: 'the first case by heart', program: 'n = int(input())\nprint(77)' },
  { name: 'our own marks', program: 'print("ready\\ngo\\n77\\nvalue 77", flush=True)' },
  { name: 'text written over', program: 'print("0\\r77\\b\\b77\\x1b[2K77")  # as a terminal shows it' },
  { name: 'no number', program: 'n = int(input())\nprint(float("nan"), "inf", "1e999")' },
  { name: 'infinity', program: 'n = int(input())\nprint("1e99999999")' },
  { name: 'a pattern', program: 'n = int(input())\nprint(".*|\\\\d+")' },
  { name: 'its own input', program: 'import sys\nprint(sys.stdin.read() * 3)' },
  {
    name: 'a file it finds',
    program: `
import glob
for path in glob.glob('/**/*.json*', recursive=True)[:100]: print(open(path).read())`,
  },
  {
    name: 'right, and then a crash',
    program: 'print({20: 77, 35: 202, 50: 380}[int(input())], flush=True)\nraise ValueError',
  },
  { name: 'right, and more', program: 'print({20: 77, 35: 202, 50: 380}[int(input())])\nprint("and more")' },
  {
    name: 'every number, with marks that other readers take as the ends of lines',
    program: 'print("\\u2028".join(map(str, range(1000))), "\\x0b77\\x0c202\\x85380")',
  },
  {
    name: 'every number, between bytes that are no text',
    program: 'import os\nos.write(1, b"\\xff".join(b"%d" % n for n in range(1000)))',
  },
  {
    name: 'every number, between zero bytes',
    program: 'import os\nos.write(1, b"\\0".join(b"%d" % n for n in range(1000)))',
  },
  {
    name: 'every number, and then taken back',
    program: `
import os
print(*range(1000), sep='\\n', flush=True)
for back in (lambda: os.ftruncate(1, 0), lambda: os.lseek(1, 0, 0), lambda: os.pwrite(1, b'77', 0)):
    try: back()
    except OSError: pass`,
  },
  {
    name: 'a number that is two',
    program: 'n = int(input())\nprint("77e0", "7_7", "0x4d", "77 | 202", "77..380", sep="")',
  },
  { name: 'digits without end', program: 'n = int(input())\nprint("7" * 60_000)' },
  {
    name: 'a surrogate in the answer',
    program: 'import sys\nsys.stdout.reconfigure(errors="surrogatepass")\nprint("\\ud83d77")',
  },
  {
    name: 'the answer on the wrong channel',
    program: 'import sys\nprint({20: 77, 35: 202, 50: 380}[int(input())], file=sys.stderr)',
  },
];

/** A number that is known only roughly: nothing that swallows every comparison may pass for it. */
export const ROUGH: InputOutput = { inputs: ['3\n', '7\n'], outputs: ['0.333333\n', '0.142857\n'] };
export const ROUGH_CHEATS: readonly Cheat[] = [
  'nan',
  'inf',
  '-inf',
  '1e999',
  '0',
  '-0.0',
  '0.3',
  '1e-400',
  '0.333333 0.142857',
  '0x1p-2',
  '1/3',
  '٠.٣٣٣٣٣٣',
].map((text) => ({ name: text, program: `n = int(input())\nprint(${JSON.stringify(text)})` }));
