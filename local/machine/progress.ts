// Progress reports of slow steps, and their display on a terminal or in a log.

export type ServerProgress =
  /** Something the user should know: a step that failed and why, a port that was taken. */
  | { readonly kind: 'note'; readonly text: string }
  /** A step that begins. */
  | { readonly kind: 'step'; readonly text: string }
  | BuildProgress;

export interface BuildProgress {
  readonly kind: 'build';
  readonly phase: 'modules' | 'compiling' | 'linking';
  readonly elapsedMs: number;
  /** Modules fetched (no total is known), or packages compiled. */
  readonly done: number;
  readonly total?: number;
  /** An extrapolation; absent while there is too little data. */
  readonly remainingMs?: number;
}

export type OnProgress = (progress: ServerProgress) => void;

interface Terminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const PLAIN_LINE_EVERY_MS = 10_000;
const BAR_WIDTH = 24;

/** Prints to `terminal` (stderr): a bar that redraws itself on a TTY, else a plain line every 10 s. */
export function printProgress(terminal: Terminal): OnProgress {
  let open = false;
  let lastLineAtMs = -Infinity;
  const endBar = (): void => {
    if (open) terminal.write('\n');
    open = false;
  };
  return (progress) => {
    if (progress.kind !== 'build') {
      endBar();
      terminal.write(`${progress.text}\n`);
      lastLineAtMs = -Infinity;
    } else if (terminal.isTTY) {
      terminal.write(`\r\x1b[2K${bar(progress)}${describeBuild(progress)}`);
      open = true;
    } else if (progress.elapsedMs - lastLineAtMs >= PLAIN_LINE_EVERY_MS) {
      terminal.write(`  ${describeBuild(progress)}\n`);
      lastLineAtMs = progress.elapsedMs;
    }
  };
}

function describeBuild(build: BuildProgress): string {
  const elapsed = clock(build.elapsedMs);
  if (build.phase === 'modules') return `${elapsed} · fetching Go modules, ${build.done} so far`;
  if (build.phase === 'linking') return `${elapsed} · linking`;
  const left = build.remainingMs === undefined ? '' : ` · about ${clock(build.remainingMs)} left`;
  return `${elapsed} · compiling, ${build.done} of ${build.total ?? '?'} packages${left}`;
}

function bar(build: BuildProgress): string {
  if (!build.total) return '';
  const filled = Math.min(BAR_WIDTH, Math.round((BAR_WIDTH * build.done) / build.total));
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} `;
}

function clock(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
