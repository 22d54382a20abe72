// The head of a run: its name, its state, and the four numbers that say most.

import type { JSX } from 'preact';
import type { RunMessage } from '../model/messages.ts';
import type { Estimate } from '../../statistics/estimate.ts';
import { ago, brief, count, decimals, duration, moment, plural, roughly, share } from './format.ts';
import { Figure } from './parts.tsx';

export function RunHead({ message }: { readonly message: RunMessage }): JSX.Element {
  const { head, summary, newsAt, now, etaMs } = message;
  const { tokens, ms, headline } = summary;
  const { first, last, any, meanReturn } = headline;
  const judged = any.n > 0;
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
        {judged && head.numTurns === 1 && (
          <Figure label={`right${soFar}`} value={share(any.value)}>
            {ofKnown(any)}
          </Figure>
        )}
        {judged && head.numTurns > 1 && (
          <>
            <Figure label={`right at the last turn${soFar}`} value={share(last.value)}>
              {share(first.value)} at turn 1
            </Figure>
            <Figure label={`right at any turn${soFar}`} value={share(any.value)}>
              {ofKnown(any)}
            </Figure>
          </>
        )}
        {!judged && meanReturn.value !== null && (
          <Figure label={`mean return${soFar}`} value={decimals(meanReturn.value)}>
            of {plural(meanReturn.n, 'complete rollout')}
          </Figure>
        )}
        <Figure label="sampled" value={tokens ? brief(tokens) : '–'}>
          {ms === 0 ? 'tokens' : `tokens in ${duration(ms)} of generation`}
        </Figure>
      </dl>
    </header>
  );
}

/** The interval, and the queries; those that have no known rollout are left out. */
const ofKnown = ({ n, leftOut, interval }: Estimate): string =>
  `of ${plural(n, 'query', 'queries')}${leftOut > 0 ? `, ${count(leftOut)} unknown` : ''}${interval ? `; 95 %: ${interval.map((bound) => (100 * bound).toFixed(1)).join(' to ')}` : ''}`;
