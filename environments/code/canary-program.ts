// The program that attempts to escape: every attempt must fail. Returns the names of those that succeeded. Arguments: a
// host file that any user may read, the memory and disk limits in bytes, and the kernel's limit of files (null if files
// are counted from outside).

export const CANARY_PROGRAM = String.raw`
import ctypes, mmap, os, socket, threading

def probe(host_file, memory_bytes, disk_bytes, files):
    libc = ctypes.CDLL(None, use_errno=True)
    status = dict(line.split(':', 1) for line in open('/proc/self/status').read().splitlines())

    def environments():
        names = set()
        for pid in filter(str.isdigit, os.listdir('/proc')):
            names |= {entry.partition(b'=')[0] for entry in open('/proc/%s/environ' % pid, 'rb').read().split(b'\0')}
        return names - {b'', b'PWD', b'LC_CTYPE'} or fail()

    def fills():
        try:
            with open('/tmp/canary', 'wb') as out:
                for _ in range(disk_bytes // 4096 + 2):
                    out.write(bytes(4096))
        finally:
            os.unlink('/tmp/canary')

    def makes_files():
        for n in range(files + 2):
            os.close(os.open('/tmp/canary%d' % n, os.O_CREAT | os.O_WRONLY))

    def unshared():
        return libc.unshare(0x10000000) == 0 or fail()

    def others():
        return len(list(filter(str.isdigit, os.listdir('/proc')))) > 1 or fail()

    attempts = {
        'read a file of the host': lambda: open(host_file),
        'list a home folder': lambda: os.listdir('/root') or os.listdir('/home'),
        'see an environment variable of the host': environments,
        'see another process': others,
        'start a second process': os.fork,
        'make a namespace': unshared,
        'open a network socket': lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        'see a network': lambda: len(open('/proc/net/dev').read().splitlines()) > 3 or fail(),
        'keep a capability': lambda: int(status['CapEff'], 16) != 0 or fail(),
        'gain privileges': lambda: status['NoNewPrivs'].strip() != '1' or fail(),
        'call the kernel unfiltered': lambda: status['Seccomp'].strip() != '2' or fail(),
        'outlive the worker': lambda: libc.prctl(1, 0) == 0 or fail(),
        'write to the root folder': lambda: open('/canary', 'w'),
        'write to /usr/lib': lambda: open('/usr/lib/canary', 'w'),
        'write to /dev': lambda: open('/dev/canary', 'w'),
        'fill the disk': fills,
        'write to shared memory': lambda: open('/dev/shm/canary', 'w'),
        'take too much memory': lambda: mmap.mmap(-1, memory_bytes),
        'make a symbolic link': lambda: os.symlink('/', '/tmp/link'),
        'open a terminal': lambda: open('/dev/tty'),
        'hold memory that no limit counts': lambda: os.memfd_create('canary'),
        'choose to be kept waiting': lambda: os.nice(1),
    }
    if files is not None:
        attempts['make too many files'] = makes_files
    done = []
    for name, attempt in attempts.items():
        try:
            attempt()
            done.append(name)
        except (OSError, MemoryError, ValueError):
            pass
    # And what every program may do.
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    return done

def fail():
    raise OSError('refused')
`;
