// The question of a rollout and what is expected, as text.

import type { JSX } from 'preact';
import { type Query, questionOf } from '../../domain/run/query.ts';
import { inText } from '../model/visible-bytes.ts';
import { plain } from './turn.tsx';

export function Asked({ query }: { readonly query: Query }): JSX.Element {
  const expected = query.solutions.map((solution) => solution.trim());
  return (
    <>
      <p class="asked">{plain(questionOf(query)).trim()}</p>
      {expected.length > 0 && (
        <p class="expected">
          <span class="dim">expected</span> <Expected texts={expected} />
        </p>
      )}
    </>
  );
}

const LONG = 300;

function Expected({ texts }: { readonly texts: readonly string[] }): JSX.Element {
  const text = texts.map(inText).join('  or  ');
  if (text.length <= LONG) return <b class="text">{text}</b>;
  return (
    <details>
      <summary>{text.slice(0, 120)} …</summary>
      <b class="text">{text}</b>
    </details>
  );
}
