// The head of a run: its name, its state, and the four numbers that say most.

import type { JSX } from 'preact';
import type { RunMessage } from '../model/messages.ts';
import { ago, brief, count, duration, moment, percent, plural, roughly } from './format.ts';
import { Figure } from './parts.tsx';

export function RunHead({ message }: { readonly message: RunMessage }): JSX.Element {
  const { head, summary, newsAt, now, etaMs } = message;
  const { turns, tokens, ms } = summary;
  const judged = turns.filter((turn) => turn.judged > 0);
  const [first, last] = [judged[0], judged.at(-1)];
  return (
    <header class="run-head">
      <div class="head">
        <h1>{head.run}</h1>
        <p class="dim">
          {head.model}
          {head.dataset !== null && ` · ${head.dataset}`} · begun {moment(head.createdAt)}
          {message.head.state === 'open' && newsAt !== null && ` · last record ${ago(newsAt, now)}`}
        </p>
      </div>
      <dl class="figures">
        <Figure
          label={head.state === 'open' ? 'ended so far' : head.state}
          value={count(summary.ended)}
          note={`of ${plural(summary.total, 'rollout')}${etaMs === null ? '' : `, about ${roughly(etaMs)} to go`}`}
        />
        {first && last && (
          <>
            <Figure
              label={head.state === 'open' ? `right at turn ${last.turn}, so far` : `right at turn ${last.turn}`}
              value={percent(last.right, last.judged)}
              note={
                first === last
                  ? `${count(last.right)} of ${count(last.judged)}`
                  : `${percent(first.right, first.judged)} at turn 1`
              }
            />
            <Figure
              label={head.state === 'open' ? 'right at any turn, so far' : 'right at any turn'}
              value={percent(last.rightBy, summary.ended - summary.steered)}
              note={`${count(last.rightBy)} of ${count(summary.ended - summary.steered)} that ended`}
            />
          </>
        )}
        <Figure
          label="sampled"
          value={tokens ? brief(tokens) : '–'}
          note={ms === 0 ? 'tokens' : `tokens in ${duration(ms)} of generation`}
        />
      </dl>
    </header>
  );
}
