// One query in two runs, side by side: turn k of A beside turn k of B, so that they scroll together. Of each sample the last
// attempt. `j` and `k` go through the queries of the comparison, `s` through the samples, Esc back to it.

import type { JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { CompareMessage, RolloutMessage } from '../model/messages.ts';
import { Asked } from './asked.tsx';
import { decimals } from './format.ts';
import { onKey } from './keys.ts';
import { Loading, State } from './parts.tsx';
import { WithReading } from './rich-text.tsx';
import { type CompareRoute, hrefOf, rolloutHref, rolloutRoute } from './route.ts';
import { type Source, useMessage } from './source.ts';
import { ProgramAnswer, Turn } from './turn.tsx';
import { Walk } from './walk.tsx';

interface Props {
  readonly route: CompareRoute & { readonly beside: NonNullable<CompareRoute['beside']> };
  readonly source: Source;
  /** The queries to go through. */
  readonly pairs: CompareMessage['pairs'];
}

export function Beside({ route, source, pairs }: Props): JSX.Element {
  const { a, b, beside } = route;
  const { query, sample } = beside;
  const asked = (run: string) =>
    useMessage(JSON.stringify(['beside', run, query, sample]), () => lastAttempt(source, run, query, sample));
  const sides = [
    { side: 'A', run: a, ...asked(a) },
    { side: 'B', run: b, ...asked(b) },
  ];
  const [expanded, setExpanded] = useState(false);
  const at = pairs.findIndex((pair) => pair.query === query);
  const near = (by: number) => (at < 0 ? undefined : pairs[at + by]?.query);
  const back = hrefOf({ ...route, beside: null });
  const to = (next: string, n = 0) => hrefOf({ ...route, beside: { query: next, sample: n } });
  const link = (next: string | undefined) => (next === undefined ? null : { href: to(next), title: next });
  const samples = Math.max(...sides.map(({ message }) => samplesOf(message)));
  useLayoutEffect(() => {
    return onKey({ x: () => setExpanded((all) => !all), Escape: () => void (location.hash = back) });
  });
  const found = sides.find(({ message }) => message)?.message;
  if (!found) return <Loading error={sides.find(({ error }) => error !== undefined)?.error} />;
  const turns = Math.max(...sides.map(({ message }) => message?.turns.length ?? 0));
  return (
    <WithReading>
      {(button) => (
        <article class="rollout beside">
          <Walk
            label="Other queries"
            back={
              <a href={back}>
                {a} and {b}
              </a>
            }
            samples={Array.from({ length: samples }, (_, n) => ({
              ...{ name: `sample ${n}`, number: n, href: to(query, n), here: n === sample },
            }))}
            previous={link(near(-1))}
            next={link(near(1))}
          >
            {button}
          </Walk>
          <header class="question">
            <h1>{query}</h1>
            <Asked query={found.query} />
          </header>
          <div class="sides">
            {sides.map((side) => (
              <SideHead key={side.side} {...side} />
            ))}
            {Array.from({ length: turns }, (_, i) =>
              sides.map((side) => <SideTurn key={`${side.side}${i}`} {...side} place={i} expanded={expanded} />),
            )}
            {sides.map(({ side, run, message }) => (
              <div key={side}>
                {message && <ProgramAnswer route={rolloutRoute(run, message.row)} message={message} />}
              </div>
            ))}
          </div>
        </article>
      )}
    </WithReading>
  );
}

interface SideProps {
  readonly side: string;
  readonly run: string;
  readonly message: RolloutMessage | undefined;
}

function SideHead({ side, run, message, error }: SideProps & { readonly error: string | undefined }): JSX.Element {
  return (
    <div class="turn-head">
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
  );
}

interface SideTurnProps extends SideProps {
  /** The place of the turn, from 0. */
  readonly place: number;
  readonly expanded: boolean;
}

function SideTurn({ side, run, message, place, expanded }: SideTurnProps): JSX.Element {
  const turn = message?.turns[place];
  if (!turn || !message) return <p class="turn dim">No turn {place + 1}.</p>;
  return <Turn side={side} route={rolloutRoute(run, message.row)} message={message} turn={turn} expanded={expanded} />;
}

const samplesOf = (message: RolloutMessage | undefined): number =>
  Math.max(1, ...(message?.samples ?? []).map(({ sample }) => sample + 1));

async function lastAttempt(source: Source, run: string, query: string, sample: number): Promise<RolloutMessage> {
  const list = { filter: '', sort: '' };
  const first = await source.rollout(run, { query, sample, attempt: 1 }, list);
  const attempt = Math.max(1, ...first.samples.filter((row) => row.sample === sample).map((row) => row.attempt));
  return attempt === 1 ? first : source.rollout(run, { query, sample, attempt }, list);
}
