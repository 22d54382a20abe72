// Small pieces that several pages share: the strip of turns, a state, a note, a notice.

import type { ComponentChildren, JSX } from 'preact';
import type { Row, RowState } from '../model/row.ts';
import { named } from './format.ts';

const SIGNS = { 1: '✓', 0: '✗', null: '?' } as const;
const WORDS = { 1: 'right', 0: 'wrong', null: 'undecided' } as const;
const MOST = 24;

/** One cell per turn. `total`: turns of the run, so that strips of different lengths line up. */
export function Strip({ row, total }: { readonly row: Pick<Row, 'success'>; readonly total: number }): JSX.Element {
  const { success } = row;
  const shown = success.slice(-MOST);
  const rest = Math.max(0, Math.min(total, MOST) - shown.length);
  const said = success.map((s) => WORDS[`${s}`]).join(', ');
  return (
    <span class="strip" role="img" aria-label={said === '' ? 'no turn yet' : said}>
      {success.length > MOST && <i class="cell more">…</i>}
      {shown.map((s, i) => (
        <i key={i} class={`cell ${WORDS[`${s}`]}`}>
          {SIGNS[`${s}`]}
        </i>
      ))}
      {Array.from({ length: rest }, (_, i) => (
        <i key={`r${i}`} class="cell none" />
      ))}
    </span>
  );
}

export function State({ state, reason }: { readonly state: RowState; readonly reason: string | null }): JSX.Element {
  return (
    <span class={`state ${state}`}>
      {state === 'open' ? 'playing' : state}
      {reason !== null && <span class="why"> {named(reason)}</span>}
    </span>
  );
}

export function Notice({
  children,
  kind = 'note',
}: {
  readonly children: ComponentChildren;
  readonly kind?: 'note' | 'problem';
}): JSX.Element {
  return (
    <p class={`notice ${kind}`} role={kind === 'problem' ? 'alert' : 'status'}>
      {children}
    </p>
  );
}

/** Before the first message. Silent for a moment: most pages are there at once. */
export function Loading({ error }: { readonly error: string | undefined }): JSX.Element {
  return error === undefined ? <p class="loading">Reading …</p> : <Notice kind="problem">{error}</Notice>;
}

export function Figure({
  value,
  label,
  note,
}: {
  readonly value: string;
  readonly label: string;
  readonly note?: string | undefined;
}): JSX.Element {
  return (
    <div class="figure">
      <dt>{label}</dt>
      <dd>
        <b>{value}</b>
        {note !== undefined && <span>{note}</span>}
      </dd>
    </div>
  );
}
