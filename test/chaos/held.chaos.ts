// The promise: one run holds ten thousand rollouts in flight, in blocks, while the model answers nobody: `status` answers
// as ever, the workers take no more memory the longer it lasts, one command steers it, and a cancel ends and counts all.

import { describe, test } from 'vitest';
import { HELD, hold } from './held.ts';
import { useWorkload, type Workload } from './workload.ts';

let workload: Workload;
useWorkload(
  { file: import.meta.filename, workers: 2, slots: 64, model: { kind: 'sglang', latencyMs: 86_000_000 } },
  (opened) => (workload = opened),
);

describe(`${HELD} rollouts held in flight in one run`, () => {
  test('are one run to every command, cost no more with time, and end with one cancel', { timeout: 7_200_000 }, () =>
    hold(workload),
  );
});
