// One query in two runs, side by side: turn k of A beside turn k of B, so that they scroll together. Of each sample the last
// attempt. `j` and `k` go through the queries of the comparison, `s` through the samples, Esc back to it.

import type { JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { CompareMessage, RolloutMessage } from '../model/messages.ts';
import { Asked } from './asked.tsx';
import { decimals } from './format.ts';
import { onKey } from './keys.ts';
import { Loading, State } from './parts.tsx';
import { hrefOf, type Route, rolloutHref } from './route.ts';
import type { Source } from './source.ts';
import { Turn } from './turn.tsx';
import { useMessage } from './use-message.ts';

type CompareRoute = Extract<Route, { page: 'compare' }>;

interface Props {
  readonly route: CompareRoute & { readonly beside: NonNullable<CompareRoute['beside']> };
  readonly source: Source;
  readonly message: CompareMessage;
}

export function Beside({ route, source, message: { pairs } }: Props): JSX.Element {
  const { a, b, beside } = route;
  const { query, sample } = beside;
  const key = (run: string) => JSON.stringify(['beside', run, query, sample]);
  const ofA = useMessage(key(a), () => lastAttempt(source, a, query, sample));
  const ofB = useMessage(key(b), () => lastAttempt(source, b, query, sample));
  const [expanded, setExpanded] = useState(false);
  const at = pairs.findIndex((pair) => pair.query === query);
  const near = (by: number) => (at < 0 ? undefined : pairs[at + by]?.query);
  const to = (next: string, n = 0) => hrefOf({ ...route, beside: { query: next, sample: n } });
  const samples = Math.max(...[ofA, ofB].map(({ message }) => samplesOf(message)));
  useLayoutEffect(() => {
    const open = (next: string | undefined) => next !== undefined && void (location.hash = to(next));
    return onKey({
      j: () => open(near(1)),
      k: () => open(near(-1)),
      s: () => void (location.hash = to(query, (sample + 1) % samples)),
      x: () => setExpanded((all) => !all),
      Escape: () => void (location.hash = hrefOf({ ...route, beside: null })),
    });
  });
  const found = ofA.message ?? ofB.message;
  if (!found) return <Loading error={ofA.error ?? ofB.error} />;
  const sides = [
    { side: 'A', run: a, ...ofA },
    { side: 'B', run: b, ...ofB },
  ];
  const turns = Math.max(...sides.map(({ message }) => message?.turns.length ?? 0));
  return (
    <article class="rollout beside">
      <nav class="walk" aria-label="Other queries">
        <a href={hrefOf({ ...route, beside: null })}>
          {a} and {b}
        </a>
        <span class="spring" />
        {samples > 1 && (
          <span class="samples">
            {Array.from({ length: samples }, (_, n) => (
              <a
                key={n}
                class="dot"
                href={to(query, n)}
                aria-label={`sample ${n}`}
                aria-current={n === sample ? 'page' : undefined}
              >
                {n}
              </a>
            ))}
          </span>
        )}
        <Near to={near(-1)} text="← previous" href={to} />
        <Near to={near(1)} text="next →" href={to} />
      </nav>
      <header class="question">
        <h1>{query}</h1>
        <Asked query={found.query} />
      </header>
      <div class="sides">
        {sides.map(({ side, run, message, error }) => (
          <div class="side-head" key={side}>
            <h2>
              <span class="dim">{side}</span>{' '}
              {message ? <a href={rolloutHref(run, message.row)}>{run}</a> : <span>{run}</span>}
            </h2>
            {message ? (
              <p class="dim">
                <State state={message.row.state} reason={message.row.reason} />
                {message.row.reward !== null && ` · return ${decimals(message.row.reward)}`}
              </p>
            ) : (
              <Loading error={error} />
            )}
          </div>
        ))}
        {Array.from({ length: turns }, (_, i) =>
          sides.map(({ side, run, message }) => {
            const turn = message?.turns[i];
            return turn && message ? (
              <Turn
                key={`${side}${i}`}
                side={side}
                route={routeOf(run, message)}
                message={message}
                turn={turn}
                expanded={expanded}
              />
            ) : (
              <p key={`${side}${i}`} class="dim no-turn">
                No turn {i + 1}.
              </p>
            );
          }),
        )}
      </div>
    </article>
  );
}

interface NearProps {
  readonly to: string | undefined;
  readonly text: string;
  readonly href: (query: string) => string;
}

function Near({ to, text, href }: NearProps): JSX.Element {
  return to === undefined ? (
    <span class="dim" aria-hidden="true">
      {text}
    </span>
  ) : (
    <a href={href(to)} title={to}>
      {text}
    </a>
  );
}

const samplesOf = (message: RolloutMessage | undefined): number =>
  Math.max(1, ...(message?.samples ?? []).map(({ sample }) => sample + 1));

function routeOf(run: string, { row: { query, sample, attempt } }: RolloutMessage) {
  const place = { query, sample, attempt };
  return { page: 'rollout', run, place, turn: null, tokens: false, token: null, filter: '', sort: '' } as const;
}

async function lastAttempt(source: Source, run: string, query: string, sample: number): Promise<RolloutMessage> {
  const list = { filter: '', sort: '' };
  const first = await source.rollout(run, { query, sample, attempt: 1 }, list);
  const attempt = Math.max(1, ...first.samples.filter((row) => row.sample === sample).map((row) => row.attempt));
  return attempt === 1 ? first : source.rollout(run, { query, sample, attempt }, list);
}
