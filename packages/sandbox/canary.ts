// Finds a sandbox and proves it: a canary that attempts every known escape runs in it before any other program. A sandbox
// that cannot be proved is not used. `why` and `fix` are shown to the user. Not covered: kernel exploits.

import { mkdtemp, rm, writeFile, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBubblewrap, type Missing } from './bubblewrap.ts';
import { readReport, type Runtime, python } from './language.ts';
import { DEFAULT_LIMITS, type Sandbox } from './sandbox.ts';
import { runSandboxed } from './sandboxed.ts';

type Proof = { readonly ok: true; readonly sandbox: Sandbox; readonly runtime: string } | Missing;

const MIB = 1024 * 1024;
const LIMITS = { ...DEFAULT_LIMITS, wallMs: 20_000, memoryBytes: 128 * MIB, diskBytes: 2 * MIB, files: 100 };
const NONCE = 'canary';

export async function proveSandbox(
  options: { readonly env?: NodeJS.ProcessEnv; readonly signal?: AbortSignal } = {},
): Promise<Proof> {
  const env = options.env ?? process.env;
  const found = await findBubblewrap(env);
  if (!found.ok) return found;
  const runtime = await python.findRuntime(env);
  if (!runtime) return { ok: false, why: 'there is no Python 3', fix: 'Install python3.' };
  let missing: Missing | undefined;
  for (const sandbox of found.sandboxes) {
    const proof = await prove(sandbox, runtime, options.signal ?? new AbortController().signal);
    if (proof.ok) return proof;
    missing = proof;
  }
  return missing ?? { ok: false, why: 'there is no sandbox to try', fix: 'Report this.' };
}

async function prove(sandbox: Sandbox, runtime: Runtime, signal: AbortSignal): Promise<Proof> {
  const folder = await mkdtemp(join(tmpdir(), 'everturn-canary-'));
  try {
    const file = join(folder, 'canary');
    await chmod(folder, 0o755);
    await writeFile(file, 'host', { mode: 0o644 });
    const files = sandbox.countsFiles ? null : LIMITS.files;
    const job = python.encode(
      {
        kind: 'call',
        program: CANARY_PROGRAM,
        name: 'probe',
        args: JSON.stringify([file, LIMITS.memoryBytes, LIMITS.diskBytes, files]),
      },
      NONCE,
    );
    const launch = sandbox.launch(runtime.command, runtime.folders, LIMITS);
    const { exitCode, output, errors } = await runSandboxed(launch, job, LIMITS, signal);
    const report = readReport(output.toString('utf8'), NONCE);
    if (report?.kind !== 'value')
      return { ok: false, why: `the canary ended with ${exitCode}: ${errors.slice(-300).trim()}`, fix: 'Report this.' };
    const ways = JSON.parse(report.json) as string[];
    if (ways.length > 0)
      return { ok: false, why: `a program in it can ${ways.join(', ')}`, fix: 'Update the kernel and bubblewrap.' };
    return { ok: true, sandbox, runtime: runtime.version };
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, why, fix: fixOf(why) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function fixOf(why: string): string {
  if (/namespace|uid map|Operation not permitted|Permission denied|EPERM|EACCES/i.test(why))
    return (
      'This machine forbids user namespaces. Ubuntu: give bwrap an AppArmor profile with `userns`. ' +
      'Docker: `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`. See docs/sandbox.md.'
    );
  return 'Run the command that failed by hand; docs/sandbox.md says what it needs.';
}

const CANARY_PROGRAM = String.raw`
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
