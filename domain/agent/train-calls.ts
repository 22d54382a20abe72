// The calls of an agent that are trained, as a run says it by their tag or the model that they ask for, and as the program says
// it of one. The others stay in the contexts of those that extend them. Pure.

import type { AskedCall } from './call-record.ts';

const FIELDS = ['tag', 'model'] as const;

interface TrainCalls {
  readonly field: (typeof FIELDS)[number];
  /** False: all but those. */
  readonly are: boolean;
  readonly values: readonly string[];
}

export const TRAIN_CALLS_FORM = 'tag=main, model=main, tag!=title, or several values as in tag=planner,coder';

/** Signs of a second condition, of a pattern or of quotes, none of which there is: such a value would match no call. */
const DOUBTFUL = /[=&|;*'"]/;

/** Undefined for a text of another form. */
export function parseTrainCalls(text: string): TrainCalls | undefined {
  const [, name, not, list = ''] = /^(\w+)(!?)=(.*)$/s.exec(text.trim()) ?? [];
  const field = FIELDS.find((one) => one === name);
  const values = list.split(',').map((value) => value.trim());
  return field === undefined || values.some((value) => value === '' || DOUBTFUL.test(value))
    ? undefined
    : { field, are: not === '', values };
}

type Labelled = Pick<AskedCall, 'model' | 'tag' | 'train'>;

/** `trainCalls`: of the run; undefined: all of them. */
export function isTrainedCall(call: Labelled, trainCalls: string | undefined): boolean {
  if (call.train === false) return false;
  const wanted = trainCalls === undefined ? undefined : parseTrainCalls(trainCalls);
  if (!wanted) return true;
  const value = call[wanted.field];
  return (value !== undefined && wanted.values.includes(value)) === wanted.are;
}
