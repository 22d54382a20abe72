// All runs of the folder, the newest first. Two that are chosen can be compared.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { RunHead } from '../model/messages.ts';
import { brief, count, moment, percent } from './format.ts';
import { onKey } from './keys.ts';
import { Legend, Loading, Notice, Problem } from './parts.tsx';
import { compareHref, type Route, runHref } from './route.ts';
import type { Source } from './source.ts';
import { useMessage } from './use-message.ts';

const AGAIN_MS = 5_000;

type RunsRoute = Extract<Route, { page: 'runs' }>;

export function RunsPage({ route, source }: { readonly route: RunsRoute; readonly source: Source }): JSX.Element {
  const { message, error } = useMessage(
    'runs',
    () => source.runs(),
    () => (source.kind === 'server' ? AGAIN_MS : 0),
  );
  const { compare } = route;
  const [chosen, setChosen] = useState<readonly string[]>([]);
  useEffect(() => {
    if (compare) setChosen([compare.run]);
  }, [compare?.run]);
  useEffect(() => onKey({ j: () => step(1), k: () => step(-1) }), []);
  if (!message) return <Loading error={error} />;
  const toggle = (run: string) =>
    setChosen((all) => (all.includes(run) ? all.filter((one) => one !== run) : [...all.slice(-1), run]));
  // The older one is the first.
  const [a, b] = message.runs
    .filter(({ run }) => chosen.includes(run))
    .sort((one, other) => one.createdAt - other.createdAt)
    .map(({ run }) => run);
  return (
    <section class="runs">
      <div class="head">
        <h1>Runs</h1>
        <p class="dim path">{message.folder}</p>
        {source.kind === 'server' && message.runs.length > 1 && (
          <p class="act">
            {a !== undefined && b !== undefined ? (
              <a class="button" href={compareHref(a, b, compare)}>
                Compare {a} with {b}
                {compare && compare.query !== null && ` at ${compare.query}`}
              </a>
            ) : (
              <span class="dim">
                {a === undefined ? 'Choose two runs to compare them.' : `Choose the run to compare ${a} with.`}
              </span>
            )}
          </p>
        )}
        {source.compared && (
          <p class="act">
            <a class="button" href={compareHref(...source.compared)}>
              Compare {source.compared[0]} with {source.compared[1]}
            </a>
          </p>
        )}
      </div>
      <Problem text={error} />
      {message.runs.length === 0 ? (
        <Notice>
          No run is in this folder yet. <code>everturn demo</code> plays one; this page will show it.
        </Notice>
      ) : (
        <>
          {message.runs.some(({ first }) => first) && <Legend colours={RISE} />}
          <ul class="cards">
            {message.runs.map((head) => (
              <Card
                key={head.run}
                head={head}
                chosen={chosen.includes(head.run)}
                onChoose={message.runs.length > 1 && source.kind === 'server' ? () => toggle(head.run) : undefined}
              />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

const RISE = [
  ['right', 'right at turn 1'],
  ['more', 'more, or fewer, at the last turn'],
] as const;

interface CardProps {
  readonly head: RunHead;
  readonly chosen: boolean;
  readonly onChoose: (() => void) | undefined;
}

function Card({ head, chosen, onChoose }: CardProps): JSX.Element {
  const { run, problem, state, first, last, numTurns, total, ended } = head;
  return (
    <li class={head.parent === undefined ? 'card' : 'card fork'}>
      <span class="choose">
        {onChoose && (
          <input type="checkbox" checked={chosen} onChange={onChoose} aria-label={`Choose ${run} for a comparison`} />
        )}
      </span>
      <div class="name">
        <a class="whole" href={runHref(run)}>
          {run}
        </a>
        <span class="dim">
          {head.parent !== undefined && `fork of ${head.parent} · `}
          {problem ?? `${head.model}${head.dataset === null ? '' : ` · ${head.dataset}`} · ${moment(head.createdAt)}`}
        </span>
      </div>
      <div class="done">
        {problem === undefined ? (
          <span class={`pill ${state}`}>{state}</span>
        ) : (
          <span class="pill cancelled">broken</span>
        )}
        <span class="dim">
          {total === null ? '' : ended === null ? `of ${count(total)}` : `${count(ended)} of ${count(total)}`}
        </span>
      </div>
      <div class="rise">
        {first && last && (
          <>
            <Rise from={first[0] / first[1]} to={last[0] / last[1]} />
            <span>
              <b>{percent(...last)}</b>{' '}
              <span class="dim">
                at turn {numTurns}, {percent(...first)} at 1
              </span>
            </span>
          </>
        )}
      </div>
      <div class="tokens dim">{head.tokens === null ? '' : `${brief(head.tokens)} tokens`}</div>
    </li>
  );
}

/** Accuracy at the first turn, and what the last one adds. */
function Rise({ from, to }: { readonly from: number; readonly to: number }): JSX.Element {
  return (
    <svg class="bar" width="120" height="8" viewBox="0 0 120 8" aria-hidden="true">
      <rect width="120" height="8" rx="4" class="track" />
      <rect width={120 * Math.max(from, to)} height="8" rx="4" class="more" />
      <rect width={120 * Math.min(from, to)} height="8" rx="4" class="right" />
    </svg>
  );
}

function step(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('a.whole')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}
