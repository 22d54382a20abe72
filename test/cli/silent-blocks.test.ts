// Blocks that report nothing are said in `status`.

import { describe, expect, test } from 'vitest';
import { silentBlocksLine, silentBlocksOf } from '../../cli/view/servers.ts';

const MIN = 60_000;
const text = (heardAt: readonly number[] | undefined) =>
  silentBlocksLine(silentBlocksOf(heardAt, 100 * MIN), (_, t) => t);

describe('blocks without a report', () => {
  test('are counted, with the longest silence', () => {
    const [line] = text([80 * MIN, 99 * MIN, 90 * MIN, 100 * MIN, 96 * MIN]);
    expect(line).toMatch(/^2 of 5 blocks of this run have not reported for up to 20 min: /);
    expect(silentBlocksOf([80 * MIN, 99 * MIN], 100 * MIN)).toEqual({ silent: 1, of: 2, ms: 20 * MIN });
  });

  test('are none where each answered when it was asked, and in a run without blocks', () => {
    expect([text([96 * MIN, 100 * MIN]), text([]), text(undefined)]).toEqual([[], [], []]);
  });
});
