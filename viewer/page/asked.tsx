// The question of a rollout, and the answer that is expected: its value first, the worked solution behind it.

import type { JSX } from 'preact';
import { type Query, questionOf } from '../../domain/query/query.ts';
import { referencesOf } from '../../domain/query/references.ts';
import { finalValue } from '../../domain/text/boxed-answer.ts';
import { LongText, RichText } from './rich-text.tsx';

export function Asked({ query }: { readonly query: Query }): JSX.Element {
  const references = referencesOf(query);
  const worked = references.map((text) => text.trim()).filter((text) => finalValue(text) !== text);
  return (
    <>
      <LongText class="asked" text={questionOf(query).trim()} />
      {references.length > 0 && (
        <div class="expected">
          <span class="dim">expected</span> <Expected query={query} />
          {worked.length > 0 && (
            <details>
              <summary class="dim">the worked solution</summary>
              {worked.map((text) => (
                <RichText key={text} text={text} />
              ))}
            </details>
          )}
        </div>
      )}
    </>
  );
}

/** The values of the references, any of which is right. */
export function Expected({ query }: { readonly query: Query }): JSX.Element {
  return <Values values={[...new Set(referencesOf(query).map((text) => finalValue(text.trim())))]} />;
}

export function Values({ values }: { readonly values: readonly string[] }): JSX.Element {
  return (
    <b>
      {values.map((value, i) => (
        <span key={value}>
          {i > 0 && ' or '}
          <Value text={value} />
        </span>
      ))}
    </b>
  );
}

/** A short text that may be a formula without marks around it. */
export function Value({ text }: { readonly text: string }): JSX.Element {
  return (
    <RichText
      class="value"
      text={/[\\^_{]/.test(text) && !text.includes('$') ? `$\\displaystyle ${text.trim()}$` : text}
      raw={text}
    />
  );
}
