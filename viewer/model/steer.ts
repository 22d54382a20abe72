// A person's act on a rollout, from the page: a verdict on a turn, or a note, and the command that does the same, which the page
// shows. Pure. No value can become an option of it: it stands behind `=` or behind `--`.

import { COUNT, flawIn, isObject, type ObjectOf, oneOf, PLACE, type Test, TEXT } from '../../domain/schema/fields.ts';

const ON = { run: TEXT, query: TEXT, sample: COUNT, attempt: PLACE };
const ASKED: Test<'verdict'> = [(value) => value === 'verdict', 'verdict or note'];
const VERDICT = { act: ASKED, ...ON, turn: PLACE, verdict: oneOf('right', 'wrong'), reason: TEXT };
/** `turn` 0: the rollout as a whole. */
const NOTE = { act: oneOf('note'), ...ON, turn: COUNT, text: TEXT };

export type SteerRequest = ObjectOf<typeof VERDICT> | ObjectOf<typeof NOTE>;

export interface SteerReply {
  readonly ok: boolean;
  /** The same command's output. */
  readonly said: string;
}

/** The request in a body of JSON, or the fault of it. */
export function steerRequest(value: unknown): SteerRequest | string {
  if (!isObject(value)) return 'The body is no object.';
  const flaw = flawIn(value['act'] === 'note' ? NOTE : VERDICT, value);
  return flaw === undefined ? (value as unknown as SteerRequest) : `The act ${flaw}.`;
}

/** The arguments of `everturn`. */
export function commandOf(request: SteerRequest): string[] {
  const { act, run, query, sample, attempt, turn } = request;
  const [said, reason] = act === 'verdict' ? [request.verdict, request.reason] : [request.text, ''];
  return [
    ...[act, ...(sample > 0 ? [`--sample=${sample}`] : []), `--attempt=${attempt}`],
    ...[...(turn > 0 ? [`--turn=${turn}`] : []), ...(reason === '' ? [] : [`--reason=${reason}`])],
    ...['--', run, query, said],
  ];
}

/** The words as a person types them in a POSIX shell; one line. */
export function shellLine(args: readonly string[]): string {
  const quoted = (text: string) => (/^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
  return ['everturn', ...args].map(quoted).join(' ');
}
