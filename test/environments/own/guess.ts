// A guessing game, as guess.py, for each kind of state.

interface Game {
  left: number;
  said: number[];
}
interface Episode {
  readonly key: string;
  readonly seed: number;
  readonly row: { readonly name: string; readonly drift?: boolean };
}
interface Answered {
  readonly episode: Episode;
  readonly turn: number;
  readonly answer: string;
  readonly state?: Game;
}

/** Another one in each process. */
const LOADED = Math.random();

export function guess(kind: 'none' | 'value' | 'replay') {
  return {
    name: 'guess',
    version: '1',
    state: kind,
    async begin({ episode }: { readonly episode: Episode }) {
      const content = `I think of a number from 1 to 20, ${episode.row.name}.`;
      const state: Game = { left: 3, said: [] };
      return { messages: [{ role: 'user', content }], ...(kind === 'none' ? {} : { state }) };
    },
    respond({ episode, turn, answer, state: given }: Answered) {
      const game = kind === 'none' ? { left: 4 - turn, said: [] } : given!;
      const number = 1 + (episode.seed % 20);
      const said = Number(answer.match(/\d+/g)?.at(-1) ?? 0);
      const state: Game = { left: game.left - 1, said: [...game.said, said] };
      const off = Math.abs(said - number);
      const out = kind === 'none' ? {} : { state };
      if (off === 0)
        return { ...out, verdict: { verdict: 'right', reason: 'guessed' }, reward: 1 + state.left / 4, done: true };
      if (state.left === 0) return { ...out, verdict: 'wrong', reward: -0.5, metrics: { off }, done: true };
      const drift = episode.row.drift ? ` ${LOADED}` : '';
      const hint = said < number ? 'Higher' : 'Lower';
      return {
        ...out,
        reward: { near: 1 / (1 + off), late: -0.25 * turn },
        metrics: { off, said: state.said.length },
        messages: [{ role: 'user', content: `${hint} than ${said}: ${state.left} left.${drift}` }],
      };
    },
    end() {},
  };
}
