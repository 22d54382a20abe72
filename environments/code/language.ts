// A language that programs may be written in: the plug point. One file per language, one line in `languages.ts`.

/** What goes into the sandbox for one case. What is expected is not among it. */
export type Job =
  | { readonly kind: 'stdin'; readonly program: string; readonly stdin: string }
  /** `args`: one JSON list. */
  | { readonly kind: 'call'; readonly program: string; readonly name: string; readonly args: string };

/** What a harness wrote instead of a result. */
export type CallReport =
  /** The value as JSON text. */
  | { readonly kind: 'value'; readonly json: string }
  /** It returned something that is no JSON value; `own`: of a class that the program made itself. */
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
  /** Folders that it needs beside /usr. */
  readonly folders: readonly string[];
}

export interface Language {
  readonly name: string;
  /** The words behind a fence that mean this language, in lower case. */
  readonly tags: readonly string[];
  /** Undefined when this machine has none. */
  findRuntime(env: NodeJS.ProcessEnv): Promise<Runtime | undefined>;
  encode(job: Job, nonce: string): Buffer;
  /** Why a program failed, in a word of ours, from its exit code and the end of its standard error. */
  reasonOf(exitCode: number, errors: string): string;
}

/** The one line of a call. Undefined when there is none, or more than one, or something else. */
export function readReport(output: string, nonce: string): CallReport | undefined {
  if (!output.startsWith(`${nonce} `) || output.indexOf('\n') !== output.length - 1) return undefined;
  const line = output.slice(nonce.length + 1, -1);
  const space = line.indexOf(' ');
  const word = space < 0 ? line : line.slice(0, space);
  if (word === 'value') return { kind: 'value', json: line.slice(space + 1) };
  if (word === 'odd' || word === 'own') return { kind: 'odd', own: word === 'own' };
  return word === 'no-function' ? { kind: 'no-function' } : undefined;
}
