// Several runs of the same queries in one table: the accuracy of each with its interval, and its difference with the first.

import type { JSX } from 'preact';
import { plural, spaced } from './format.ts';
import { Loading, Problem } from './parts.tsx';
import { runHref, type SeveralRoute } from './route.ts';
import { RunTables } from './run-tables.tsx';
import { type Source, useMessage } from './source.ts';

const OPEN_MS = 5_000;

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
      <RunTables
        label="Runs"
        runs={runs}
        title="run"
        linked
        nameOf={({ head: { run }, settings }) => (
          <>
            <a href={runHref(run)}>{run}</a>
            <div class="dim">{settings.map(([name, value]) => `${spaced(name)} ${value}`).join(', ')}</div>
          </>
        )}
      />
    </section>
  );
}
