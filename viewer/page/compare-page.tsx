// Two runs of the same queries: the difference with its interval and tests first, then the two by two of right answers
// as filters, turns, settings that differ, and the queries by how far they are apart. Differences are B − A.

import type { ComponentChildren, JSX } from 'preact';
import type { Cell } from '../../statistics/comparison.ts';
import type { PairedDifference } from '../../statistics/paired.ts';
import { inText } from '../model/visible-bytes.ts';
import type { CompareMessage } from '../model/messages.ts';
import { Beside } from './beside.tsx';
import { brief, count, orNone, percent, plural, precise, pValue, points, share, spaced } from './format.ts';
import { Left } from './left.tsx';
import { Facts, Figure, Loading, nameOf, Notice, Problem, SIGN, Table } from './parts.tsx';
import { type CompareRoute, hrefOf, rolloutHref, runHref } from './route.ts';
import type { Source } from './source.ts';
import { useMessage } from './use-message.ts';

const OPEN_MS = 5_000;

export function ComparePage({ route, source }: { readonly route: CompareRoute; readonly source: Source }): JSX.Element {
  const { a, b, cell, beside } = route;
  const key = JSON.stringify(['compare', a, b, cell]);
  const { message, error } = useMessage(
    key,
    () => source.compare(a, b, cell),
    (found) => (found.a.state === 'open' || found.b.state === 'open' ? OPEN_MS : 0),
  );
  if (!message) return <Loading error={error} back={['#/', 'All runs']} />;
  if (beside) return <Beside route={{ ...route, beside }} source={source} message={message} />;
  return (
    <Comparison message={message} route={route} swap={source.kind === 'server'}>
      <Left left={source.left} />
      <Problem text={error} />
    </Comparison>
  );
}

interface ComparisonProps {
  readonly message: CompareMessage;
  readonly route: CompareRoute;
  /** Both orders can be shown. */
  readonly swap: boolean;
  readonly children: ComponentChildren;
}

function Comparison({ message, route, swap, children }: ComparisonProps): JSX.Element {
  const { a, b, cell } = route;
  return (
    <section>
      <div class="head">
        <h1>
          <a href={runHref(a)}>{a}</a> <span class="dim">and</span> <a href={runHref(b)}>{b}</a>
        </h1>
        <p class="dim">
          {plural(message.paired, 'query', 'queries')} with the same text in both, right at any turn up to{' '}
          {message.numbers.atTurn}. {swap && <a href={hrefOf({ ...route, a: b, b: a, cell: swapped(cell) })}>Swap</a>}
        </p>
      </div>
      {children}
      <Verdict message={message} />
      <Unpaired message={message} />
      <div class="overview">
        <section aria-labelledby="table-title">
          <h2 id="table-title">Query by query</h2>
          <TwoByTwo route={route} message={message} />
        </section>
        <section aria-labelledby="compared-turns-title">
          <h2 id="compared-turns-title">Turn by turn</h2>
          <Turns message={message} />
        </section>
        <section aria-labelledby="compared-settings-title" class="wide">
          <h2 id="compared-settings-title">Settings that differ</h2>
          <Settings message={message} />
        </section>
        <section aria-labelledby="pairs-title" class="wide">
          <h2 id="pairs-title">{cell === null ? 'All queries' : NAMES[cell]}, the largest difference first</h2>
          <Pairs route={route} message={message} />
        </section>
      </div>
    </section>
  );
}

const swapped = (cell: Cell | null): Cell | null =>
  cell === 'only-a' ? 'only-b' : cell === 'only-b' ? 'only-a' : cell;

function Verdict({ message }: { readonly message: CompareMessage }): JSX.Element {
  const { numbers } = message;
  const { difference, signTest, visible } = numbers;
  return (
    <dl class="figures">
      <Figure label="A" value={share(numbers.a.value)}>
        {message.a.run}
      </Figure>
      <Figure label="B" value={share(numbers.b.value)}>
        {message.b.run}
      </Figure>
      <Figure label="B − A" value={points(difference.value)} kind={kindOf(difference)}>
        {difference.interval === null
          ? 'too few queries for an interval'
          : `95 %: ${points(difference.interval[0])} to ${points(difference.interval[1])}`}
      </Figure>
      <Figure label="p, paired t" value={pValue(difference.p)}>
        sign test {pValue(signTest)}
        {visible !== null && (
          <span>These queries can show differences of about {points(visible).replace('+', '')}.</span>
        )}
      </Figure>
    </dl>
  );
}

function kindOf({ interval }: PairedDifference): string {
  return interval === null ? '' : interval[0] > 0 ? 'better' : interval[1] < 0 ? 'worse' : '';
}

function Unpaired({ message }: { readonly message: CompareMessage }): JSX.Element | null {
  const { onlyInA, onlyInB, otherText, otherSolutions, otherJudge, unknown } = message.numbers;
  const said = [
    [onlyInA, `only in ${message.a.run}`],
    [onlyInB, `only in ${message.b.run}`],
    [otherText, 'with the same id and another text: never paired'],
    [unknown, 'without a known result in one of them'],
    [otherSolutions, 'paired, though their solutions differ'],
    [otherJudge, 'paired, though another task or environment judged them'],
  ] as const;
  const there = said.filter(([queries]) => queries.length > 0);
  const steered = message.numbers.steered.map(({ message: n, fork }) => n + fork);
  const written = (steered[0] ?? 0) + (steered[1] ?? 0);
  if (there.length === 0 && written === 0) return null;
  return (
    <Notice>
      {there.map(([queries, text]) => (
        <span key={text} title={queries.slice(0, 20).join(', ')}>
          {plural(queries.length, 'query', 'queries')} {text}.{' '}
        </span>
      ))}
      {written > 0 && <span>{plural(written, 'rollout')} with a person’s message in the context left out.</span>}
    </Notice>
  );
}

const NAMES: Readonly<Record<Cell, string>> = {
  both: 'Right in both',
  'only-a': 'Right in A only',
  'only-b': 'Right in B only',
  neither: 'Right in neither',
};

function TwoByTwo({ route, message }: { readonly route: CompareRoute; readonly message: CompareMessage }): JSX.Element {
  const { table } = message.numbers;
  if (!table) return <p class="dim">Nothing to count.</p>;
  return (
    <div class="two-by-two">
      {(Object.keys(NAMES) as Cell[]).map((cell) => (
        <a
          key={cell}
          class={cell}
          href={hrefOf({ ...route, cell: route.cell === cell ? null : cell })}
          aria-current={route.cell === cell ? 'true' : undefined}
        >
          <b>{count(table[cell])}</b>
          <span>{NAMES[cell]}</span>
        </a>
      ))}
    </div>
  );
}

function Turns({ message }: { readonly message: CompareMessage }): JSX.Element {
  const [a, b] = message.tokens;
  return (
    <>
      <Table
        label="The two runs turn by turn"
        head={['right by turn', 'A', 'B', 'B − A', 'p']}
        rows={message.numbers.byTurn.map(({ turn, difference, ...of }) => ({
          key: turn,
          cells: [
            turn,
            share(of.a.value),
            share(of.b.value),
            <b key="difference">{points(difference.value)}</b>,
            pValue(difference.p),
          ],
        }))}
      />
      {message.numbers.named.length > 0 && (
        <Table
          label="Metrics and named rewards of the two runs"
          head={['mean of queries', 'A', 'B', 'B − A', 'p']}
          rows={message.numbers.named.map(({ name, difference, ...of }) => ({
            key: name,
            cells: [
              inText(name),
              orNone(of.a.value, precise),
              orNone(of.b.value, precise),
              <b key="difference">{orNone(difference.value, precise)}</b>,
              pValue(difference.p),
            ],
          }))}
        />
      )}
      {a !== null && b !== null && (
        <p class="dim">
          Tokens of a rollout: {brief(a)} and {brief(b)}
          {a > 0 && `, a ratio of ${(b / a).toFixed(2)}`}.
        </p>
      )}
    </>
  );
}

function Settings({ message }: { readonly message: CompareMessage }): JSX.Element {
  if (message.settings.length === 0) return <p class="dim">None.</p>;
  return (
    <Facts
      facts={message.settings.map(({ name, a, b }) => [
        spaced(name),
        <>
          {a} <span class="dim">→</span> {b}
        </>,
      ])}
    />
  );
}

function Pairs({ route, message }: { readonly route: CompareRoute; readonly message: CompareMessage }): JSX.Element {
  const { pairs } = message;
  return (
    <Table
      label="Queries of both runs"
      kind="pairs"
      caption={pairs.length < message.count && `The first ${count(pairs.length)} of ${count(message.count)}.`}
      head={['query', 'A', 'B', 'B − A']}
      rows={pairs.map(({ query, title, a, b }) => ({
        key: query,
        cells: [
          <>
            <a class="underlined" href={hrefOf({ ...route, beside: { query, sample: 0 } })} title="Side by side">
              {query}
            </a>{' '}
            <span class="dim">{title}</span>
          </>,
          <Mark key="A" of={`${query} in A`} href={rolloutHref(route.a, { query, sample: 0, attempt: 1 })} value={a} />,
          <Mark key="B" of={`${query} in B`} href={rolloutHref(route.b, { query, sample: 0, attempt: 1 })} value={b} />,
          a === b ? '' : points(b - a),
        ],
      }))}
    />
  );
}

interface MarkProps {
  readonly of: string;
  readonly href: string;
  readonly value: number;
}

/** The share of right samples. */
function Mark({ of, href, value }: MarkProps): JSX.Element {
  const name = value === 0 || value === 1 ? nameOf(value) : null;
  const text = percent(value, 1, 0);
  return (
    <a class={`cell wide ${name ?? ''}`} href={href} aria-label={`${of}: ${name ?? text}`}>
      {name === null ? text : SIGN[name]}
    </a>
  );
}
