// A trajectory as it is read: complete, and harmless.

import { describe, expect, test } from 'vitest';
import { trajectoryText } from '../../cli/view/trajectory-text.ts';
import { completeSettings } from '../../domain/run/defaults.ts';
import type { AskedCall } from '../../domain/agent/call-record.ts';
import type { EndRecord, PlayedTurn, Trajectory } from '../../domain/rollout/trajectory.ts';
import { turnRecord } from '../records/play.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';

const plain = { only: undefined, tokens: false, paint: (_: string, text: string) => text } as const;

function turn(
  n: number,
  given: { context?: string; output?: string; verdict?: PlayedTurn['verdict'] } = {},
): PlayedTurn {
  return {
    record: {
      ...turnRecord(n, given.context ?? `question ${n}`, 3),
      outputIds: [7, 8],
      logprobs: [-0.5, -1.25],
      outputText: given.output ?? `answer ${n}<|im_end|>`,
      contextLength: 4 * n,
      startedAt: 0,
      finishedAt: 1_500,
    },
    verdict: given.verdict ?? { turn: n, of: '', tookMs: 1, verdict: 'wrong', reason: 'different', extracted: '12' },
  };
}

function trajectory(turns: PlayedTurn[], given: Partial<Trajectory> = {}): Trajectory {
  return {
    rollout: {
      run: 'r',
      query: { queryId: 'q1', prompt: { kind: 'text', text: 'How much?' }, task: 'math', solutions: ['42'] },
      index: 0,
      sample: 0,
      attempt: 1,
      settings: completeSettings('r', { numTurns: 2 }),
      birthTime: 0,
    },
    turns,
    end: null,
    ...given,
  };
}

describe('everturn show', () => {
  test('a broken environment’s traceback stands below its turn, line by line, and steers no terminal', () => {
    const note = 'The process ended.\nTraceback:\n  File "e.py", line 3\nKeyError: \u001b[31m';
    const verdict = { turn: 1, of: '', tookMs: 1, verdict: 'undecided', reason: 'environment-exited', note } as const;
    const text = trajectoryText(trajectory([turn(1, { verdict })]), plain);
    expect(text).toContain('\nThe process ended.\nTraceback:\n  File "e.py", line 3\nKeyError: ␛[31m\n');
  });

  test('every turn shows what was asked, what was answered and what was said of it', () => {
    const text = trajectoryText(trajectory([turn(1), turn(2)]), plain);
    expect(text).toContain('q1  math · tiny\nasked     How much?\nexpected  42');
    expect(text).toContain('turn 1 of 2  ✗ wrong (different, found 12)  reward -1');
    expect(text).toContain(
      '2 tokens after 4 · ended by a stop token · 1.5 s · version 3\n  > question 1\n  answer 1<|im_end|>',
    );
    expect(text).toContain('turn 2 of 2');
    expect(text).toContain('Not ended: 2 turns so far.');
  });

  test('a turn of a run with tools is of no number of turns, because that number counts answers', () => {
    const tools = { format: 'hermes', list: [], maxCalls: 8, outputBytes: 1000 };
    const called = { turn: 1, of: '', tookMs: 1, verdict: 'called', reason: 'tools' } as const;
    const played = trajectory([turn(1, { verdict: called }), turn(2)]);
    const settings = { ...completeSettings('r', { numTurns: 1 }), tools };
    const text = trajectoryText({ ...played, rollout: { ...played.rollout, settings } }, plain);
    expect(text).toMatch(/^turn 1 +→ called \(tools\)/m);
    expect(text).toMatch(/^turn 2 +✗ wrong/m);
    expect(text).not.toMatch(/turn \d+ of/);
  });

  describe('of an agent’s program', () => {
    const asked = (part: Partial<AskedCall> = {}): AskedCall => ({
      ...{ call: '0'.repeat(18), hash: 'a'.repeat(64), occurrence: 0, dialect: '/chat/completions', parent: null },
      ...{ branch: null, differsAt: null, shared: 0, messages: [], limits: {} },
      ...part,
    });
    const called = (turn: number) => ({ turn, of: '', tookMs: 0, verdict: 'called', reason: 'agent' }) as const;
    const call = (n: number, of: AskedCall, part: Partial<TurnRecord> = {}, verdict?: PlayedTurn['verdict']) => {
      const played = turn(n, { verdict: verdict ?? called(n) });
      return { ...played, record: { ...played.record, asked: of, ...part } };
    };
    const end = {
      ...{ outcome: 'complete', stopReason: 'done', failure: null, turnRewards: [0, 0, 1], returns: [1, 1, 1] },
      ...{ success: [null, null, 1], turns: [], finishedAt: 0, called: [1, 2], abandoned: [2] },
    } as EndRecord;
    const judged = { turn: 3, of: '', tookMs: 1, verdict: 'right', reason: 'equal', extracted: '42' } as const;
    const reply = {
      text: 'I look.',
      calls: [{ name: 'price\u001b[2J', arguments: '{"fruit":"\\n"}' }],
      stopped: 'END',
    };

    test('each call names the one that it goes on from, the reason of a root, its flags, its tools and its stop text', () => {
      const flags = ['n is 1\u001b[31m'];
      const calls = [
        call(1, asked({ flags }), { reply }),
        call(2, asked({ branch: 'edited', differsAt: 1 })),
        call(3, asked({ parent: 1, shared: 1 }), {}, judged),
      ];
      const text = trajectoryText(trajectory(calls, { end }), plain);
      expect(text).toMatch(
        /^call 1 · a root\n2 tokens after 4 · ended by the program’s stop text "END" .*\nn is 1␛\[31m$/m,
      );
      expect(text).toContain('\n  tool · price␛[2J {"fruit":"\\n"}\n');
      expect(text).toMatch(/^call 2 · a root: edited, from message 2 on · abandoned$/m);
      expect(text).toMatch(/^call 3 · goes on from call 1$/m);
      expect(text).not.toMatch(/^turn|of 2|called/m);
    });

    test('the program’s own answer stands at the end with its verdict, and steers no terminal', () => {
      const answer = 'It is 42\u001b[2J.\nturn 9';
      const shown = (verdict: PlayedTurn['verdict']) =>
        trajectoryText(trajectory([call(1, asked()), call(2, asked()), call(3, asked(), {}, verdict)], { end }), plain);
      const head = '\n\nthe program’s answer  ✓ right (equal, found 42)  reward 1, return 1\n';
      expect(shown({ ...judged, answer })).toContain(`${head}  It is 42␛[2J.\n  turn 9\n\ncomplete (done)`);
      expect(shown(judged)).toContain(`${head}  the reply above\n\ncomplete (done)`);
      expect(shown(called(3))).not.toContain('the program’s answer');
    });
  });

  test('an undecided turn shows its reason and no reward', () => {
    const verdict = { turn: 1, of: '', tookMs: 1, verdict: 'undecided', reason: 'timeout' } as const;
    const text = trajectoryText(trajectory([turn(1, { verdict })]), plain);
    expect(text).toContain('turn 1 of 2  ? undecided (timeout)\n');
  });

  test('a turn that a model judged names the model, its price and what the exact judge had said', () => {
    const judged = { model: 'm', prompt: 'a'.repeat(64), reply: 'Same.', promptTokens: 9, completionTokens: 2 };
    const verdict = { turn: 1, of: '', tookMs: 1, verdict: 'right', reason: 'rubric' } as const;
    const shown = (more: object) => trajectoryText(trajectory([turn(1, { verdict: { ...verdict, ...more } })]), plain);
    const price = `judged by m (9 + 2 tokens, prompt ${'a'.repeat(12)}`;
    expect(shown({ judged })).toContain(`${price}): "Same."`);
    expect(shown({ judged: { ...judged, exact: 'different' } })).toContain(
      `${price}, the exact judge: different): "Same."`,
    );
  });

  test('tokens come with their log probabilities', () => {
    expect(trajectoryText(trajectory([turn(1)]), { ...plain, tokens: true })).toMatch(/7 {3}-0\.5000 .* 8 {3}-1\.2500/);
  });

  test('a failure is named', () => {
    const failure = { boundary: 'store' as const, reason: 'disk-full', message: 'cannot write', turn: 2 };
    const none = { turnRewards: [], returns: [], success: [], turns: [], finishedAt: 0 };
    const end = { outcome: 'failed', stopReason: 'failed', failure, ...none } as const;
    expect(trajectoryText(trajectory([turn(1)], { end }), plain)).toContain('failed: disk-full: cannot write');
  });
});
