// A game of two players: the model is X and begins, the environment is O. O wins if it can, stops X if it must, and else
// takes a free cell by the episode's seed, so that a game that is played again is the same game.
//
//     everturn run examples/tictactoe.jsonl --environment ./examples/environments/tictactoe.ts --agent tictactoe

interface Game {
  readonly board: string;
}
interface Call {
  readonly episode: { readonly seed: number; readonly row: { readonly opening?: string } };
  readonly turn: number;
  readonly answer: string;
  readonly state: Game;
}

const LINES = ['012', '345', '678', '036', '147', '258', '048', '246'].map((line) => [...line].map(Number));
const EMPTY = '.........';

const free = (board: string): number[] => [...board].flatMap((cell, i) => (cell === '.' ? [i] : []));
const put = (board: string, at: number, who: string): string => board.slice(0, at) + who + board.slice(at + 1);
const wins = (board: string, who: string): boolean => LINES.some((line) => line.every((i) => board[i] === who));
const shown = (board: string): string =>
  [0, 3, 6].map((row) => [...board.slice(row, row + 3)].map((cell, i) => (cell === '.' ? row + i + 1 : cell)).join(' ')).join('\n');

function reply(board: string, seed: number): number {
  const open = free(board);
  for (const who of ['O', 'X']) {
    const decisive = open.find((at) => wins(put(board, at, who), who));
    if (decisive !== undefined) return decisive;
  }
  return open[(seed + 7 * open.length) % open.length]!;
}

const over = (verdict: 'right' | 'wrong', reason: string, reward: number, board: string) => ({
  verdict: { verdict, reason },
  reward,
  done: true,
  state: { board },
});

export const environment = {
  name: 'tictactoe',
  version: '1',
  state: 'value',

  begin({ episode }: Pick<Call, 'episode'>) {
    const board = /^[.XO]{9}$/.test(episode.row.opening ?? '') ? episode.row.opening! : EMPTY;
    const content = `You are X. Answer with the number of a free cell.\n${shown(board)}`;
    return { messages: [{ role: 'user', content }], state: { board } };
  },

  respond({ episode, turn, answer, state: { board } }: Call) {
    const at = Number(answer.match(/\d+/g)?.at(-1)) - 1;
    if (board[at] !== '.') return over('wrong', 'illegal-move', -1, board);
    const mine = put(board, at, 'X');
    if (wins(mine, 'X')) return over('right', 'won', 1, mine);
    if (free(mine).length === 0) return over('wrong', 'draw', 0, mine);
    const theirs = put(mine, reply(mine, episode.seed), 'O');
    if (wins(theirs, 'O')) return over('wrong', 'lost', -1, theirs);
    if (free(theirs).length === 0) return over('wrong', 'draw', 0, theirs);
    const messages = [{ role: 'user', content: `O has moved.\n${shown(theirs)}` }];
    return { reward: 0, metrics: { moves: turn }, messages, state: { board: theirs } };
  },
};

export const agents = [{ name: 'tictactoe', numTurns: 5, feedback: 'delta' }];
