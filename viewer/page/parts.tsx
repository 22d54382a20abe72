// Small pieces that several pages share: signs of verdicts, strips of turns, states, notices, figures, facts, tables.

import type { ComponentChildren, JSX } from 'preact';
import type { VerdictValue } from '../../domain/rollout/verdict.ts';
import type { Row, RowState } from '../model/row.ts';
import { meaningOf } from '../model/words.ts';
import { named } from './format.ts';

export const SIGN: Readonly<Record<VerdictValue | 'none', string>> = {
  ...{ right: '✓', wrong: '✗', undecided: '?', scored: '•', called: '→', none: '·' },
};
export type Value = 0 | 1 | null;
const VALUES = { 1: 'right', 0: 'wrong', null: 'undecided' } as const;
export const nameOf = (value: Value): 'right' | 'wrong' | 'undecided' => VALUES[`${value}`];

interface StripProps {
  readonly values: readonly Value[];
  /** Cells, at least: so that strips of different lengths line up. */
  readonly total?: number;
  /** Default: the values. */
  readonly label?: string;
}

const MOST_CELLS = 24;

/** One cell per turn, or per sample. */
export function Strip({ values, total = 0, label = values.map(nameOf).join(', ') }: StripProps): JSX.Element {
  const shown = values.slice(-MOST_CELLS);
  return (
    <span class="strip" role="img" aria-label={label === '' ? 'no turn yet' : label}>
      {values.length > MOST_CELLS && <i class="cell">…</i>}
      {shown.map((value, i) => (
        <i key={i} class={`cell ${nameOf(value)}`}>
          {SIGN[nameOf(value)]}
        </i>
      ))}
      {Array.from({ length: Math.max(0, Math.min(total, MOST_CELLS) - shown.length) }, (_, i) => (
        <i key={`rest ${i}`} class="cell none" />
      ))}
    </span>
  );
}

export function State({ state, reason }: { readonly state: RowState; readonly reason: string | null }): JSX.Element {
  return (
    <span class={`state ${state}`}>
      {state === 'open' ? 'playing' : state}
      {reason !== null && <span class="dim"> {named(reason)}</span>}
    </span>
  );
}

/** The sample and the attempt of a rollout, where there are several. */
export function Which({ of: { sample, attempt } }: { readonly of: Pick<Row, 'sample' | 'attempt'> }): JSX.Element {
  return (
    <span class="dim">
      {sample > 0 && ` sample ${sample}`}
      {attempt > 1 && ` attempt ${attempt}`}
    </span>
  );
}

interface NoticeProps {
  readonly children: ComponentChildren;
  readonly kind?: 'note' | 'problem';
}

export function Notice({ children, kind = 'note' }: NoticeProps): JSX.Element {
  return (
    <p class={`notice ${kind}`} role={kind === 'problem' ? 'alert' : 'status'}>
      {children}
    </p>
  );
}

export function Problem({ text }: { readonly text: string | undefined }): JSX.Element | null {
  return text === undefined ? null : <Notice kind="problem">{text}</Notice>;
}

interface LoadingProps {
  readonly error: string | undefined;
  /** From a page of nothing. */
  readonly back?: readonly [href: string, text: string];
}

/** Before the first message. Silent for a moment: most pages are there at once. */
export function Loading({ error, back }: LoadingProps): JSX.Element {
  if (error === undefined)
    return (
      <p class="loading" role="status">
        Reading …
      </p>
    );
  return (
    <>
      <Problem text={error} />
      {back && (
        <p>
          <a href={back[0]}>← {back[1]}</a>
        </p>
      )}
    </>
  );
}

interface FigureProps {
  readonly label: string;
  readonly value: string;
  readonly kind?: string;
  readonly children?: ComponentChildren;
}

export function Figure({ label, value, kind = '', children }: FigureProps): JSX.Element {
  return (
    <div class={`figure ${kind}`} title={meaningOf(label)}>
      <dt>{label}</dt>
      <dd>
        <b>{value}</b>
        <span>{children}</span>
      </dd>
    </div>
  );
}

type Fact = readonly [name: string, value: ComponentChildren, title?: string];

export function Facts({ facts }: { readonly facts: readonly Fact[] }): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(([name, value, title]) => (
        <div key={name} title={title ?? meaningOf(name)}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface TableProps {
  /** For those who do not see it. */
  readonly label: string;
  readonly caption?: ComponentChildren;
  /** Names of the columns, with what they mean where the name does not say it. */
  readonly head?: readonly (string | readonly [name: string, title: string])[];
  readonly rows: readonly {
    readonly key: string | number;
    readonly kind?: string | undefined;
    readonly cells: readonly ComponentChildren[];
  }[];
  readonly kind?: string;
}

/** The first cell of a row is its name. */
export function Table({ label, caption, head = [], rows, kind = '' }: TableProps): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class={`numbers ${kind}`}>
        {caption !== undefined && <caption>{caption}</caption>}
        {head.length > 0 && (
          <thead>
            <tr>
              {head.map((column) => {
                const [name, title = meaningOf(name)] = typeof column === 'string' ? [column] : column;
                return (
                  <th key={name} scope="col" title={title}>
                    {name}
                  </th>
                );
              })}
            </tr>
          </thead>
        )}
        <tbody>
          {rows.map(({ key, kind: style, cells: [name, ...cells] }) => (
            <tr key={key} class={style}>
              <th scope="row">{name}</th>
              {cells.map((cell, i) => (
                <td key={i}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The meaning of the colours of a picture: the class of each, and its text. */
export function Legend({ colours }: { readonly colours: readonly (readonly [string, string])[] }): JSX.Element {
  return (
    <p class="legend line">
      {colours.map(([style, text]) => (
        <span key={text}>
          <i class={`swatch ${style}`} aria-hidden="true" /> {text}
        </span>
      ))}
    </p>
  );
}
