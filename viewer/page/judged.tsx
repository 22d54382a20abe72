// The words beside a verdict: those of a judge model, and the messages and the state of an environment. Texts of others become markup nowhere (rich-text.tsx).

import type { JSX } from 'preact';
import type { VerdictRecord } from '../../domain/rollout/trajectory.ts';
import { inText, plain } from '../model/visible-bytes.ts';
import { spacedWords, plural, fourDigits } from './format.ts';
import { LongText, RichText } from './rich-text.tsx';

interface Props {
  readonly verdict: VerdictRecord;
  /** No turn follows that shows the messages to the model. */
  readonly isLast: boolean;
}

export function Judged({ verdict, isLast }: Props): JSX.Element {
  const { judged, messages = [], state, done, note } = verdict;
  return (
    <>
      {judged && (
        <div class="told">
          <div>
            <span class="dim">
              the judge {inText(judged.model)}
              {judged.exact !== undefined && `, asked after the exact judge said ${spacedWords(judged.exact)}`}
              {judged.completionTokens !== null && ` · ${plural(judged.completionTokens, 'token')}`}
              {judged.cost !== undefined && ` · cost ${fourDigits(judged.cost)}`}
            </span>
            <LongText class="" text={judged.reply} />
          </div>
        </div>
      )}
      {isLast && messages.length > 0 && (
        <div class="told">
          {messages.map(({ role, name, content }, i) => (
            <div key={i}>
              <span class="dim">{plain(name ?? role)}, after the last turn</span>
              <RichText text={content} />
            </div>
          ))}
        </div>
      )}
      {done === true && <p class="dim small">The environment ended the rollout here.</p>}
      {state !== undefined && state !== null && (
        <details class="context">
          <summary>the state of the environment</summary>
          <pre class="text">{plain(JSON.stringify(state, null, 2))}</pre>
        </details>
      )}
      {note !== undefined && <pre class="fault text small">{plain(note)}</pre>}
    </>
  );
}
