// The environment of closer.py as a module: it says whether the number was too low or too high.
//
//     everturn run examples/arithmetic.jsonl --environment ./examples/environments/closer.ts --num-turns 4

interface Row {
  readonly solutions: readonly string[];
}

interface Respond {
  readonly episode: { readonly key: string; readonly seed: number; readonly row: Row };
  readonly turn: number;
  readonly answer: string;
}

export const environment = {
  name: 'closer',
  version: '1',

  respond({ episode, turn, answer }: Respond) {
    const wanted = Number([...episode.row.solutions[0]!.matchAll(/\\boxed\{(-?[\d.]+)\}/g)].at(-1)![1]);
    const last = answer.match(/-?\d+(?:\.\d+)?/g)?.at(-1);
    if (last === undefined) {
      const hint = 'I see no number. Give one.';
      return { verdict: 'wrong', reward: -1, messages: [{ role: 'user', content: hint }] };
    }
    const off = Number(last) - wanted;
    if (off === 0) return { verdict: 'right', reward: 1, done: true };
    const hint = off > 0 ? 'Too high.' : 'Too low.';
    return {
      verdict: { verdict: 'wrong', reason: off > 0 ? 'too-high' : 'too-low', extracted: last },
      reward: { near: 1 / (1 + Math.abs(off)), late: -0.1 * turn },
      metrics: { off: Math.abs(off) },
      messages: [{ role: 'user', content: `${hint} Try again.` }],
    };
  },
};
