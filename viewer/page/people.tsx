// People's verdicts and notes on a turn, or on the rollout as a whole, beside the judge's verdict: never over it.

import type { JSX } from 'preact';
import { agreedVerdict, type NamedAct, standingVerdicts } from '../../domain/run/steering.ts';
import { inText } from '../model/visible-bytes.ts';
import { moment } from './format.ts';

interface Props {
  readonly acts: readonly NamedAct[];
  /** Null: the rollout as a whole. */
  readonly turn: number | null;
}

export function People({ acts, turn }: Props): JSX.Element | null {
  const verdicts = turn === null ? [] : standingVerdicts(acts, turn);
  const notes = acts.flatMap(({ name, act }) => (act.act === 'note' && act.of.turn === turn ? [{ name, act }] : []));
  if (verdicts.length === 0 && notes.length === 0) return null;
  return (
    <ul class="notice people">
      {verdicts.map(({ name, act: { by, at, verdict, reason } }) => (
        <li key={name}>
          <span title={moment(at)}>{inText(by)}</span> says{' '}
          <b class={`verdict ${verdict}`}>
            {verdict === 'right' ? '✓' : '✗'} {verdict}
          </b>
          {reason !== null && <span class="dim text"> {inText(reason)}</span>}
        </li>
      ))}
      {notes
        .toSorted((a, b) => a.act.at - b.act.at)
        .map(({ name, act: { by, at, text } }) => (
          <li key={name}>
            <span title={moment(at)}>{inText(by)}</span> notes <span class="text">{inText(text)}</span>
          </li>
        ))}
      {agreedVerdict(verdicts) === 'disagree' && (
        <li class="state undecided">
          People disagree: <code>export --verdicts human</code> leaves this rollout out, until one of them changes their
          verdict.
        </li>
      )}
    </ul>
  );
}
