// An environment for Everturn: docs/environment-messages.md has the form of each message.

interface Answered {
  readonly episode: { readonly key: string; readonly seed: number; readonly row: { readonly wanted: number } };
  readonly turn: number;
  readonly answer: string;
}

export const environment = {
  name: 'my-environment',
  version: '1',

  respond({ episode, answer }: Answered) {
    const last = answer.match(/-?\d+/g)?.at(-1);
    if (last === undefined)
      return { verdict: 'wrong', messages: [{ role: 'user', content: 'I see no number. Give one.' }] };
    const off = Math.abs(Number(last) - episode.row.wanted);
    if (off === 0) return { verdict: 'right', reward: 1, done: true };
    return {
      verdict: 'wrong',
      reward: 1 / (1 + off),
      metrics: { off },
      messages: [{ role: 'user', content: `${last} is wrong. Try again.` }],
    };
  },
};
