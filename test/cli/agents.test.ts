// Agents as data: presets that take the place of defaults and of nothing else, and refusals that say what would be right.

import { describe, expect, test } from 'vitest';
import { AGENTS } from '../../domain/rollout/agent.ts';
import { DEFAULT_SETTINGS } from '../../domain/rollout/settings.ts';
import { UsageError } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { describeProgram } from '../../run/agent-program.ts';
import { withAgent } from '../../run/agents.ts';
import { resolveOptions } from '../../run/config.ts';
import { runParts } from '../../records/format/run-record.ts';
import { planRun } from '../../run/plan.ts';

const PATIENT = { name: 'patient', numTurns: 8, stop: 'success', temperature: 0.5 } as const;
const resolve = (flags: Record<string, unknown>, agents: readonly JsonObject[] = []) =>
  withAgent(resolveOptions({ flags }), [{ from: './mine.ts', agents }]);
const dataset = { path: '/rows.jsonl', sha256: 'f'.repeat(64), accepted: 1, refused: 0 };
const partsOf = ({ resolved, agent }: ReturnType<typeof withAgent>) =>
  runParts(planRun({ ...resolved, agent, name: 'r', dataset, now: 0 }));
function refusal(work: () => unknown): UsageError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return error as UsageError;
  }
  throw new Error('it was not refused');
}

describe('an agent', () => {
  test('of the original’s registry has the original’s settings', () => {
    const { numTurns, stop, feedback, rewardScaling, rewardBias, turnDiscount } = DEFAULT_SETTINGS;
    const original = { numTurns, stop, feedback, rewardScaling, rewardBias, turnDiscount };
    expect(AGENTS.map(({ name }) => name)).toEqual(['math-multi-turn', 'math-single-step', 'math-code-single-step']);
    expect(AGENTS[0]).toMatchObject({ settings: original, sampleOf: 'rollout' });
    for (const { settings, sampleOf } of AGENTS.slice(1))
      expect({ settings, sampleOf }).toEqual({ settings: { ...original, numTurns: 1 }, sampleOf: 'query' });
  });

  test('takes the place of defaults, and of no value that was given', () => {
    const { resolved, agent } = resolve({ agent: 'patient', temperature: 0.9 }, [PATIENT]);
    expect(resolved.options).toMatchObject({ numTurns: 8, stop: 'success', temperature: 0.9 });
    expect(resolved.origins).toMatchObject({ agent: 'flag', numTurns: 'agent', temperature: 'flag', topP: 'default' });
    expect(agent).toMatchObject({ name: 'patient', sampleOf: 'rollout' });
    const none = resolveOptions({ flags: {} });
    expect(withAgent(none, [])).toEqual({ resolved: none, agent: undefined });
  });

  test('of single steps keeps the groups within its limits, and is recorded', () => {
    const single = resolve({ agent: 'math-single-step', samples: 8, successRate: '0.1:0.9' });
    expect(single.resolved.options.numTurns).toBe(1);
    expect(partsOf(single)).toEqual({
      keep: { successRate: [0.1, 0.9], dropZeroVariance: false, minMembers: null },
      agent: { name: 'math-single-step', sampleOf: 'query' },
    });
    const trained = resolve({ agent: 'math-single-step', train: true, successRate: '0.1:0.9' });
    expect(partsOf(trained)).toMatchObject({ train: { successRate: [0.1, 0.9] } });
    expect(partsOf(trained).keep).toBeUndefined();
  });

  test.each([
    ['no-such', [], 'unknown-agent', 'math-single-step'],
    ['patient', [{ name: 'patient' }], 'agent-without-end', 'numTurns'],
    ['patient', [{ name: 'patient', numTurns: null }], 'agent-without-end', 'numTurns'],
    ['patient', [{ name: 'patient', numTurns: 'many' }], 'agent-without-end', 'numTurns'],
    ['patient', [{ name: 'patient', numTurns: 0 }], 'bad-value', 'from 1 to 1000'],
    ['patient', [{ name: 'patient', numTurns: 1e9 }], 'bad-value', 'from 1 to 1000'],
    ['patient', [{ ...PATIENT, stop: 'never' }], 'bad-value', 'always or success'],
    ['patient', [{ ...PATIENT, model: 'tiny' }], 'bad-value', 'numTurns'],
    ['patient', [{ ...PATIENT, sampleOf: 'turn' }], 'bad-value', 'rollout or query'],
    ['patient', [PATIENT, PATIENT], 'bad-value', 'Rename'],
    ['patient', [{ ...PATIENT, name: 'math-single-step' }], 'bad-value', 'Rename'],
    ['patient', [{ numTurns: 3 }], 'bad-value', 'Name it'],
    ['patient', [{ ...PATIENT, sampleOf: 'query' }], 'bad-value', '--num-turns'],
  ] as readonly (readonly [string, readonly JsonObject[], string, string])[])(
    'that there is not, has no end or cannot be is refused: %s of %j',
    (agent, agents, reason, fix) => {
      const refused = refusal(() => resolve({ agent }, agents));
      expect(refused).toMatchObject({ reason, fix: expect.stringContaining(fix) });
    },
  );

  test('of single steps with more turns is refused', () => {
    const refused = refusal(() => resolve({ agent: 'math-single-step', numTurns: 3 }));
    expect(refused.message).toContain('numTurns is 3');
  });
});

describe('an agent of one’s own', () => {
  test('is refused beside a model that is a function of the program, which no worker can ask', async () => {
    const flags = { agent: 'session', model: 'function:model@123' };
    const described = describeProgram(resolveOptions({ flags }), '/');
    await expect(described).rejects.toThrow(/asks its model within a worker/);
  });

  test('is refused for task directories without a container, unless it is to give the reward itself', async () => {
    const described = (flags: Record<string, unknown>) =>
      describeProgram(resolveOptions({ flags: { agent: 'sh -c true', ...flags } }), '/', 'harbor:/tasks');
    await expect(described({})).rejects.toThrow(/played in containers/);
    expect((await described({ container: 'none' })).program).not.toHaveProperty('container');
    expect((await described({ agent: 'session' })).program).not.toHaveProperty('container');
  });
});
