// All runs of the folder, the newest first; filtered and in another order as the address says. Those that
// are chosen can be compared.

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { RunHead } from '../model/messages.ts';
import { brief, count, decimals, moment, share, troubleText } from './format.ts';
import { onKey } from './keys.ts';
import { Legend, Loading, Notice, Problem } from './parts.tsx';
import { compareHref, evaluationHref, runHref, runsHref, type RunsRoute, severalHref } from './route.ts';
import { replaceHash } from './replace-hash.ts';
import { SearchField } from './search-field.tsx';
import { type Source, useMessage } from './source.ts';

const AGAIN_MS = 5_000;

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
  useLayoutEffect(() => onKey({ j: () => step(1), k: () => step(-1) }), []);
  if (!message) return <Loading error={error} />;
  const { runs } = message;
  const several = runs.length > 1 && source.kind === 'server';
  const toggle = (run: string) =>
    setChosen((all) => (all.includes(run) ? all.filter((one) => one !== run) : [...all, run]));
  // The older one is the first.
  const older = runs
    .filter(({ run }) => chosen.includes(run))
    .sort((one, other) => one.createdAt - other.createdAt)
    .map(({ run }) => run);
  const shown = listed(runs, route);
  return (
    <section>
      <div class="head">
        <h1>Runs</h1>
        <p class="dim path">{message.folder}</p>
        {several && <Chosen older={older} compare={compare} />}
        <Evaluations names={message.evaluations} filter={route.filter} />
        {source.compared && (
          <p>
            <a class="button" href={compareHref(...source.compared)}>
              Compare {source.compared[0]} with {source.compared[1]}
            </a>
          </p>
        )}
      </div>
      <Problem text={error} />
      {several && <Choice route={route} shown={shown.length} of={runs.length} />}
      {runs.length === 0 ? (
        <Notice>
          No run is in this folder yet. <code>everturn demo</code> plays one; this page will show it.
        </Notice>
      ) : shown.length === 0 ? (
        <p class="dim">No run is like that.</p>
      ) : (
        <>
          {shown.some(({ numbers, numTurns }) => numbers && numTurns > 1) && <Legend colours={RISE} />}
          <ul>
            {shown.map((head) => (
              <Card
                key={head.run}
                head={head}
                chosen={chosen.includes(head.run)}
                onChoose={several ? () => toggle(head.run) : undefined}
              />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

interface ChosenProps {
  /** The chosen runs, the older one first. */
  readonly older: readonly string[];
  readonly compare: RunsRoute['compare'];
}

function Chosen({ older, compare }: ChosenProps): JSX.Element {
  const [a, b] = older;
  return (
    <p>
      {older.length > 2 ? (
        <a class="button" href={severalHref(older)}>
          Compare {older.length} runs
        </a>
      ) : a !== undefined && b !== undefined ? (
        <a class="button" href={compareHref(a, b, compare)}>
          Compare {a} with {b}
          {compare && compare.query !== null && ` at ${compare.query}`}
        </a>
      ) : (
        <span class="dim">
          {a === undefined ? 'Choose two or more runs to compare them.' : `Choose the run to compare ${a} with.`}
        </span>
      )}
    </p>
  );
}

interface EvaluationsProps {
  readonly names: readonly string[];
  readonly filter: string;
}

/** Those with every word of the filter in their name. */
function Evaluations({ names, filter }: EvaluationsProps): JSX.Element | null {
  const words = filter.toLowerCase().split(/\s+/);
  const shown = names.filter((name) => words.every((word) => name.toLowerCase().includes(word)));
  if (shown.length === 0) return null;
  return (
    <nav class="line" aria-label="Evaluations">
      <span class="dim">Evaluations</span>
      {shown.map((name) => (
        <a key={name} href={evaluationHref(name)}>
          {name}
        </a>
      ))}
    </nav>
  );
}

/** The names of the address. A text is ordered from its beginning, a number from the greatest on. */
const ORDERS: Readonly<Record<string, (head: RunHead) => string | number>> = {
  name: ({ run }) => run,
  model: ({ model }) => model,
  accuracy: ({ numbers }) => -(numbers?.right.last ?? -1),
  tokens: ({ tokens }) => -(tokens ?? -1),
};

/** Each word occurs in the name, the model, the data set or the state. */
function listed(runs: readonly RunHead[], { filter, sort }: RunsRoute): readonly RunHead[] {
  const words = filter.toLowerCase().split(/\s+/);
  const found = runs.filter(({ run, model, dataset, state }) => {
    const text = `${run} ${model} ${dataset ?? ''} ${state}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  // Without an order the newest is first, each with its forks.
  const of = Object.hasOwn(ORDERS, sort) ? ORDERS[sort]! : () => 0;
  return found.sort((a, b) => (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0));
}

function Choice({ route, shown, of }: { readonly route: RunsRoute; readonly shown: number; readonly of: number }) {
  const go = (given: Partial<RunsRoute>) => replaceHash(runsHref({ ...route, ...given }));
  return (
    <SearchField
      value={route.filter}
      label="Filter the runs"
      placeholder="Filter: words of the name, model, data set, state"
      most={500}
      afterMs={150}
      onText={(filter) => go({ filter: filter.trim() })}
    >
      <span class="dim" role="status">
        {shown < of && `${count(shown)} of `}
        {count(of)}
      </span>
      <select
        aria-label="Order of the runs"
        value={Object.hasOwn(ORDERS, route.sort) ? route.sort : ''}
        onChange={(event) => go({ sort: event.currentTarget.value })}
      >
        <option value="">newest first</option>
        {Object.keys(ORDERS).map((name) => (
          <option key={name} value={name}>
            by {name}
          </option>
        ))}
      </select>
    </SearchField>
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
  const { run, problem, state, numbers, numTurns, total, ended } = head;
  const { first = null, last = null } = numbers?.right ?? {};
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
          <span class={`tag ${state}`}>{state}</span>
        ) : (
          <span class="tag cancelled">broken</span>
        )}
        <span class="dim">
          {total === null ? '' : ended === null ? `of ${count(total)}` : `${count(ended)} of ${count(total)}`}
        </span>
      </div>
      <div class="rise">
        {last !== null ? (
          <>
            <Rise from={numTurns > 1 ? (first ?? 0) : last} to={last} />
            <span>
              <b>{share(last)}</b> {numTurns > 1 && <span class="dim">at the last turn, {share(first)} at turn 1</span>}
            </span>
          </>
        ) : (
          numbers && numbers.meanReturn !== null && <span>mean return {decimals(numbers.meanReturn)}</span>
        )}
        {numbers?.troubles.map((trouble) => (
          <span key={`${trouble.state} ${trouble.reason}`} class={`state ${trouble.state} small`}>
            {troubleText(trouble, numbers.ended)}
          </span>
        ))}
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
