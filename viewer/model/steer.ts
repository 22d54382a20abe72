// A person's act on one rollout, or on a run that is played: one table says which fields each act has, and how the command
// line takes them. The page's request is checked against it, and becomes one command. Pure. No value can become an option:
// it stands behind `=` or behind `--`.

import type { RowPlace } from './messages.ts';

type Kind = 'text' | 'number' | 'verdict';
/** The kind of a field, and its option; null: it stands last. */
type Field = readonly [kind: Kind, option: string | null];
interface Act {
  /** On a rollout, with a person's name; or on a run, through its workflow. */
  readonly on: 'rollout' | 'run';
  readonly fields: Readonly<Record<string, Field>>;
  /** It starts something that goes on. */
  readonly detach?: true;
}

const TABLE = {
  verdict: {
    on: 'rollout',
    fields: { turn: ['number', 'turn'], reason: ['text', 'reason'], verdict: ['verdict', null] },
  },
  /** `turn` 0: the rollout as a whole. */
  note: { on: 'rollout', fields: { turn: ['number', 'turn'], text: ['text', null] } },
  fork: {
    on: 'rollout',
    fields: { turn: ['number', 'from-turn'], text: ['text', 'say'], name: ['text', 'name'] },
    detach: true,
  },
  extend: {
    on: 'rollout',
    fields: { turns: ['number', 'turns'], text: ['text', 'say'], name: ['text', 'name'] },
    detach: true,
  },
  say: { on: 'rollout', fields: { text: ['text', null] } },
  retry: { on: 'rollout', fields: { reason: ['text', 'reason'] }, detach: true },
  pause: { on: 'run', fields: {} },
  resume: { on: 'run', fields: {} },
  /** Rollouts in flight, at most. */
  tune: { on: 'run', fields: { maxConcurrent: ['number', 'max-concurrent'] } },
  cancel: { on: 'run', fields: {} },
} as const satisfies Record<string, Act>;

type ActName = keyof typeof TABLE;
interface Values {
  readonly text: string;
  readonly number: number;
  readonly verdict: 'right' | 'wrong';
}
type FieldsOf<A extends ActName> = {
  readonly [F in keyof (typeof TABLE)[A]['fields']]: (typeof TABLE)[A]['fields'][F] extends readonly [infer K, unknown]
    ? Values[K & Kind]
    : never;
};
type RequestOf<A extends ActName> = { readonly act: A; readonly run: string } & FieldsOf<A> &
  ((typeof TABLE)[A]['on'] extends 'rollout' ? RowPlace : unknown);
export type SteerRequest = { [A in ActName]: RequestOf<A> }[ActName];

export const ACTS = Object.keys(TABLE) as readonly ActName[];
export const isRunAct = (act: string): boolean => Object.hasOwn(TABLE, act) && TABLE[act as ActName].on === 'run';

export interface SteerReply {
  readonly ok: boolean;
  /** The command's output. */
  readonly said: string;
  /** A run that it began. */
  readonly began: string | null;
}

const PLACE: Act['fields'] = { query: ['text', null], sample: ['number', 'sample'], attempt: ['number', 'attempt'] };
const IS: Readonly<Record<Kind, readonly [string, (value: unknown) => boolean]>> = {
  text: ['a text', (value) => typeof value === 'string'],
  number: ['a whole number of at least 0', (value) => Number.isSafeInteger(value) && Number(value) >= 0],
  verdict: ['right or wrong', (value) => value === 'right' || value === 'wrong'],
};

/** The request in a body of JSON, or the fault of it. */
export function steerRequest(value: unknown): SteerRequest | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'The body is no object.';
  const { act: named, ...given } = value as Readonly<Record<string, unknown>>;
  const act = ACTS.find((one) => one === named);
  if (!act) return `\`act\` is one of ${ACTS.join(', ')}.`;
  const { on, fields } = TABLE[act];
  const wanted: Act['fields'] = { run: ['text', null], ...(on === 'rollout' && PLACE), ...fields };
  const strange = Object.keys(given).find((name) => !Object.hasOwn(wanted, name));
  if (strange !== undefined) return `\`${strange}\` means nothing to \`${act}\`.`;
  for (const [name, [kind]] of Object.entries(wanted)) {
    const [said, fits] = IS[kind];
    if (!fits(given[name])) return `\`${name}\` is ${said}.`;
  }
  return value as SteerRequest;
}

/** The arguments of `everturn`. */
export function commandOf(request: SteerRequest): string[] {
  const { on, fields, detach }: Act = TABLE[request.act];
  const values = request as unknown as Readonly<Record<string, string | number>>;
  const own = Object.entries(fields).map(([name, [, option]]) => ({ option, value: values[name]! }));
  const said = own.filter(({ option }) => option === null).map(({ value }) => String(value));
  // The first sample is the default, and no turn the whole rollout; without --attempt it is the last one.
  const place = [
    { option: 'sample', value: values['sample'] ?? 0 },
    ...(request.act === 'retry' ? [] : [{ option: 'attempt', value: values['attempt'] ?? 0 }]),
  ];
  const options = [...(on === 'rollout' ? place : []), ...own].filter(
    ({ option, value }) =>
      option !== null && value !== '' && (value !== 0 || (option !== 'sample' && request.act !== 'note')),
  );
  return [
    request.act,
    ...options.map(({ option, value }) => `--${option}=${value}`),
    ...(detach ? ['--detach'] : []),
    ...['--', request.run, ...(on === 'rollout' ? [String(values['query'])] : []), ...said],
  ];
}

/** As a person types it in a POSIX shell; one line. */
export function typed(args: readonly string[]): string {
  const quoted = (text: string) => (/^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
  return ['everturn', ...args].map(quoted).join(' ');
}
