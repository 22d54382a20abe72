// The queries of a run by difficulty: how many samples of each were right at any turn. For choosing what to train on:
// queries that are always or never right teach nothing.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RunMessage } from '../model/messages.ts';
import { type Kind, KINDS, type QueryRow } from '../model/queries.ts';
import { count, percent } from './format.ts';
import { Loading } from './parts.tsx';
import { rolloutHref } from './route.ts';
import type { Source } from './source.ts';
import { useMessage } from './use-message.ts';
import { usePages } from './use-pages.ts';
import { ROW_PX, VirtualList } from './virtual-list.tsx';

interface Props {
  readonly run: string;
  readonly source: Source;
  readonly message: RunMessage;
}

const NAMES: Readonly<Record<Kind, string>> = {
  all: 'all',
  always: 'always right',
  sometimes: 'sometimes right',
  never: 'never right',
};

export function QueriesPage({ run, source, message }: Props): JSX.Element {
  const [kind, setKind] = useState<Kind>('all');
  const { revision } = message.progress;
  const head = useMessage(JSON.stringify(['queries', run, revision]), () => source.queries(run, 'all', 0, 1));
  const pages = usePages(JSON.stringify([run, kind]), (from, n) => source.queries(run, kind, from, n), revision);
  if (!head.message) return <Loading error={head.error} />;
  const { counts, histogram } = head.message;
  const { passAtK } = message.numbers;
  return (
    <div class="queries">
      <div class="overview">
        <section aria-labelledby="difficulty">
          <h2 id="difficulty">Queries by their share of right samples</h2>
          <Histogram bins={histogram} />
        </section>
        <section aria-labelledby="pass">
          <h2 id="pass">pass@k: right in any of k samples</h2>
          <dl class="facts">
            {passAtK.map(({ name, value, interval, definition }) => (
              <div key={name} title={definition}>
                <dt>{name}</dt>
                <dd>
                  <b>{value === null ? '–' : percent(value, 1)}</b>{' '}
                  {interval && (
                    <span class="dim">
                      95 %: {percent(interval[0], 1)} to {percent(interval[1], 1)}
                    </span>
                  )}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
      <p class="chips">
        {KINDS.map((one) => (
          <button key={one} type="button" aria-pressed={kind === one} onClick={() => setKind(one)}>
            {NAMES[one]} <span class="n">{count(counts[one])}</span>
          </button>
        ))}
      </p>
      <div class="table" role="table" aria-label="Queries, the hardest first" aria-rowcount={pages.count}>
        <VirtualList
          count={Math.max(0, pages.count)}
          chosen={-1}
          onRange={pages.want}
          head={
            <div class="tr th q" role="row">
              <span role="columnheader">query, the hardest first</span>
              <span role="columnheader">samples</span>
              <span role="columnheader" class="c-num">
                right
              </span>
            </div>
          }
          row={(i) => <Line key={i} i={i} run={run} row={pages.row(i)} />}
        />
      </div>
    </div>
  );
}

function Line({
  i,
  run,
  row,
}: {
  readonly i: number;
  readonly run: string;
  readonly row: QueryRow | undefined;
}): JSX.Element {
  const place = { top: `${i * ROW_PX}px`, height: `${ROW_PX}px` };
  if (!row) return <div class="tr row q" role="row" style={place} />;
  return (
    <div class="tr row q" role="row" aria-rowindex={i + 1} style={place}>
      <span role="cell" class="c-query">
        <a class="whole" href={rolloutHref(run, { query: row.query, sample: 0, attempt: 1 })}>
          {row.query}
        </a>
        <span class="dim title">{row.title}</span>
      </span>
      <span role="cell">
        <Samples row={row} />
      </span>
      <span role="cell" class="c-num">
        {row.right} of {row.known}
      </span>
    </div>
  );
}

const MOST = 32;

function Samples({ row }: { readonly row: QueryRow }): JSX.Element {
  const names = { 1: 'right', 0: 'wrong', null: 'undecided' } as const;
  return (
    <span class="strip" role="img" aria-label={`${row.right} of ${row.known} right`}>
      {row.samples.slice(0, MOST).map((s, i) => (
        <i key={i} class={`cell ${names[`${s}`]}`}>
          {s === 1 ? '✓' : s === 0 ? '✗' : '·'}
        </i>
      ))}
    </span>
  );
}

const HEIGHT = 90;

function Histogram({ bins }: { readonly bins: readonly number[] }): JSX.Element {
  const most = Math.max(1, ...bins);
  const name = (i: number) => (i === 0 ? '0' : i === bins.length - 1 ? 'all' : `${(i - 1) * 10}–${i * 10} %`);
  const width = 100 / bins.length;
  return (
    <>
      <svg
        class="histogram"
        viewBox={`0 0 100 ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={bins.map((n, i) => `${name(i)}: ${n}`).join(', ')}
      >
        {bins.map((n, i) => (
          <rect
            key={i}
            x={i * width + 0.4}
            width={width - 0.8}
            y={HEIGHT - (n / most) * HEIGHT}
            height={(n / most) * HEIGHT}
            class={i === 0 ? 'fill-wrong' : i === bins.length - 1 ? 'fill-right' : 'fill-bar'}
          >
            <title>{`${name(i)}: ${count(n)} queries`}</title>
          </rect>
        ))}
      </svg>
      <p class="axis dim">
        <span>none right</span>
        <span>half</span>
        <span>all right</span>
      </p>
    </>
  );
}
