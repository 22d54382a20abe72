// A programming language of the code judge, and the registry of them: the first is the default for a fence without a language.
// Python 3 runs without site-packages: programs have only the standard library.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { onPath } from './bubblewrap.ts';
import { PYTHON_HARNESS } from './python-harness.ts';

/** Tests in Python of a program's functions. */
interface Tests {
  /** Those that they call. */
  readonly names: readonly string[];
  readonly source: string;
  /** Runs before both. */
  readonly before: string;
}

/** The input of one case for the sandbox. The expected output is not part of it. */
export type Job =
  | { readonly kind: 'stdin'; readonly program: string; readonly stdin: string }
  /** `args`: one JSON list. */
  | { readonly kind: 'call'; readonly program: string; readonly name: string; readonly args: string }
  /** The program of an answer, held for its tests. */
  | { readonly kind: 'serve'; readonly program: string }
  /** Run beside `serve`: the tests never run in the answer's process. */
  | { readonly kind: 'test'; readonly tests: Tests };

/** The output of a harness in place of a result. */
type CallReport =
  /** The value as JSON text. */
  | { readonly kind: 'value'; readonly json: string }
  /** It returned a value that is not JSON; `own`: of a class that the program defined. */
  | { readonly kind: 'odd'; readonly own: boolean }
  | { readonly kind: 'no-function' };

export interface Runtime {
  /** `Python 3.11.2`. */
  readonly version: string;
  /**
   * Starts the harness: it prints `ready\n`, reads a job from standard input to its end, prints `go\n` and runs the
   * program. For a call it then prints exactly one line: the nonce, a blank, and `value <json>`, `odd <type>`,
   * `own <type>` or `no-function`.
   */
  readonly command: readonly string[];
  /** Folders that it needs besides /usr. */
  readonly folders: readonly string[];
}

export interface Language {
  readonly name: string;
  /** The words after a fence that mean this language, in lower case. */
  readonly tags: readonly string[];
  /** Undefined if this machine has none. */
  findRuntime(env: NodeJS.ProcessEnv): Promise<Runtime | undefined>;
  encode(job: Job, nonce: string): Buffer;
  /** The reason of a program's failure, from its exit code and the end of its standard error. */
  reasonOf(exitCode: number, errors: string): string;
}

/** The one line of a call. Undefined if there is none, more than one, or an invalid one. */
export function readReport(output: string, nonce: string): CallReport | undefined {
  if (!output.startsWith(`${nonce} `) || output.indexOf('\n') !== output.length - 1) return undefined;
  const line = output.slice(nonce.length + 1, -1);
  const space = line.indexOf(' ');
  const word = space < 0 ? line : line.slice(0, space);
  if (word === 'value') return { kind: 'value', json: line.slice(space + 1) };
  if (word === 'odd' || word === 'own') return { kind: 'odd', own: word === 'own' };
  return word === 'no-function' ? { kind: 'no-function' } : undefined;
}

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
    const parts = partsOf(job).map((text) => Buffer.from(text));
    return Buffer.concat([
      Buffer.from(`${job.kind} ${nonce} ${parts.map(({ length }) => length).join(' ')}\n`),
      ...parts,
    ]);
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

/** A name, a source, and data. */
function partsOf(job: Job): readonly [string, string, string] {
  if (job.kind === 'stdin') return ['', job.program, job.stdin];
  if (job.kind === 'call') return [job.name, job.program, job.args];
  if (job.kind === 'serve') return ['', job.program, ''];
  return [job.tests.names.join(' '), job.tests.source, job.tests.before];
}

const SIGKILL = 9;
const SIGXCPU = 24;

export const LANGUAGES: readonly [Language, ...Language[]] = [python];

/** Undefined for an unsupported language. */
export function languageOf(tag: string): Language | undefined {
  return tag === '' ? LANGUAGES[0] : LANGUAGES.find((language) => language.tags.includes(tag));
}
