// The slots of a worker for generations that are no activities of their own: the calls of agents. Later turns go first, as in the
// queue of generations: a rollout is finished while its conversation is in the prefix cache of its server.

export type InSlot = <T>(turn: number, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

interface Waiting {
  readonly turn: number;
  readonly begin: () => void;
}

/** Runs the work when fewer than `count` others run; rejects when the signal aborts before. */
export function openSlots(count: number): InSlot {
  const waiting: Waiting[] = [];
  let free = count;
  return async (turn, signal, work) => {
    if (free > 0) free--;
    else await turnComes(waiting, turn, signal);
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next.begin();
      else free++;
    }
  };
}

function turnComes(waiting: Waiting[], turn: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      waiting.splice(waiting.indexOf(one), 1);
      reject(signal.reason as Error);
    };
    const one = {
      turn,
      begin() {
        signal.removeEventListener('abort', leave);
        resolve();
      },
    };
    const place = waiting.findIndex((other) => other.turn < turn);
    waiting.splice(place < 0 ? waiting.length : place, 0, one);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
  });
}
