// Python 3 without site-packages: programs have only the standard library.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { onPath } from './bubblewrap.ts';
import type { Job, Language, Runtime } from './language.ts';
import { PYTHON_HARNESS } from './python-harness.ts';

const run = promisify(execFile);
/** Isolated (-I), without site-packages (-S), UTF-8, no .pyc files. */
const FLAGS = ['-I', '-S', '-B', '-X', 'utf8', '-c'];
/** Compiled once, by the Python that will run it: compiling from source costs two milliseconds a case. */
const ASK = `import base64, marshal, sys
harness = base64.b64encode(marshal.dumps(compile(sys.argv[1], 'harness', 'exec'))).decode()
print(sys.executable, sys.base_prefix, harness, *sys.version_info[:3], sep='\\n')`;
const loader = (harness: string) => `import binascii, marshal; exec(marshal.loads(binascii.a2b_base64('${harness}')))`;

export const python: Language = {
  name: 'python',
  tags: ['python', 'python3', 'py', 'py3', 'pypy', 'pypy3'],

  async findRuntime(env): Promise<Runtime | undefined> {
    // The system's own Python first: every user can read it, and the sandbox mounts its folder.
    for (const name of ['/usr/bin/python3', await onPath('python3', env)]) {
      const answered =
        name === undefined
          ? undefined
          : await run(name, [...FLAGS, ASK, PYTHON_HARNESS], { timeout: 10_000 }).catch(() => undefined);
      const [executable, prefix, harness, ...version] = answered?.stdout.trim().split('\n') ?? [];
      if (!executable || !prefix || !harness || Number(version[0]) !== 3 || Number(version[1]) < 9) continue;
      return {
        version: `Python ${version.join('.')}`,
        command: [executable, ...FLAGS, loader(harness)],
        folders: prefix === '/usr' ? [] : [prefix],
      };
    }
    return undefined;
  },

  encode(job: Job, nonce): Buffer {
    const program = Buffer.from(job.program);
    const [name, data] = job.kind === 'stdin' ? ['', job.stdin] : [job.name, job.args];
    const head = `${job.kind} ${nonce} ${program.length} ${Buffer.byteLength(name)}\n${name}`;
    return Buffer.concat([Buffer.from(head), program, Buffer.from(data)]);
  },

  reasonOf(exitCode, errors): string {
    if (exitCode === 128 + SIGKILL || exitCode === 128 + SIGXCPU) return 'cpu-limit';
    if (exitCode > 128) return 'crashed';
    const last = errors.trimEnd().split('\n').at(-1) ?? '';
    if (/^(?:SyntaxError|IndentationError|TabError)\b/.test(last)) return 'syntax-error';
    if (last.startsWith('OSError: [Errno 28]')) return 'disk-limit';
    return /^MemoryError\b/.test(last) ? 'memory-limit' : 'runtime-error';
  },
};

const SIGKILL = 9;
const SIGXCPU = 24;
