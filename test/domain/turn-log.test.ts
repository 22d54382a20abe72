import { describe, expect, test } from 'vitest';
import { logName, turnLogBlock, turnLogLine } from '../../domain/rollout/turn-log.ts';
import { aQuery, RUN, someSettings, turnRecord } from '../records/play.ts';

const rollout = {
  run: RUN,
  query: aQuery('q'),
  index: 0,
  sample: 0,
  attempt: 1,
  settings: someSettings({ numTurns: 5, rewardScaling: 2, rewardBias: 0.25, turnDiscount: 0.5 }),
  birthTime: 1,
};
const turns = [turnRecord(1, 'What is 1?', 3), { ...turnRecord(2, '\nAgain!', 4), contextLength: 9 }];
const right = { verdict: 'right', reason: 'equal' } as const;

describe('the log of turns', () => {
  test('a line says that turn’s own verdict, versions and lengths', () => {
    expect(turnLogLine(turns[1]!, right)).toBe(
      '{"version_start":4,"version_end":4,"success":true,"prompt_len":9,"answer_len":3}\n',
    );
    expect(JSON.parse(turnLogLine(turns[0]!, { ...right, verdict: 'wrong' }))).toMatchObject({
      success: false,
      prompt_len: 3,
    });
  });

  test('a turn that could not be judged is neither true nor false', () => {
    const undecided = { verdict: 'undecided', reason: 'timeout' } as const;
    expect(JSON.parse(turnLogLine(turns[0]!, undecided)).success).toBeNull();
    expect(turnLogBlock(rollout, turns, 1, undecided)).toContain('reward is undecided (timeout), ');
  });

  test('a block shows the undiscounted reward, the whole context of its turn, and that turn’s answer', () => {
    const colour = '\u001b[33m\u001b[2m';
    expect(turnLogBlock(rollout, turns, 2, right)).toBe(
      'idx: 2 / 5, seqlen: 12, head version: 4, tail version: 4.\n' +
        `reward is 1.5, prompt is ${colour}What is 1?it is 1</s>\nAgain!\u001b[0m\n` +
        `sequence is: ${colour}it is 2\u001b[0m.\n`,
    );
    expect(turnLogBlock(rollout, turns, 1, right)).toContain(`prompt is ${colour}What is 1?\u001b[0m`);
  });

  test('a log’s name says query, sample and attempt, and no two share one', () => {
    const id = (sample: number, attempt: number) => ({ query: 'q', sample, attempt });
    expect([id(0, 1), id(2, 1), id(0, 2), id(2, 3)].map(logName)).toEqual(['q', 'q@2', 'q@0.2', 'q@2.3']);
    expect(logName({ query: 'q@2', sample: 0, attempt: 1 })).not.toBe('q@2');
  });
});
