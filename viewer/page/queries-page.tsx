// The queries of a run by difficulty: how many samples of each were right at any turn. For choosing what to train on:
// queries that are always or never right teach nothing.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RunMessage } from '../model/messages.ts';
import { type Kind, KINDS } from '../model/queries.ts';
import { count, share, shares } from './format.ts';
import { Bars, Facts, Loading, Section, Strip } from './parts.tsx';
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
        <Section title="Queries by their share of right samples">
          <Shares bins={histogram} />
        </Section>
        <Section title="pass@k: right in any of k samples">
          <Facts
            facts={message.summary.passAtK.map(({ name, value, interval, definition }) => [
              name,
              <>
                <b>{share(value)}</b> {interval && <span class="dim">95 %: {shares(interval)}</span>}
              </>,
              definition,
            ])}
          />
        </Section>
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
        columns={[
          {
            ...{ name: 'query, the hardest first', kind: 'name' },
            cell: ({ query, title }) => (
              <>
                <a class="whole" href={rolloutHref(run, { query, sample: 0, attempt: 1 })}>
                  {query}
                </a>{' '}
                <span class="dim">{title}</span>
              </>
            ),
          },
          {
            name: 'samples',
            cell: ({ samples, right, known }) => <Strip values={samples} label={`${right} of ${known} right`} />,
          },
          { name: 'right', kind: 'num', cell: ({ right, known }) => `${right} of ${known}` },
        ]}
        none="No query is like that."
      />
    </>
  );
}

const nameOf = (bin: number, last: number): string =>
  bin === 0 ? 'none right' : bin === last ? 'all right' : `${(bin - 1) * 10}–${bin * 10} % right`;

function Shares({ bins }: { readonly bins: readonly number[] }): JSX.Element {
  const last = bins.length - 1;
  const rows = bins.map((n, i) => ({
    ...{ text: nameOf(i, last), n },
    kind: i === 0 ? 'wrong' : i === last ? 'right' : '',
  }));
  return <Bars rows={rows.filter(({ n }) => n > 0)} unit="queries" />;
}
