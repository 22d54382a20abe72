// Small pieces that several pages share: signs of verdicts, strips of turns, states, notices, figures, facts, tables.

import { type ComponentChildren, h, type JSX } from 'preact';
import type { VerdictValue } from '../../domain/rollout/verdict.ts';
import type { Row, RowState } from '../model/row.ts';
import { explainWord } from '../model/words.ts';
import { count, spacedWords } from './format.ts';

export const SIGN: Readonly<Record<VerdictValue | 'none', string>> = {
  ...{ right: '✓', wrong: '✗', undecided: '?', scored: '•', called: '→', none: '·' },
};
export type Value = 0 | 1 | null;
const VALUES = { 1: 'right', 0: 'wrong', null: 'undecided' } as const;
export const verdictName = (value: Value): 'right' | 'wrong' | 'undecided' => VALUES[`${value}`];

interface StripProps {
  readonly values: readonly Value[];
  /** Cells, at least: so that strips of different lengths line up. */
  readonly total?: number;
  /** Default: the values. */
  readonly label?: string;
}

const MOST_CELLS = 24;

/** One cell per turn, or per sample. */
export function Strip({ values, total = 0, label = values.map(verdictName).join(', ') }: StripProps): JSX.Element {
  const shown = values.slice(-MOST_CELLS);
  return (
    <span class="strip" role="img" aria-label={label === '' ? 'no turn yet' : label}>
      {values.length > MOST_CELLS && <i class="cell">…</i>}
      {shown.map((value, i) => (
        <i key={i} class={`cell ${verdictName(value)}`}>
          {SIGN[verdictName(value)]}
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
      {reason !== null && <span class="dim"> {spacedWords(reason)}</span>}
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
  /** The way back from a page that shows nothing. */
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

interface SectionProps {
  readonly title: string;
  readonly wide?: boolean;
  readonly children: ComponentChildren;
}

/** A part of a page. */
export function Section({ title, wide = false, children }: SectionProps): JSX.Element {
  return (
    <section class={wide ? 'wide' : undefined} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
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
    <div class={`figure ${kind}`} title={explainWord(label)}>
      <dt>{label}</dt>
      <dd>
        <b>{value}</b>
        <span>{children}</span>
      </dd>
    </div>
  );
}

type Fact = readonly [name: string, value: ComponentChildren, title?: string];

/** Those that are there: of a condition that does not hold, none. */
export function Facts({ facts }: { readonly facts: readonly (Fact | false | null | undefined)[] }): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact[0]} title={fact[2] ?? explainWord(fact[0])}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** A column of a table, or of a long list. */
export interface Column<T> {
  readonly name: string;
  /** Its meaning, where words.ts does not have it. */
  readonly title?: string;
  /** The fact that a long list is sorted by; absent if it is not. */
  readonly sort?: string;
  readonly kind?: string;
  readonly cell: (row: T) => ComponentChildren;
}

interface TableProps<T> {
  /** The table's name for those who do not see it. */
  readonly label: string;
  readonly caption?: ComponentChildren;
  /** Those that are there: of a condition that does not hold, none. */
  readonly columns: readonly (Column<T> | false)[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string | number;
  readonly kind?: string;
  readonly kindOf?: (row: T) => string | undefined;
}

/** The first cell of a row is its name. */
export function Table<T>({ label, caption, columns, rows, keyOf, kind = '', kindOf }: TableProps<T>): JSX.Element {
  const shown = columns.filter((column) => column !== false);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class={`numbers ${kind}`}>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {shown.map(({ name, title = explainWord(name) }) => (
              <th key={name} scope="col" title={title}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={kindOf?.(row)}>
              {shown.map(({ name, cell }, i) =>
                i === 0 ? (
                  <th key={name} scope="row">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={name}>{cell(row)}</td>
                ),
              )}
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

interface BarsProps {
  readonly rows: readonly {
    readonly text: string;
    readonly n: number;
    readonly href?: string;
    readonly kind?: string;
  }[];
  readonly unit: string;
}

/** The first dozen. */
export function Bars({ rows, unit }: BarsProps): JSX.Element {
  if (rows.length === 0) return <p class="dim">None.</p>;
  const most = Math.max(1, ...rows.map(({ n }) => n));
  return (
    <ul class="bars">
      {rows.slice(0, 12).map(({ text, n, href, kind = '' }) => (
        <li key={text}>
          {h(
            href === undefined ? 'div' : 'a',
            { href, title: `${count(n)} ${unit}` },
            <span class="text">{text}</span>,
            <svg width="100%" height="6" aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 100 6">
              <rect width={(100 * n) / most} height="6" class={`bar ${kind}`} />
            </svg>,
            <span class="n">{count(n)}</span>,
          )}
        </li>
      ))}
    </ul>
  );
}

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
