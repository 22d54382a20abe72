// Programs that try to get out of the sandbox, to take more than they may, or to stay. Each calls `escaped` when it
// succeeds. `ports`: a TCP server of the host that must never be reached.

import { KERNEL_ATTACKS } from './code-kernel-attacks.ts';

export interface Attack {
  readonly name: string;
  readonly program: string;
}

/** What every attack starts with. `HOST` is put in by the runner. */
export const ATTACK_PRELUDE = String.raw`
import ctypes, errno, os, signal, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def escaped(what):
    os.write(1, ('ESCAPED %s\n' % (what,)).encode())
def refused(attempt, *more):
    for one in (attempt, *more):
        try:
            result = one()
        except (OSError, MemoryError, ValueError, RuntimeError):
            continue
        escaped(result)
def syscall(*args):
    result = libc.syscall(*args)
    if result < 0:
        raise OSError(ctypes.get_errno(), 'refused')
    return result
`;

export const ATTACKS: readonly Attack[] = [
  ...KERNEL_ATTACKS,
  {
    name: 'fork bomb',
    program: `
for _ in range(2000):
    try:
        if os.fork() == 0:
            time.sleep(30)
        escaped('fork')
    except OSError: pass
refused(os.forkpty, lambda: os.posix_spawn('/usr/bin/sleep', ['sleep', '30'], {}), lambda: syscall(57), lambda: syscall(58))`,
  },
  {
    name: 'thread bomb',
    program: `
threading.stack_size(65536)
n = 0
try:
    for n in range(500):
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
except RuntimeError: pass
if n > 32: escaped('%d threads' % n)
os._exit(0)`,
  },
  {
    name: 'memory in one piece',
    program: `
kept = []
size = 0
try:
    while True:
        kept.append(bytearray(b'x') * (8 << 20)); size += 8
        if size > 600: escaped('%d MiB' % size); break
except MemoryError: pass`,
  },
  {
    name: 'memory by many children',
    program: `
import subprocess, multiprocessing
for _ in range(10):
    refused(lambda: subprocess.Popen([sys.executable, '-c', 'x = bytearray(300 << 20); input()']).pid)
    refused(lambda: multiprocessing.get_context('fork').Process(target=time.sleep, args=(30,)).start())`,
  },
  {
    name: 'memory of the kernel: System V segments, queues, memfd',
    program: `
refused(lambda: syscall(29, 0, 64 << 20, 0o1600), lambda: syscall(68, 0, 0o1600), lambda: syscall(64, 0, 100, 0o1600))
refused(lambda: os.memfd_create('m'), lambda: syscall(447, 0))`,
  },
  {
    name: 'disk fill',
    program: `
total = 0
try:
    for i in range(64):
        with open('/tmp/fill%d' % i, 'wb', 0) as out:
            for _ in range(64): total += out.write(bytes(1 << 20))
except OSError: pass
if total > 17 << 20: escaped('wrote %d' % total)
refused(lambda: open('/fill', 'wb'), lambda: open('/usr/fill', 'wb'), lambda: open('/dev/fill', 'wb'))`,
  },
  {
    name: 'file system of a million empty files',
    program: `
for i in range(2000): os.close(os.open('/tmp/%d' % i, os.O_CREAT | os.O_WRONLY))
escaped('2000 files')`,
  },
  {
    name: 'a million folders, one in the other',
    program: `
try:
    for _ in range(2000):
        os.mkdir('d'); os.chdir('d')
    escaped('2000 folders')
except OSError: pass`,
  },
  {
    name: 'a million files after the first thread has ended',
    program: `
def fill():
    for i in range(2000): os.close(os.open('/tmp/%d' % i, os.O_CREAT | os.O_WRONLY))
    escaped('2000 files')
threading.Thread(target=fill).start()
libc.syscall(60, 0)`,
  },
  {
    name: 'shared memory folder',
    program: `
refused(lambda: open('/dev/shm/x', 'wb').write(bytes(1 << 20)), lambda: open('/dev/mqueue/x', 'wb'))`,
  },
  {
    name: "the worker's environment",
    program: `
for pid in filter(str.isdigit, os.listdir('/proc')):
    text = open('/proc/%s/environ' % pid, 'rb').read()
    if b'EVERTURN' in text or b'PATH=' in text or b'HOME=' in text: escaped(text[:100])
if any(n not in ('PWD', 'LC_CTYPE') for n in os.environ): escaped(dict(os.environ))`,
  },
  {
    name: 'other processes',
    program: `
pids = [int(p) for p in os.listdir('/proc') if p.isdigit()]
if pids != [os.getpid()]: escaped(pids)
for pid in range(2, 3000):
    refused(lambda: os.kill(pid, 0))`,
  },
  {
    name: "the host's files and home",
    program: `
for path in ('/root', '/home', '/etc/passwd', '/etc/hostname', '/work', '/var', '/sys', '/run', '/mnt', '/usr/local', HOST['file'], HOST['cwd']):
    refused(lambda: os.stat(path).st_ino and path)`,
  },
  {
    name: 'network of the host',
    program: `
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, 16, 17, 40):
    refused(lambda: socket.socket(family, socket.SOCK_STREAM), lambda: socket.socket(family, socket.SOCK_DGRAM))
refused(lambda: socket.create_connection(('127.0.0.1', HOST['port']), 0.2))
if len(open('/proc/net/dev').read().splitlines()) > 3: escaped('interfaces')`,
  },
  {
    name: 'cloud metadata address',
    program: `
refused(lambda: socket.create_connection(('169.254.169.254', 80), 0.2), lambda: socket.getaddrinfo('metadata.google.internal', 80))
import urllib.request
refused(lambda: urllib.request.urlopen('http://169.254.169.254/latest/meta-data/', timeout=0.2))`,
  },
  {
    name: 'nested namespaces',
    program: `
for flag in (0x10000000, 0x00020000, 0x40000000, 0x20000000, 0x02000000, 0x08000000, 0x04000000):
    refused(lambda: syscall(272, flag), lambda: syscall(56, flag | 17, 0, 0, 0, 0))
refused(lambda: syscall(435, bytes(88), 88), lambda: syscall(308, 0, 0))
refused(lambda: os.execv('/usr/bin/unshare', ['unshare', '-r', '/bin/true']) if os.path.exists('/usr/bin/nothing') else syscall(-1))`,
  },
  {
    name: 'unshare as a program',
    program: `os.execv('/usr/bin/unshare', ['unshare', '-r', '/usr/bin/echo', 'ESCAPED unshare'])`,
  },
  {
    name: 'bwrap in bwrap',
    program: `os.execv('/usr/bin/bwrap', ['bwrap', '--ro-bind', '/', '/', '/usr/bin/echo', 'ESCAPED bwrap'])`,
  },
  {
    name: 'programs with the set-user-id bit',
    program: `os.execv('/usr/bin/su', ['su', '-c', 'echo ESCAPED su'])`,
  },
  { name: 'stdout flood', program: `while True: os.write(1, b'flood ' * 10000)` },
  { name: 'stderr flood', program: `while True: os.write(2, b'flood ' * 10000)` },
  {
    name: 'daemon',
    program: `
def stay():
    os.setsid() if os.getpid() != os.getsid(0) else None
    for fd in range(64):
        try: os.close(fd)
        except OSError: pass
    time.sleep(3600)
refused(os.fork)
signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN)
stay()`,
  },
  { name: 'sleep', program: `signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)` },
  { name: 'read for ever', program: `r, w = os.pipe(); os.read(r, 1)` },
  {
    name: 'deep recursion',
    program: `
sys.setrecursionlimit(2**31 - 1)
def f(n): return f(n + 1) + 1
f(0)`,
  },
  {
    name: 'deep recursion in C',
    program: `
x = []
for _ in range(10**6): x = [x]
sys.setrecursionlimit(2**31 - 1)
repr(x)`,
  },
  { name: 'huge power', program: `print(len(str(9 ** 9 ** 9)))` },
  {
    name: 'processor limit ignored',
    program: `
signal.signal(signal.SIGXCPU, signal.SIG_IGN)
import resource
refused(lambda: resource.setrlimit(resource.RLIMIT_CPU, (1000, 1000)), lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40)), lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1000, 1000)))
while True: pass`,
  },
  {
    name: 'symbolic and hard links',
    program: `
refused(lambda: os.symlink('/etc/passwd', '/tmp/a'), lambda: os.symlink('/', '/tmp/b'), lambda: os.link('/usr/bin/env', '/tmp/c'), lambda: os.mkfifo('/tmp/d'), lambda: os.mknod('/tmp/e', 0o600 | 0o60000, 0x0100))
for path in ('/proc/self/root/../../etc/passwd', '/proc/self/cwd/../../etc/passwd', '/tmp/../../../etc/passwd', '/proc/self/fd/0/../../etc/passwd'):
    refused(lambda: open(path).read()[:20])`,
  },
  {
    name: 'terminal',
    program: `
import fcntl, termios
print('\\x1b]52;c;ZWNobyBoYWNrZWQ=\\x07\\x1b[2J\\x1bc\\x9b31m')
sys.stdout.flush()
for fd in (0, 1, 2):
    refused(lambda: fcntl.ioctl(fd, termios.TIOCSTI, b'x'), lambda: os.ttyname(fd))
refused(lambda: os.open('/dev/tty', os.O_RDWR), lambda: os.open('/dev/console', os.O_RDWR))`,
  },
  {
    name: 'tricks with /proc',
    program: `
for path in ('/proc/sys/kernel/core_pattern', '/proc/sys/kernel/hostname', '/proc/sysrq-trigger', '/proc/sys/vm/drop_caches', '/proc/sys/user/max_user_namespaces', '/proc/self/uid_map', '/proc/self/setgroups', '/proc/kcore', '/proc/kmsg'):
    def write():
        with open(path, 'r+b', 0) as f: f.write(b'1')
        return path
    refused(write)
refused(lambda: open('/proc/self/oom_score_adj', 'w').write('-1000') and open('/proc/self/oom_score_adj', 'w').flush() or (int(open('/proc/self/oom_score_adj').read()) < 0 or 1 / 1 > 2) or syscall(-1))
fds = [os.readlink('/proc/self/fd/' + f) for f in os.listdir('/proc/self/fd') if int(f) > 2]
if any(not f.startswith('/proc/') for f in fds): escaped(fds)`,
  },
  {
    name: 'core dump',
    program: `
import resource
refused(lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30)))
libc.abort()`,
  },
  {
    name: 'signal to the parent',
    program: `
refused(lambda: os.getppid() or syscall(-1))
for sig in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV):
    refused(lambda: os.kill(-1, sig), lambda: os.killpg(os.getpgid(0) or 99, sig) if os.getpgid(0) not in (0, 1) else syscall(-1))
os.kill(0, signal.SIGKILL)
time.sleep(3600)`,
  },
  {
    name: 'outlive the worker',
    program: `
refused(lambda: syscall(157, 1, 0, 0, 0, 0), lambda: libc.prctl(1, 0) and syscall(-1))
time.sleep(3600)`,
  },
  {
    name: 'mounts',
    program: `
refused(lambda: syscall(165, b'none', b'/tmp', b'tmpfs', 0, b''), lambda: syscall(166, b'/tmp', 2), lambda: syscall(155, b'/tmp', b'/tmp'), lambda: syscall(161, b'/tmp'), lambda: syscall(428, -100, b'/', 1), lambda: syscall(430, b'tmpfs', 0))`,
  },
  {
    name: 'tracing, BPF, io_uring, keyrings',
    program: `
refused(lambda: syscall(101, 0, 0, 0, 0), lambda: syscall(310, 1, 0, 0, 0, 0, 0), lambda: syscall(321, 0, 0, 0), lambda: syscall(425, 8, bytes(120)), lambda: syscall(298, bytes(120), 0, -1, -1, 0), lambda: syscall(323, 0), lambda: syscall(250, 0, -3, 1), lambda: syscall(248, b'user', b'k', b'v', 1, -3))`,
  },
  {
    name: 'system calls of another ABI',
    program: `
import mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes([0x53, 0xb8, 2, 0, 0, 0, 0xcd, 0x80, 0x5b, 0xc3]))  # fork() as a 32-bit call
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
escaped(call())`,
  },
];
