// People's messages to a rollout in flight: an update puts one behind the feedback before the next turn. Refused where no
// turn could answer it; one message a turn, and the same one again is accepted. It adds no command to a history.

import { setHandler } from '@temporalio/workflow';
import { messageProblem, type SentMessage } from '../domain/text/say.ts';
import { say } from './messages.ts';

export interface Messages {
  /** The message before this turn, which has begun: later ones are for the next. */
  before(turn: number): SentMessage | undefined;
  /** Nothing can answer a message any more. */
  close(): void;
}

/** `numTurns`: undefined until the first step is done. */
export function openMessages(numTurns: () => number | undefined): Messages {
  const sent = new Map<number, SentMessage>();
  let begun = 0;
  let closed = false;
  // Turn 1 shows the question.
  const next = () => Math.max(begun, 1) + 1;
  setHandler(
    say,
    ({ text, by }) => {
      const turn = next();
      if (!sent.has(turn)) sent.set(turn, { text, by, at: Date.now() });
      return { turn };
    },
    {
      description: "A person's message to the model, behind the feedback before the next turn",
      validator: (message) => {
        const problem = messageProblem(message);
        if (problem !== undefined) throw new TypeError(problem);
        const last = numTurns();
        if (last === undefined) throw new Error('it has not begun; repeat it in a moment');
        if (closed) throw new Error('it has ended');
        if (next() > last) throw new Error(`turn ${last} is its last, and no further turn could answer`);
        const known = sent.get(next());
        if (known && (known.text !== message.text || known.by !== message.by))
          throw new Error(`${known.by} has a message before turn ${next()} already`);
      },
    },
  );
  return {
    before(turn) {
      begun = turn;
      return sent.get(turn);
    },
    close() {
      closed = true;
    },
  };
}
