// Proves that the experts of a rollout's tokens lie end to end, and that each file of them is the one that the records name.

import { explain } from '../../domain/errors/errors.ts';
import { expertsFile, flawOfSlices } from '../../domain/rollout/experts.ts';
import { fileOf } from '../format/rollout-file.ts';
import type { Store } from '../store.ts';
import type { CheckedRollout, Problem } from './checked.ts';

export async function* expertsProblems(
  store: Pick<Store, 'readExperts'>,
  { turns, chunks }: Pick<CheckedRollout, 'turns' | 'chunks'>,
): AsyncGenerator<Problem> {
  const whole = turns.flatMap((stored) =>
    stored ? [[fileOf('turn', stored.record.turn), stored.record] as const] : [],
  );
  for (const [file, record] of whole) {
    const flaw = record.experts && flawOfSlices(record);
    if (flaw) yield [file, flaw];
    if (record.experts && record.expertsMissing) yield [file, 'has experts, and says that they are missing'];
  }
  const parts = [...chunks].map(([file, { record }]) => [file, record] as const);
  for (const [file, { experts = [] }] of [...whole, ...parts]) {
    for (const one of experts) {
      const found = await store.readExperts(one).catch((error: unknown) => explain(error));
      if (found === undefined) yield [file, `names experts in ${expertsFile(one)}, which is missing`];
      else if (typeof found === 'string') yield [file, `names experts that cannot be read: ${found}`];
    }
  }
}
