// What `check` says of rewards, discounts and masks of an agent's calls: nothing of right ones, and of every other its fault.

import { describe, expect, test } from 'vitest';
import type { EndRecord, VerdictRecord } from '../../../domain/rollout/trajectory.ts';
import type { AgentEnd } from '../../../domain/agent/program.ts';
import type { AskedCall } from '../../../domain/agent/call-record.ts';
import { agentProblems, rightCallVerdict } from '../../../records/check/agent.ts';
import type { CheckedRollout } from '../../../records/check/checked.ts';
import { differences } from '../../../records/check/differences.ts';
import { endProblems } from '../../../records/check/end.ts';
import { aQuery, someSettings, turnRecord } from '../play.ts';

const PROGRAM = { spec: ['x'], fingerprint: 'f'.repeat(64), timeoutSeconds: 9, maxCalls: 9, trainCalls: 'tag!=title' };
const END = {
  ...{ outcome: 'complete', stopReason: 'done', failure: null, turnRewards: [0, 0.75, 1], returns: [1, 1.375, 1] },
  ...{ success: [null, null, null], turns: ['h1', 'h2', 'h3'], finishedAt: 9, called: [1, 2], branches: 1 },
  ...{ untrained: [1], depths: [0, 0, 1] },
} as const satisfies EndRecord;
const VERDICTS: readonly Partial<VerdictRecord>[] = [
  { verdict: 'called', reason: 'agent' },
  { verdict: 'called', reason: 'agent', callReward: 0.75 },
  { verdict: 'scored', reason: 'environment', reward: 1, done: true },
];
const AGENT: AgentEnd = {
  ...{ code: 0, turns: 3, answer: null, reward: 1, last: 3 },
  callRewards: [{ turn: 2, reward: 0.75 }],
};

/** A title call, and a call of the main agent that another one extends, with γ = 0.625. */
function checked(end: Partial<EndRecord> = {}, agent: Partial<AgentEnd> = {}, verdicts = VERDICTS): CheckedRollout {
  const asked = (parent: number | null, tag: string) =>
    ({ call: 'c', hash: 'h', occurrence: 0, parent, tag, messages: [], limits: {}, shared: 0 }) as unknown as AskedCall;
  const calls = [asked(null, 'title'), asked(null, 'main'), asked(2, 'main')];
  return {
    rollout: { query: aQuery('q'), settings: { ...someSettings({ turnDiscount: 0.625 }), program: PROGRAM } },
    turns: calls.map((call, i) => ({ record: { ...turnRecord(i + 1, 'x'), asked: call }, hash: `h${i + 1}` })),
    verdicts: verdicts.map((said, i) => ({ turn: i + 1, of: `h${i + 1}`, tookMs: 0, ...said })),
    ...{ end: { ...END, ...end }, agent: { ...AGENT, ...agent }, attempts: [], files: [] },
  } as unknown as CheckedRollout;
}

async function said(rollout: CheckedRollout): Promise<string[]> {
  const problems = [...endProblems(rollout)];
  for await (const [file, problem] of agentProblems(rollout, {})) if (!file.startsWith('turn')) problems.push(problem);
  for (const [i, verdict] of rollout.verdicts.entries())
    problems.push(...differences(verdict!, rightCallVerdict(rollout, i, undefined)));
  return problems;
}

describe('the check of an agent’s calls', () => {
  test('has nothing against rewards, returns and masks that follow', async () => {
    expect(await said(checked())).toEqual([]);
  });

  test.each([
    ['a return of another discount', checked({ returns: [1, 1.75, 1] }), 'returns'],
    ['a reward that no verdict has', checked({ turnRewards: [0, 0, 1] }), 'turnRewards'],
    ['a mask that the run does not ask for', checked({ untrained: [1, 2] }), 'untrained'],
    ['a mask that is not there', checked({ untrained: undefined } as never), 'untrained'],
    ['a sample of a call that is not trained', checked({ branches: 2 }), 'branches'],
    ['another place in the tree', checked({ depths: [0, 1, 2] }), 'depths'],
    [
      'a reward that the program gave to another call',
      checked({}, { callRewards: [{ turn: 1, reward: 0.75 }] }),
      'callReward',
    ],
    ['a reward that the program did not give', checked({}, { callRewards: [] }), 'callReward'],
    ['a reward of a call that nobody made', checked({}, { callRewards: [{ turn: 4, reward: 1 }] }), 'beyond its 3'],
  ])('names %s', async (_, rollout, field) => {
    expect((await said(rollout)).join('\n')).toContain(field);
  });
});
