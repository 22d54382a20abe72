// The question of a rollout, and the answer that is expected: its value first, the worked solution behind it.

import type { JSX } from 'preact';
import { type Query, questionOf } from '../../domain/run/query.ts';
import { lastBoxed } from './formula.ts';
import { LongText, RichText } from './rich-text.tsx';

export function Asked({ query }: { readonly query: Query }): JSX.Element {
  const worked = query.solutions.map((solution) => solution.trim()).filter((text) => valueIn(text) !== text);
  return (
    <>
      <LongText class="asked" text={questionOf(query).trim()} />
      {query.solutions.length > 0 && (
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

/** The values of the solutions, any of which is right. */
export function Expected({ query }: { readonly query: Query }): JSX.Element {
  const values = [...new Set(query.solutions.map((solution) => valueIn(solution.trim())))];
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

const FINAL = /(?:^|\n)\s*####\s*(.+?)\s*$/;
const SHORT = 120;

/** The final answer of a worked text, where it is marked; a text without one is its own value, up to its first words. */
function valueIn(solution: string): string {
  const found = lastBoxed(solution) ?? FINAL.exec(solution)?.[1];
  return found ?? (solution.length <= SHORT ? solution : `${solution.slice(0, SHORT)} …`);
}
