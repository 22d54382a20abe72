// A file of Python that defines its environment, by a function or a class: the package plays it over the protocol.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeUnless, NO_PYTHON } from '../support/needs.ts';
import { ownRig } from './own/own-rig.ts';
import { playOwn, rolloutOf } from './own/rollouts.ts';

const { folder, lines: log, described, open } = ownRig();

async function replies(name: string, code: string, answers: readonly string[]) {
  writeFileSync(join(folder, `${name}.py`), code);
  const record = await described(`./${name}.py`, folder);
  const environment = open({ processes: 1 }).open(record, folder);
  return { record, ...(await playOwn(environment, rolloutOf(record, { wanted: '42' }), answers)) };
}

describeUnless(NO_PYTHON)('an environment in Python', () => {
  test('is a function that gives a verdict, a number or a whole reply, may await, and imports what is beside it', async () => {
    writeFileSync(join(folder, 'beside.py'), 'RIGHT = "42"\n');
    const { record, replies: said } = await replies(
      'My_Reward',
      `import asyncio
from beside import RIGHT
print("at the import")
class Scalar:
    def item(self): return 0.5
async def reward(row, answer, turn):
    await asyncio.sleep(0)
    print("in the call")
    return [row["wanted"] in answer, "wrong", {"verdict": "wrong", "metrics": {"n": turn}}, Scalar()][turn - 1]
`,
      ['It is 42.', 'x', 'y', 'z'],
    );
    expect(record).toMatchObject({ name: 'my-reward', version: '1', state: 'none', begins: false });
    expect(said.map(({ verdict, reward }) => verdict?.verdict ?? reward)).toEqual(['right', 'wrong', 'wrong', 0.5]);
    expect(said[2]!.metrics).toEqual({ n: 3 });
    expect(log.join('\n')).toMatch(/at the import[^]*in the call/);
  });

  test('places rewards and masks in an answer, by characters as Python counts them', async () => {
    const { record, replies: said } = await replies(
      'steps',
      `from everturn import Environment
class Steps(Environment):
    credits = True
    def respond(self, answer, turn):
        at = answer.index("4")
        spans = [{"from": 0, "to": at, "train": False}, {"from": at, "to": len(answer), "reward": 0.5}]
        return {"verdict": "wrong", "credit": spans} if turn == 1 else {"verdict": "right", "train": False}
`,
      ['\u{1f600} 42', '4'],
    );
    expect(record).toMatchObject({ name: 'steps', credits: true });
    const credit = [
      { from: 0, to: 2, train: false },
      { from: 2, to: 4, reward: 0.5 },
    ];
    expect(said).toEqual([
      { verdict: { verdict: 'wrong', reason: 'environment' }, reward: -0.5, base: -1, credit },
      { verdict: { verdict: 'right', reason: 'environment' }, train: false },
    ]);
  });

  test('is a class, of which each rollout has an instance where its state is in the process', async () => {
    const {
      record,
      begun,
      replies: said,
    } = await replies(
      'guess',
      `from everturn import Environment
class Guess(Environment):
    version, state = "2", "replay"
    def begin(self, episode):
        self.asked = []
        return {"messages": [{"role": "user", "content": f"Guess, {episode['seed'] > 0}."}]}
    def respond(self, answer, **more):
        self.asked.append(answer)
        return {"verdict": "wrong", "metrics": {"asked": len(self.asked), "more": len(more)}}
`,
      ['1', '2'],
    );
    expect(record).toMatchObject({ name: 'guess', version: '2', state: 'replay', begins: true, ends: true });
    expect(begun?.messages?.[0]?.content).toBe('Guess, True.');
    expect(said.map(({ metrics }) => metrics)).toEqual([
      { asked: 1, more: 6 },
      { asked: 2, more: 6 },
    ]);
  });

  test('that fails is no reward: its traceback is named, and NaN and nothing are failures', async () => {
    await expect(replies('nothing', 'def reward(row, answer):\n    row["wanted"]\n', ['42'])).rejects.toThrow(
      /returned None/,
    );
    await expect(replies('broken', 'def reward(row, answer):\n    return 1 / 0\n', ['42'])).rejects.toThrow(
      /ZeroDivision/,
    );
    await expect(replies('nan', 'def reward(row, answer):\n    return float("nan")\n', ['42'])).rejects.toThrow(/JSON/);
    expect(log.join('\n')).toContain('broken.py", line 2, in reward');
  });

  test.each([
    ['asks for answr', 'def reward(row, answr): ...', /reward asks for answr, and there are episode, row/],
    ['defines nothing', 'X = 1', /defines no environment: a function reward\(row, answer\)/],
    [
      'defines two',
      'from everturn import *\nclass A(Environment): ...\nclass B(Environment): ...',
      /2 environments: A, B/,
    ],
    ['is no Python', 'def reward(row:', /SyntaxError|exit code/],
  ])('that %s is refused before a run is made', async (_, code, words) => {
    await expect(replies('refused', code, [])).rejects.toThrow(words);
  });

  test('that speaks the protocol itself does', async () => {
    const code = `import json, sys
print(json.dumps({"hello": {"protocol": 1, "name": "itself", "version": "1"}}), flush=True)
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "result": {"reward": len(sys.argv)}}), flush=True)
`;
    const { record, replies: said } = await replies('itself', code, ['x']);
    expect([record.name, said[0]!.reward]).toEqual(['itself', 1]);
  });
});
