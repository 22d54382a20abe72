// The things that a report leaves out, where one reads it first.

import type { JSX } from 'preact';

export function OmittedParts({ left }: { readonly left: readonly string[] }): JSX.Element | null {
  if (left.length === 0) return null;
  return (
    <details class="left" open>
      <summary>This report leaves out</summary>
      <ul>
        {left.map((line) => (
          <li key={line}>{line.split('`').map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</li>
        ))}
      </ul>
    </details>
  );
}
