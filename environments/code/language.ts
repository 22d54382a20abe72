// The plug point for programming languages: one file per language, one line in `languages.ts`.

/** The input of one case for the sandbox. The expected output is not part of it. */
export type Job =
  | { readonly kind: 'stdin'; readonly program: string; readonly stdin: string }
  /** `args`: one JSON list. */
  | { readonly kind: 'call'; readonly program: string; readonly name: string; readonly args: string };

/** The output of a harness in place of a result. */
export type CallReport =
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
