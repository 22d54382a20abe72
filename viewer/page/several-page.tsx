// Several runs of the same queries in one table: the accuracy of each with its interval, and its difference with the first.

import type { JSX } from 'preact';
import { count, decimals, duration, orNone, plural, points, pValue, share, spaced } from './format.ts';
import { Loading, Problem, Table } from './parts.tsx';
import { compareHref, runHref, type SeveralRoute } from './route.ts';
import { type Source, useMessage } from './source.ts';

const OPEN_MS = 5_000;

const percentage = (value: number): string => (100 * value).toFixed(1);
const signedPoints = (value: number): string => points(value).replace(' points', '');
const between = (interval: readonly [number, number] | null, text: (value: number) => string): string =>
  interval ? interval.map(text).join(' to ') : '–';

export function SeveralPage({ route, source }: { readonly route: SeveralRoute; readonly source: Source }): JSX.Element {
  const { message, error } = useMessage(
    JSON.stringify(route.runs),
    () => source.several(route.runs),
    (found) => (found.runs.some(({ head }) => head.state === 'open') ? OPEN_MS : 0),
  );
  if (!message) return <Loading error={error} back={['#/', 'All runs']} />;
  const { runs } = message;
  const first = runs[0]!.head.run;
  return (
    <section>
      <div class="head">
        <h1>{plural(runs.length, 'run')} of the same queries</h1>
        <p class="dim">
          Differences are with <a href={runHref(first)}>{first}</a>, query by query: a paired t-test, one p for each
          row. Tokens and time are those of an answer.
        </p>
      </div>
      <Problem text={error} />
      {runs[0]!.atTurns.map(({ accuracy: { name } }, t) => (
        <Table
          key={name}
          label={`Runs: ${name}`}
          rows={runs.map((run) => ({ ...run, ...run.atTurns[t]!, difference: run.atTurns[t]!.against?.difference }))}
          keyOf={({ head }) => head.run}
          columns={[
            {
              name: 'run',
              cell: ({ head: { run, state }, settings }) => (
                <>
                  <a href={runHref(run)}>{run}</a> {state !== 'ended' && <span class={`tag ${state}`}>{state}</span>}
                  <div class="dim">{settings.map(([name, value]) => `${spaced(name)} ${value}`).join(', ')}</div>
                </>
              ),
            },
            {
              ...{ name: name.replace('pass@1', 'right'), title: 'of queries, each its share of right samples' },
              cell: ({ accuracy }) => <b>{share(accuracy.value)}</b>,
            },
            { name: '95 %', cell: ({ accuracy }) => between(accuracy.interval, percentage) },
            {
              name: 'difference',
              cell: ({ head, difference }) =>
                difference && <a href={compareHref(first, head.run)}>{points(difference.value)}</a>,
            },
            { name: '95 % of it', cell: ({ difference }) => difference && between(difference.interval, signedPoints) },
            { name: 'p', cell: ({ difference }) => difference && pValue(difference.p) },
            { name: 'queries', cell: ({ difference, accuracy }) => count(difference?.n ?? accuracy.n) },
            { name: 'tokens', cell: ({ tokens }) => orNone(tokens, decimals) },
            { name: 'time', cell: ({ ms }) => orNone(ms, duration) },
          ]}
        />
      ))}
    </section>
  );
}
