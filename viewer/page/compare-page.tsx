// Two runs of the same queries: the difference with its interval and tests first, then the two by two of right answers
// as filters, turns, settings that differ, and the queries by how far they are apart. Differences are B − A.

import type { JSX } from 'preact';
import type { Cell, ComparedTurn } from '../../domain/statistics/comparison.ts';
import type { ComparedNumber } from '../../domain/statistics/named.ts';
import type { PairedDifference } from '../../domain/statistics/paired.ts';
import { inText } from '../model/visible-bytes.ts';
import type { CompareMessage } from '../model/messages.ts';
import { Beside } from './beside.tsx';
import { brief, count, orNone, percent, plural, fourDigits, pValue, points, share, spaced } from './format.ts';
import {
  OmittedParts,
  type Column,
  Facts,
  Figure,
  Loading,
  verdictName,
  Notice,
  Problem,
  Section,
  SIGN,
  Table,
} from './parts.tsx';
import { type CompareRoute, hrefOf, rolloutHref, runHref } from './route.ts';
import { type Source, useMessage } from './source.ts';

const OPEN_MS = 5_000;
const MOST_SHOWN = 500;

export function ComparePage({ route, source }: { readonly route: CompareRoute; readonly source: Source }): JSX.Element {
  const { a, b, cell, beside } = route;
  const { message, error } = useMessage(
    JSON.stringify(['compare', a, b]),
    () => source.compare(a, b),
    (found) => (found.a.state === 'open' || found.b.state === 'open' ? OPEN_MS : 0),
  );
  if (!message) return <Loading error={error} back={['#/', 'All runs']} />;
  const pairs = message.pairs.filter((pair) => cell === null || pair.cell === cell).slice(0, MOST_SHOWN);
  if (beside) return <Beside route={{ ...route, beside }} source={source} pairs={pairs} />;
  return (
    <section>
      <div class="head">
        <h1>
          <a href={runHref(a)}>{a}</a> <span class="dim">and</span> <a href={runHref(b)}>{b}</a>
        </h1>
        <p class="dim">
          {plural(message.paired, 'query', 'queries')} with the same text in both, right at any turn up to{' '}
          {message.numbers.atTurn}.{' '}
          {source.kind === 'server' && <a href={hrefOf({ ...route, a: b, b: a, cell: swapped(cell) })}>Swap</a>}
        </p>
      </div>
      <OmittedParts left={source.left} />
      <Problem text={error} />
      <Verdict message={message} />
      <Unpaired message={message} />
      <div class="overview">
        <Section title="Query by query">
          <TwoByTwo route={route} message={message} />
        </Section>
        <Section title="Turn by turn">
          <Turns message={message} />
        </Section>
        <Section title="Settings that differ" wide>
          <Settings message={message} />
        </Section>
        <Section title={`${cell === null ? 'All queries' : NAMES[cell]}, the largest difference first`} wide>
          <Pairs route={route} message={message} pairs={pairs} />
        </Section>
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

type Text = (value: number | null) => string;

/** The same number of both runs, and its difference. */
const sides = <T extends Pick<ComparedTurn, 'a' | 'b' | 'difference'>>(text: Text, apart = text): Column<T>[] => [
  { name: 'A', cell: ({ a }) => text(a.value) },
  { name: 'B', cell: ({ b }) => text(b.value) },
  { name: 'B − A', cell: ({ difference }) => <b>{apart(difference.value)}</b> },
  { name: 'p', cell: ({ difference }) => pValue(difference.p) },
];

function Turns({ message }: { readonly message: CompareMessage }): JSX.Element {
  const [a, b] = message.tokens;
  return (
    <>
      <Table
        label="The two runs turn by turn"
        rows={message.numbers.byTurn}
        keyOf={({ turn }) => turn}
        columns={[{ name: 'right by turn', cell: ({ turn }) => turn }, ...sides<ComparedTurn>(share, points)]}
      />
      {message.numbers.named.length > 0 && (
        <Table
          label="Metrics and named rewards of the two runs"
          rows={message.numbers.named}
          keyOf={({ name }) => name}
          columns={[
            { name: 'mean of queries', cell: ({ name }) => inText(name) },
            ...sides<ComparedNumber>((value) => orNone(value, fourDigits)),
          ]}
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

interface PairsProps {
  readonly message: CompareMessage;
  readonly route: CompareRoute;
  /** The pairs of the chosen cell. */
  readonly pairs: CompareMessage['pairs'];
}

function Pairs({ route, message, pairs }: PairsProps): JSX.Element {
  const all = route.cell === null ? message.paired : (message.numbers.table?.[route.cell] ?? 0);
  return (
    <Table
      label="Queries of both runs"
      kind="pairs"
      caption={pairs.length < all && `The first ${count(pairs.length)} of ${count(all)}.`}
      rows={pairs}
      keyOf={({ query }) => query}
      columns={[
        {
          name: 'query',
          cell: ({ query, title }) => (
            <>
              <a class="underlined" href={hrefOf({ ...route, beside: { query, sample: 0 } })} title="Side by side">
                {query}
              </a>{' '}
              <span class="dim">{title}</span>
            </>
          ),
        },
        { name: 'A', cell: ({ query, a }) => <Mark side="A" run={route.a} query={query} value={a} /> },
        { name: 'B', cell: ({ query, b }) => <Mark side="B" run={route.b} query={query} value={b} /> },
        { name: 'B − A', cell: ({ a, b }) => (a === b ? '' : points(b - a)) },
      ]}
    />
  );
}

interface MarkProps {
  readonly side: string;
  readonly run: string;
  readonly query: string;
  readonly value: number;
}

/** The share of right samples. */
function Mark({ side, run, query, value }: MarkProps): JSX.Element {
  const name = value === 0 || value === 1 ? verdictName(value) : null;
  const text = percent(value, 1, 0);
  const href = rolloutHref(run, { query, sample: 0, attempt: 1 });
  return (
    <a class={`cell wide ${name ?? ''}`} href={href} aria-label={`${query} in ${side}: ${name ?? text}`}>
      {name === null ? text : SIGN[name]}
    </a>
  );
}
