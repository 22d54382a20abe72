// Attacks by what the kernel gives without counting it, or shares between a sandbox and the host: memory beside the
// memory limit, places that are few, locks, a look at the files of others, a say in when a program runs.

export const KERNEL_ATTACKS: readonly { readonly name: string; readonly program: string }[] = [
  {
    name: 'files of memory, sent to itself and closed',
    program: `
import array
total = 0
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
try:
    for _ in range(60):
        fd = os.memfd_create('m') if hasattr(os, 'memfd_create') else -1
        for _ in range(16): total += os.write(fd, bytes(1 << 20))
        a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [fd]))])
        os.close(fd)
except OSError: pass
if total > 0: escaped('%d bytes beside the memory limit' % total)`,
  },
  {
    name: 'huge pages held by pipes',
    program: `
import mmap
r, w = os.pipe()
page = mmap.mmap(-1, 4096)
vector = (ctypes.c_uint64 * 2)(ctypes.addressof(ctypes.c_char.from_buffer(page)), 4096)
refused(lambda: syscall(278, w, vector, 1, 0))`,
  },
  {
    name: 'extended attributes by a young system call',
    program: `
open('/tmp/x', 'w').close()
value = ctypes.create_string_buffer(60000)
args = (ctypes.c_uint64 * 2)(ctypes.addressof(value), 60000)
refused(lambda: syscall(463, -100, b'/tmp/x', 0, b'user.a', args, 16), lambda: os.setxattr('/tmp/x', 'user.a', b'a'))`,
  },
  {
    name: 'young system calls of every number',
    program: `
for number in range(450, 600):
    if libc.syscall(number, 0, 0, 0, 0, 0, 0) >= 0 or ctypes.get_errno() != errno.ENOSYS: escaped(number)`,
  },
  {
    name: "the machine's few places for asynchronous I/O",
    program: `
context = ctypes.c_uint64(0)
refused(lambda: syscall(206, 1000, ctypes.byref(context)))`,
  },
  {
    name: 'a say in when it runs',
    program: `
refused(lambda: os.nice(1), lambda: os.setpriority(os.PRIO_PROCESS, 0, 19), lambda: os.sched_setaffinity(0, {0}))
refused(lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)), lambda: os.sched_setparam(0, os.sched_param(0)))
refused(lambda: syscall(314, 0, bytes([48, 0, 0, 0, 5]) + bytes(43), 0), lambda: syscall(251, 1, 0, 3 << 13))
for name in ('autogroup', 'oom_score_adj', 'timerslack_ns', 'coredump_filter', 'comm', 'mem', 'clear_refs'):
    refused(lambda: open('/proc/self/' + name, 'w') and name)`,
  },
  {
    name: "what the host's processes open",
    program: `
refused(lambda: syscall(253), lambda: syscall(294, 0), lambda: syscall(300, 0, 0))
fd = libc.inotify_init1(0)
if fd >= 0 and libc.inotify_add_watch(fd, b'/usr/bin/bwrap', 0x20) >= 0: escaped('inotify')`,
  },
  {
    name: 'a lock on a file of the host',
    program: `
import fcntl
with open('/usr/bin/env', 'rb') as file: refused(lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB) or 'locked')`,
  },
  {
    name: 'modules of the kernel, by pairs of sockets',
    program: `
for family in range(2, 47):
    for kind in (1, 2, 3, 5): refused(lambda: socket.socketpair(family, kind))`,
  },
  {
    name: 'a pair of sockets, one end connected anew',
    program: `
for name in ('\0/tmp/.X11-unix/X0', '/run/dbus/system_bus_socket', '/var/run/docker.sock', '/tmp/s'):
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    refused(lambda: a.connect(name) or name)`,
  },
  {
    name: 'descriptors of ours through its output',
    program: `
import array
s = socket.socket(fileno=os.dup(1)) if os.path.exists('/proc/self/fd/1') else None
for _ in range(100):
    r, w = os.pipe()
    try: s.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [r, w]))])
    except OSError: pass
    os.close(r); os.close(w)
try:
    if s.recv(100, socket.MSG_DONTWAIT): escaped('read from us')
except OSError: pass`,
  },
  {
    name: 'signals to who started it, by descriptor',
    program: `
import fcntl
refused(lambda: fcntl.fcntl(1, fcntl.F_SETOWN, 2), lambda: os.pidfd_open(2), lambda: syscall(438, 1, 0, 0))
for pid in (2, 3): refused(lambda: syscall(434, pid, 0), lambda: syscall(129, pid, 9, bytes(128)) and 1 or syscall(-1))`,
  },
  {
    name: 'the folder above its own',
    program: `
fd = os.open('/', os.O_RDONLY | os.O_DIRECTORY)
refused(lambda: os.fchdir(fd) or os.chroot('.'), lambda: os.stat('../../../root').st_ino, lambda: os.rename('/tmp', '/t'))
refused(lambda: os.rmdir('/proc'), lambda: os.chmod('/', 0o777), lambda: os.chown('/tmp', 0, 0), lambda: os.mkdir('/sys'))
refused(lambda: os.listdir('/sys') and '/sys', lambda: os.listdir('/newroot') and 'newroot', lambda: os.listdir('/oldroot') and 'oldroot')
if 'nr_inodes' in open('/proc/self/mountinfo').read() and os.statvfs('/tmp').f_files > 2000: escaped('no bound on files')`,
  },
];
