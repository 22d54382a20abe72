// One run: its state on top, then an overview, its rollouts, its queries, or what is in flight.

import type { JSX } from 'preact';
import type { RunMessage } from '../model/messages.ts';
import { ago, brief, count, duration, moment, percent, plural } from './format.ts';
import { Overview } from './overview.tsx';
import { Figure, Loading, Notice } from './parts.tsx';
import { RolloutList } from './rollout-list.tsx';
import { type Route, runHref, type RunTab } from './route.ts';
import type { Source } from './source.ts';
import { useMessage } from './use-message.ts';

type RunRoute = Extract<Route, { page: 'run' }>;

export const LIVE_MS = 2_000;
const READING_MS = 700;

export function RunPage({ route, source }: { readonly route: RunRoute; readonly source: Source }): JSX.Element {
  const { message, error } = useMessage(
    `run ${route.run}`,
    () => source.run(route.run),
    (run) => againAfter(run, source),
  );
  if (!message) return <Loading error={error} />;
  const { head, progress } = message;
  return (
    <section class="run">
      <RunHead message={message} />
      {error !== undefined && <Notice kind="problem">{error}</Notice>}
      {head.problem !== undefined && <Notice kind="problem">{head.problem}</Notice>}
      {progress.problem !== undefined && <Notice kind="problem">{progress.problem}</Notice>}
      <Tabs route={route} message={message} />
      {route.tab === 'overview' && <Overview message={message} />}
      {route.tab === 'rollouts' && <RolloutList route={route} source={source} run={message} />}
    </section>
  );
}

function againAfter({ head, progress }: RunMessage, source: Source): number {
  if (source.kind === 'report') return 0;
  if (!progress.listed || progress.glanced < progress.begun) return READING_MS;
  return head.state === 'open' ? LIVE_MS : 0;
}

function RunHead({ message }: { readonly message: RunMessage }): JSX.Element {
  const { head, summary, newsAt, now, progress } = message;
  const { turns, tokens, ms } = summary;
  const judged = turns.filter((turn) => turn.judged > 0);
  const [first, last] = [judged[0], judged.at(-1)];
  const reading = !progress.listed || progress.glanced < progress.begun;
  return (
    <header class="run-head">
      <div class="head">
        <h1>{head.run}</h1>
        <p class="dim">
          {head.model}
          {head.dataset !== null && ` · ${head.dataset}`} · begun {moment(head.createdAt)}
          {message.head.state === 'open' && newsAt !== null && ` · last record ${ago(newsAt, now)}`}
        </p>
      </div>
      <dl class="figures">
        <Figure
          label={head.state === 'open' ? 'ended so far' : head.state}
          value={count(summary.ended)}
          note={`of ${plural(summary.total, 'rollout')}`}
        />
        {first && last && (
          <>
            <Figure
              label={head.state === 'open' ? `right at turn ${last.turn}, so far` : `right at turn ${last.turn}`}
              value={percent(last.right, last.judged)}
              note={
                first === last
                  ? `${count(last.right)} of ${count(last.judged)}`
                  : `${percent(first.right, first.judged)} at turn 1`
              }
            />
            <Figure
              label="right at any turn"
              value={percent(last.rightBy, summary.total)}
              note={`${count(last.rightBy)} of ${count(summary.total)}`}
            />
          </>
        )}
        <Figure
          label="sampled"
          value={tokens === 0 ? '–' : brief(tokens)}
          note={
            reading
              ? `of ${count(progress.glanced)} of ${plural(progress.begun, 'rollout')}`
              : ms === 0
                ? 'tokens'
                : `tokens in ${duration(ms)} of generation`
          }
        />
      </dl>
    </header>
  );
}

const TABS: readonly (readonly [RunTab, string])[] = [
  ['overview', 'Overview'],
  ['rollouts', 'Rollouts'],
];

function Tabs({ route, message }: { readonly route: RunRoute; readonly message: RunMessage }): JSX.Element {
  const { summary } = message;
  return (
    <nav class="tabs" aria-label="Parts of the run">
      {TABS.map(([tab, text]) => (
        <a key={tab} href={runHref(route.run, tab)} aria-current={tab === route.tab ? 'page' : undefined}>
          {text}
          {tab === 'rollouts' && <span class="n">{count(summary.begun)}</span>}
        </a>
      ))}
    </nav>
  );
}
