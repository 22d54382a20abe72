// The head of a run: its name, its state, and the four numbers that say most.

import type { JSX } from 'preact';
import type { RunMessage } from '../model/messages.ts';
import { ago, brief, count, duration, moment, percent, plural, roughly, share } from './format.ts';
import { Figure } from './parts.tsx';

export function RunHead({ message }: { readonly message: RunMessage }): JSX.Element {
  const { head, summary, newsAt, now, etaMs } = message;
  const { turns, tokens, ms } = summary;
  const judged = turns.filter((turn) => turn.judged > 0);
  const [first, last] = [judged[0], judged.at(-1)];
  const open = head.state === 'open';
  const soFar = open ? ', so far' : '';
  return (
    <header class="run-head">
      <div class="head">
        <h1>{head.run}</h1>
        <p class="dim">
          {head.model}
          {head.dataset !== null && ` · ${head.dataset}`} · begun {moment(head.createdAt)}
          {open && newsAt !== null && ` · last record ${ago(newsAt, now)}`}
        </p>
      </div>
      <dl class="figures">
        <Figure label={open ? 'ended so far' : head.state} value={count(summary.ended)}>
          of {plural(summary.total, 'rollout')}
          {etaMs !== null && `, about ${roughly(etaMs)} to go`}
        </Figure>
        {first && head.numTurns === 1 && (
          <Figure label={`right${soFar}`} value={percent(first.right, first.judged)}>
            {count(first.right)} of {count(first.judged)} judged
          </Figure>
        )}
        {first && last && head.numTurns > 1 && (
          <>
            <Figure label={`right at turn ${last.turn}${soFar}`} value={percent(last.right, last.judged)}>
              {first === last
                ? `${count(last.right)} of ${count(last.judged)}`
                : `${percent(first.right, first.judged)} at turn 1`}
            </Figure>
            <Figure label={`right at any turn${soFar}`} value={share(last.rightBy.value)}>
              {count((last.rightBy.value ?? 0) * last.rightBy.n)} of {count(last.rightBy.n)} that ended
            </Figure>
          </>
        )}
        <Figure label="sampled" value={tokens ? brief(tokens) : '–'}>
          {ms === 0 ? 'tokens' : `tokens in ${duration(ms)} of generation`}
        </Figure>
      </dl>
    </header>
  );
}
