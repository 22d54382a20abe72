// An evaluation for tests of the viewer: two benchmarks with three models. Of one benchmark the first two runs have ended and the
// third has not begun; of the other one every rollout of the first run failed, the second has not begun, the third is gone.

import type { VerdictValue } from '../../domain/rollout/verdict.ts';
import { noCounts } from '../../domain/run/progress.ts';
import { openFileStore } from '../../records/file-store.ts';
import { recordEvaluation } from '../../records/run/evaluation-record.ts';
import { play, putRun, someSettings } from '../records/play.ts';
import { QUERIES } from './rig.ts';

const VERDICTS: Readonly<Record<string, readonly VerdictValue[]>> = {
  'e-sums-a': ['right', 'wrong', 'wrong', 'right'],
  'e-sums-b': ['right', 'right', 'wrong', 'right'],
};

export const COMMIT = 'c'.repeat(40);
export const SYSTEM = 'You are a calculator.';
export const TEMPLATE = `${'Think step by step. '.repeat(20)}\n\n{{ question }}`;
/** As a page of a benchmark on the hub asks, whose data have other rows than it says. */
const OF_SUMS = {
  wording: { system: SYSTEM, template: TEMPLATE },
  from: {
    ...{ path: 'hf:made/sums/main', refused: 1, pageSize: { said: 7, rows: 5 } },
    hub: { commit: COMMIT, files: [{ name: 'main.jsonl', sha256: 'a'.repeat(64) }] },
  },
};

export const settingsOf = (label: string) =>
  someSettings({ numTurns: 1, model: `openai:https://models.example#${label}` });

export async function playEvaluation(out: string): Promise<void> {
  const cells: { benchmark: string; label: string; run: string }[] = [];
  for (const benchmark of ['sums', 'hard']) {
    for (const label of ['a', 'b', 'c']) {
      const run = `e-${benchmark}-${label}`;
      cells.push({ benchmark, label, run });
      if (run === 'e-hard-c') continue;
      const settings = settingsOf(label);
      const store = openFileStore(out, run);
      await putRun(store, QUERIES, { run, settings, ...(benchmark === 'sums' && OF_SUMS) });
      for (const [index, query] of QUERIES.entries()) {
        const verdict = VERDICTS[run]?.[index];
        if (verdict) await play(store, { run, settings, query, index, verdicts: [verdict] });
        if (run === 'e-hard-a') await play(store, { run, settings, query, index, verdicts: [], stop: 'failed' });
      }
      const [complete, failed] = [VERDICTS[run]?.length ?? 0, run === 'e-hard-a' ? QUERIES.length : 0];
      const outcomes = { ...noCounts().outcomes, complete, failed };
      const counts = { ...noCounts(), outcomes };
      if (complete + failed > 0)
        await store.put('result', null, { run, total: QUERIES.length, cancelled: false, numTurns: 1, counts });
    }
  }
  await recordEvaluation(out, 'e', cells.map(withMeaning), 1);
}

/** As if its names were whole. */
export const withMeaning = <C extends { readonly benchmark: string; readonly label: string }>(cell: C) => ({
  ...cell,
  of: { benchmark: cell.benchmark, variant: cell.label },
});
