// An evaluation: a table of its runs for each benchmark, and the settings in force. From a cell it is one click to its wrong answers.

import type { JSX } from 'preact';
import type { BenchmarkMessage, EvaluationMessage } from '../model/messages.ts';
import { plain } from '../model/visible-bytes.ts';
import { moment, plural, spaced } from './format.ts';
import { Facts, Loading, Notice, OmittedParts, Problem, Section } from './parts.tsx';
import { type EvaluationRoute, runHref } from './route.ts';
import { RunTables } from './run-tables.tsx';
import { type Source, useMessage } from './source.ts';

const OPEN_MS = 5_000;

interface Props {
  readonly route: EvaluationRoute;
  readonly source: Source;
}

export function EvaluationPage({ route, source }: Props): JSX.Element {
  const { message, error } = useMessage(
    route.name,
    () => source.evaluation(route.name),
    (found) => (source.kind === 'server' ? again(found) : 0),
  );
  if (!message) return <Loading error={error} back={['#/', 'All runs']} />;
  const { benchmarks, models, settings, differing } = message;
  const isPaired = benchmarks.some(({ runs }) => runs.length > 1);
  return (
    <section>
      <div class="head">
        <h1>{message.name}</h1>
        <p class="dim">
          {plural(benchmarks.length, 'benchmark')}
          {playedText(message)}.{' '}
          {isPaired && 'Differences are with the first model, query by query: a paired t-test, one p for each row. '}
          Tokens and time are those of an answer.
        </p>
      </div>
      <OmittedParts left={source.left} />
      <Problem text={error} />
      <div class="overview">
        {benchmarks.map((one) => (
          <Benchmark key={one.benchmark} message={one} linked={source.kind === 'server'} />
        ))}
        <Section title="Models" wide>
          <Facts facts={models.map(([label, model]) => [plain(label), plain(model)])} />
        </Section>
        <Section title="Settings in force" wide>
          <Facts facts={settings.map(([name, value]) => [spaced(name), plain(value)])} />
          {differing.length > 0 && <Facts facts={differing.map(([cell, own]) => [plain(cell), plain(own)])} />}
        </Section>
      </div>
    </section>
  );
}

function playedText({ played }: EvaluationMessage): string {
  if (!played) return '';
  const [from, until] = played.map(moment);
  return `, begun ${from}${played[1] > 0 && until !== from ? `, last rollout ended ${until}` : ''}`;
}

/** A cell that cannot be read may be there later. */
function again({ benchmarks }: EvaluationMessage): number {
  const goesOn = benchmarks.some(
    ({ runs, unread }) => unread.length > 0 || runs.some(({ head }) => head.state === 'open'),
  );
  return goesOn ? OPEN_MS : 0;
}

function Benchmark({ message, linked }: { readonly message: BenchmarkMessage; readonly linked: boolean }): JSX.Element {
  const { runs, unread, sources } = message;
  const benchmark = plain(message.benchmark);
  return (
    <Section title={benchmark} wide>
      {unread.map(({ label, problem }) => (
        <Notice key={label} kind="problem">
          {plain(`${label}: ${problem}`)}
        </Notice>
      ))}
      <RunTables
        label={benchmark}
        runs={runs}
        title="model"
        linked={linked}
        nameOf={({ head: { run }, label }) => (
          <a class="underlined" href={runHref(run)} title={run}>
            {plain(label)}
          </a>
        )}
      />
      {sources.map(({ labels, facts, system, template }) => (
        <div key={labels.join()}>
          {labels.length > 0 && <p class="dim">{plain(labels.join('; '))}</p>}
          <Facts facts={facts.map(([name, value]) => [plain(name), plain(value)])} />
          <Words title="system text" text={system} />
          <Words title="prompt template" text={template} />
        </div>
      ))}
    </Section>
  );
}

/** Long texts are folded. */
function Words({ title, text }: { readonly title: string; readonly text: string | undefined }): JSX.Element | null {
  if (text === undefined) return null;
  return (
    <details class="context">
      <summary>{title}</summary>
      <pre class="text">{plain(text)}</pre>
    </details>
  );
}
