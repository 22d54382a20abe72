// One run: its state on top, then an overview, its rollouts, what is in flight, or a search.

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RunMessage } from '../model/messages.ts';
import { plain } from '../model/visible-bytes.ts';
import { count, plural, troubleText, ago, brief, decimals, duration, moment, roughly, share } from './format.ts';
import { onKey } from './keys.ts';
import { LivePage } from './live-page.tsx';
import { Overview } from './overview.tsx';
import { Loading, Notice, Problem, OmittedParts, Figure } from './parts.tsx';
import { RolloutList } from './rollout-list.tsx';
import { comparedHref, listHref, rolloutHref, runHref, type RunRoute, type RunTab } from './route.ts';
import { SearchPage } from './search-page.tsx';
import { type Source, useMessage } from './source.ts';
import type { Estimate } from '../../domain/statistics/estimate.ts';

const LIVE_MS = 2_000;
const READING_MS = 700;

export function RunPage({ route, source }: { readonly route: RunRoute; readonly source: Source }): JSX.Element {
  const { run, tab } = route;
  const [paused, setPaused] = useState(false);
  const { message: latest, error } = useMessage(
    `run ${run}${paused ? ' paused' : ''}`,
    () => source.run(run),
    (found) => (paused ? 0 : againAfter(found, source)),
  );
  // An answer that was on its way when the page was held changes nothing on it.
  const held = useRef(latest);
  if (!paused) held.current = latest;
  const message = held.current;
  const [whole, setWhole] = useState(false);
  // The list measures itself.
  useEffect(() => void dispatchEvent(new Event('resize')), [whole]);
  useLayoutEffect(() => {
    const toggle = () => {
      setWhole((was) => tab !== 'rollouts' || !was);
      if (tab !== 'rollouts') location.hash = listHref(run);
    };
    return onKey({
      c: () => void (location.hash = comparedHref(source.compared, run)),
      z: toggle,
      ...(tab === 'live' && { ' ': () => setPaused((was) => !was) }),
    });
  }, [run, tab]);
  if (!message) return <Loading error={error} back={['#/', 'All runs']} />;
  const { head, progress } = message;
  return (
    <section class={whole && tab === 'rollouts' ? 'run whole' : 'run'}>
      <RunHead message={message} />
      <OmittedParts left={source.left} />
      <Problem text={error} />
      <Problem text={head.problem} />
      <Problem text={progress.problem ?? progress.damaged} />
      {progress.reading && <Notice>{plural(message.summary.begun, 'rollout')} read so far; more follow.</Notice>}
      {message.summary.steered > 0 && (
        <Notice>
          {plural(message.summary.steered, 'rollout')} with a person’s message in the context, in no number here:{' '}
          <a href={listHref(route.run, 'has:message')}>the list</a> has {message.summary.steered === 1 ? 'it' : 'them'}.
        </Notice>
      )}
      <Troubles message={message} />
      {message.fork !== null && <Notice>{message.fork}</Notice>}
      <Tabs route={route} message={message} search={source.kind === 'server'} />
      {route.tab === 'overview' && <Overview message={message} linked={source.kind === 'server'} />}
      {route.tab === 'live' && (
        <LivePage run={route.run} source={source} message={message} paused={paused} onPause={setPaused} />
      )}
      {route.tab === 'search' && <SearchPage route={route} source={source} />}
      {route.tab === 'rollouts' && <RolloutList route={route} source={source} run={message} />}
    </section>
  );
}

function againAfter({ head, evaluations = [], progress }: RunMessage, source: Source): number {
  if (progress.reading) return READING_MS;
  const goesOn = [head, ...evaluations].some(({ state }) => state === 'open');
  return source.kind === 'server' && goesOn ? LIVE_MS : 0;
}

/** A run that failed is seen to have failed, and why. */
function Troubles({ message: { head, failure } }: { readonly message: RunMessage }): JSX.Element | null {
  const { numbers, state, run } = head;
  if (!numbers || numbers.troubles.length === 0) return null;
  return (
    <Notice kind={state === 'failed' ? 'problem' : 'note'}>
      {numbers.troubles.map((trouble) => (
        <span key={`${trouble.state} ${trouble.reason}`}>
          <a href={listHref(run, `outcome:${trouble.state}`)}>{capital(troubleText(trouble, numbers.ended))}</a>.{' '}
        </span>
      ))}
      {failure && (
        <>
          The first, <a href={rolloutHref(run, failure.place)}>{failure.place.query}</a>:{' '}
          <span class="text">{firstLine(failure.message)}</span>
        </>
      )}
    </Notice>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const MOST_SAID = 400;
const firstLine = (text: string): string => plain(text.trim().split('\n', 1)[0]!.slice(0, MOST_SAID));

const TABS: readonly (readonly [RunTab, string])[] = [
  ['overview', 'Overview'],
  ['rollouts', 'Rollouts'],
  ['live', 'In flight'],
  ['search', 'Search'],
];

interface TabsProps {
  readonly route: RunRoute;
  readonly message: RunMessage;
  readonly search: boolean;
}

function Tabs({ route, message, search }: TabsProps): JSX.Element {
  const { summary } = message;
  const open = summary.begun - summary.ended;
  const there = { overview: true, rollouts: true, live: open > 0, search };
  const shown = TABS.filter(([tab]) => tab === route.tab || there[tab]);
  return (
    <nav class="tabs" aria-label="Parts of the run">
      {shown.map(([tab, text]) => (
        <a key={tab} href={runHref(route.run, tab)} aria-current={tab === route.tab ? 'page' : undefined}>
          {text} {tab === 'rollouts' && <span class="n">{count(summary.begun)}</span>}
          {tab === 'live' && <span class="n">{count(open)}</span>}
        </a>
      ))}
    </nav>
  );
}

function RunHead({ message }: { readonly message: RunMessage }): JSX.Element {
  const { head, summary, newsAt, now, etaMs } = message;
  const { tokens, ms, headline } = summary;
  const { first, last, any, meanReturn } = headline;
  const judged = any.n > 0;
  const open = head.state === 'open';
  const soFar = open ? ', so far' : '';
  return (
    <header class="run-head">
      <div class="head">
        <h1>{head.run}</h1>
        <p class="dim">
          {head.model}
          {head.dataset !== null && ` · ${head.dataset}`} · begun {moment(head.createdAt)}
          {open && newsAt !== null && ` · last record ${ago(newsAt, now)}`}
        </p>
      </div>
      <dl class="figures">
        <Figure label={open ? 'ended so far' : head.state} value={count(summary.ended)}>
          of {plural(summary.total, 'rollout')}
          {etaMs !== null && `, about ${roughly(etaMs)} to go`}
        </Figure>
        {judged && head.numTurns === 1 && (
          <Figure label={`right${soFar}`} value={share(any.value)}>
            {ofKnown(any)}
          </Figure>
        )}
        {judged && head.numTurns > 1 && (
          <>
            <Figure label={`right at the last turn${soFar}`} value={share(last.value)}>
              {share(first.value)} at turn 1
            </Figure>
            <Figure label={`right at any turn${soFar}`} value={share(any.value)}>
              {ofKnown(any)}
            </Figure>
          </>
        )}
        {!judged && meanReturn.value !== null && (
          <Figure label={`mean return${soFar}`} value={decimals(meanReturn.value)}>
            of {plural(meanReturn.n, 'complete rollout')}
          </Figure>
        )}
        <Figure label="sampled" value={tokens ? brief(tokens) : '–'}>
          {ms === 0 ? 'tokens' : `tokens in ${duration(ms)} of generation`}
        </Figure>
      </dl>
    </header>
  );
}

/** The interval, and the queries; those that have no known rollout are left out. */
const ofKnown = ({ n, leftOut, interval }: Estimate): string =>
  `of ${plural(n, 'query', 'queries')}${leftOut > 0 ? `, ${count(leftOut)} unknown` : ''}${interval ? `; 95 %: ${interval.map((bound) => (100 * bound).toFixed(1)).join(' to ')}` : ''}`;
