// The queries of a run by difficulty: how many samples of each were right at any turn. For choosing what to train on:
// queries that are always or never right teach nothing.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RunMessage } from '../model/messages.ts';
import { type Kind, KINDS } from '../model/queries.ts';
import { count, share, shares } from './format.ts';
import { Facts, Loading, Strip } from './parts.tsx';
import { rolloutHref } from './route.ts';
import type { Source } from './source.ts';
import { useMessage } from './use-message.ts';
import { usePages } from './use-pages.ts';
import { VirtualList } from './virtual-list.tsx';

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
  return (
    <>
      <div class="overview">
        <section aria-labelledby="difficulty">
          <h2 id="difficulty">Queries by their share of right samples</h2>
          <Histogram bins={histogram} />
        </section>
        <section aria-labelledby="pass">
          <h2 id="pass">pass@k: right in any of k samples</h2>
          <Facts
            facts={message.summary.passAtK.map(({ name, value, interval, definition }) => [
              name,
              <>
                <b>{share(value)}</b> {interval && <span class="dim">95 %: {shares(interval)}</span>}
              </>,
              definition,
            ])}
          />
        </section>
      </div>
      <p class="chips line tight">
        {KINDS.map((one) => (
          <button key={one} type="button" aria-pressed={kind === one} onClick={() => setKind(one)}>
            {NAMES[one]} <span class="n">{count(counts[one])}</span>
          </button>
        ))}
      </p>
      <VirtualList
        label="Queries, the hardest first"
        kind="queries"
        pages={pages}
        head={['query, the hardest first', 'samples', 'right'].map((name) => (
          <span key={name} role="columnheader" class={name === 'right' ? 'num' : undefined}>
            {name}
          </span>
        ))}
        cells={({ query, title, samples, right, known }) => (
          <>
            <span role="cell" class="name">
              <a class="whole" href={rolloutHref(run, { query, sample: 0, attempt: 1 })}>
                {query}
              </a>{' '}
              <span class="dim">{title}</span>
            </span>
            <span role="cell">
              <Strip values={samples} label={`${right} of ${known} right`} />
            </span>
            <span role="cell" class="num">
              {right} of {known}
            </span>
          </>
        )}
        none="No query is like that."
      />
    </>
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
            class={i === 0 ? 'wrong' : i === bins.length - 1 ? 'right' : 'bar'}
          >
            <title>{`${name(i)}: ${count(n)} queries`}</title>
          </rect>
        ))}
      </svg>
      <p class="line apart dim">
        <span>none right</span>
        <span>half</span>
        <span>all right</span>
      </p>
    </>
  );
}
