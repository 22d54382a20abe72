// A person's act on one rollout, or on a run that is played, as the page sends it and as the command line takes it: one
// request, one command. Pure. No value can become an option: it stands behind `=` or behind `--`.

import type { RowPlace } from './messages.ts';

/** On one rollout: recorded with a person's name. */
const ROLLOUT_ACTS = ['verdict', 'note', 'fork', 'extend', 'say', 'retry'] as const;
/** On a run that is played: through its workflow, without a record of the person. */
const RUN_ACTS = ['pause', 'resume', 'tune', 'cancel'] as const;
export const ACTS = [...ROLLOUT_ACTS, ...RUN_ACTS] as const;
export const isRunAct = (act: string): boolean => RUN_ACTS.some((one) => one === act);

interface OnRun {
  readonly run: string;
}
interface On extends OnRun, RowPlace {}

export type RunRequest = OnRun &
  (
    | { readonly act: 'pause' | 'resume' | 'cancel' }
    /** `maxConcurrent`: rollouts in flight, at most. */
    | { readonly act: 'tune'; readonly maxConcurrent: number }
  );

export type RolloutRequest = On &
  (
    | { readonly act: 'verdict'; readonly turn: number; readonly verdict: 'right' | 'wrong'; readonly reason: string }
    /** `turn` 0: the rollout as a whole. */
    | { readonly act: 'note'; readonly turn: number; readonly text: string }
    | { readonly act: 'fork'; readonly turn: number; readonly text: string; readonly name: string }
    | { readonly act: 'extend'; readonly turns: number; readonly text: string; readonly name: string }
    | { readonly act: 'say'; readonly text: string }
    | { readonly act: 'retry'; readonly reason: string }
  );

export type SteerRequest = RolloutRequest | RunRequest;

export interface SteerReply {
  readonly ok: boolean;
  /** The command's output. */
  readonly said: string;
  /** A run that it began. */
  readonly began: string | null;
}

/** The request in a body of JSON, or the fault of it. */
export function steerRequest(value: unknown): SteerRequest | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'The body is no object.';
  const fields = value as Readonly<Record<string, unknown>>;
  const act = ACTS.find((one) => one === fields['act']);
  if (!act) return `\`act\` is one of ${ACTS.join(', ')}.`;
  const wanted = { ...(isRunAct(act) ? ON_RUN : ON), ...FIELDS[act] };
  for (const name of Object.keys(fields))
    if (name !== 'act' && !Object.hasOwn(wanted, name)) return `\`${name}\` means nothing to \`${act}\`.`;
  for (const [name, kind] of Object.entries(wanted)) {
    const field = fields[name];
    const fits = kind === 'text' ? typeof field === 'string' : Number.isSafeInteger(field) && Number(field) >= 0;
    if (!fits) return `\`${name}\` is ${kind === 'text' ? 'a text' : 'a whole number of at least 0'}.`;
  }
  if (act === 'verdict' && fields['verdict'] !== 'right' && fields['verdict'] !== 'wrong')
    return '`verdict` is right or wrong.';
  return fields as unknown as SteerRequest;
}

type Kind = 'text' | 'number';
const ON_RUN: Readonly<Record<string, Kind>> = { run: 'text' };
const ON: Readonly<Record<string, Kind>> = { ...ON_RUN, query: 'text', sample: 'number', attempt: 'number' };
const FIELDS: Readonly<Record<SteerRequest['act'], Readonly<Record<string, Kind>>>> = {
  verdict: { turn: 'number', verdict: 'text', reason: 'text' },
  note: { turn: 'number', text: 'text' },
  fork: { turn: 'number', text: 'text', name: 'text' },
  extend: { turns: 'number', text: 'text', name: 'text' },
  say: { text: 'text' },
  retry: { reason: 'text' },
  pause: {},
  resume: {},
  tune: { maxConcurrent: 'number' },
  cancel: {},
};

/** The arguments of `everturn`. `more`: options of the whole, such as --out. */
export function commandOf(request: SteerRequest, more: readonly string[] = []): string[] {
  if ('query' in request) return rolloutCommand(request, more);
  const limit = request.act === 'tune' ? option('max-concurrent', request.maxConcurrent) : [];
  return [request.act, ...limit, ...more, '--', request.run];
}

const option = (name: string, value: string | number): string[] => (value === '' ? [] : [`--${name}=${value}`]);

function rolloutCommand(request: RolloutRequest, more: readonly string[]): string[] {
  const { act, run, query, sample, attempt } = request;
  // The first sample is the default; without --attempt it is the last one.
  const which = [
    ...(sample > 0 ? option('sample', sample) : []),
    ...(act === 'retry' ? [] : option('attempt', attempt)),
  ];
  const command = (options: readonly string[], ...rest: readonly string[]) => [
    ...[act, ...which, ...options, ...more],
    ...['--', run, query, ...rest],
  ];
  switch (request.act) {
    case 'verdict':
      return command([...option('turn', request.turn), ...option('reason', request.reason)], request.verdict);
    case 'note':
      return command(request.turn > 0 ? option('turn', request.turn) : [], request.text);
    case 'fork':
      return command([
        ...option('from-turn', request.turn),
        ...option('say', request.text),
        ...option('name', request.name),
        DETACH,
      ]);
    case 'extend':
      return command([
        ...option('turns', request.turns),
        ...option('say', request.text),
        ...option('name', request.name),
        DETACH,
      ]);
    case 'say':
      return command([], request.text);
    case 'retry':
      return command([...option('reason', request.reason), DETACH]);
  }
}

const DETACH = '--detach';

/** As a person types it in a POSIX shell; one line. */
export function typed(args: readonly string[]): string {
  const quoted = (text: string) => (/^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
  return ['everturn', ...args].map(quoted).join(' ');
}
