// The overview of a run: accuracy and what feedback changed from turn to turn, how rollouts ended, why answers were wrong,
// times, cost, settings. Every count is a link to the rollouts behind it.

import type { JSX } from 'preact';
import type { Interval } from '../../domain/statistics/mean.ts';
import type { RunMessage } from '../model/messages.ts';
import type { EndCount, RunSummary } from '../model/summary.ts';
import { inText } from '../model/visible-bytes.ts';
import { Curves } from './curves.tsx';
import { brief, count, decimals, duration, spacedWords, orNone, percent, fourDigits, share, spaced } from './format.ts';
import { Bars, Facts, Section, Table } from './parts.tsx';
import { listHref } from './route.ts';

interface Props {
  readonly message: RunMessage;
  /** The runs of evaluations have pages. */
  readonly linked: boolean;
}

export function Overview({ message, linked }: Props): JSX.Element {
  const { summary, head, evaluations = [] } = message;
  return (
    <div class="overview">
      <Section title={head.numTurns > 1 ? 'Turn by turn' : 'Accuracy'} wide>
        {summary.turns.some(({ judged }) => judged > 0) ? (
          <TurnTable run={head.run} summary={summary} />
        ) : (
          <p class="dim">
            {summary.steered > 0 && summary.steered === summary.ended
              ? 'Every rollout that has ended has a person’s message in its context.'
              : noVerdict(message)}
          </p>
        )}
      </Section>
      {summary.passAtK.length > 0 && <PassAtK summary={summary} />}
      {summary.named.length > 0 && <NamedValues summary={summary} />}
      {summary.versions.length + evaluations.length > 0 && (
        <Section title="Over weight versions" wide>
          <Curves versions={summary.versions} evaluations={evaluations} linked={linked} />
        </Section>
      )}
      <Section title="How rollouts ended">
        <Ends run={head.run} summary={summary} />
      </Section>
      <Section title="What the judge said">
        <Bars
          rows={summary.reasons.map(([reason, n]) => ({
            text: spacedWords(reason),
            n,
            href: listHref(head.run, `reason:${reason}`),
          }))}
          unit="turns"
        />
      </Section>
      {summary.servers.length > 0 && (
        <Section title="Servers">
          <Bars
            rows={summary.servers.map(([server, n]) => ({
              text: server,
              n,
              href: listHref(head.run, `server:"${server}"`),
            }))}
            unit="rollouts"
          />
        </Section>
      )}
      <Section title="Tokens and cost">
        <Spent message={message} />
      </Section>
      <Section title="Settings in force">
        <Settings message={message} />
      </Section>
      <Section title="The run">
        <Facts
          facts={message.facts.map(([name, value]) => [
            name,
            value.length > 40 ? <span class="hash">{value}</span> : value,
          ])}
        />
      </Section>
    </div>
  );
}

function PassAtK({ summary }: Pick<OfRun, 'summary'>): JSX.Element {
  return (
    <Section title="Several samples of a query" wide>
      <Table
        label="pass@k"
        rows={summary.passAtK}
        keyOf={({ name }) => name}
        columns={[
          { name: '', cell: ({ name, definition }) => <span title={definition}>{name}</span> },
          { name: 'share', cell: ({ value }) => <b>{share(value)}</b> },
          { name: '95 %', cell: ({ interval: bounds }) => interval(bounds) },
          { name: 'queries', cell: ({ n }) => count(n) },
          { name: 'unknown', title: 'queries with fewer known samples', cell: ({ leftOut }) => count(leftOut) },
        ]}
      />
    </Section>
  );
}

/** The metrics and named rewards of an environment. */
function NamedValues({ summary }: Pick<OfRun, 'summary'>): JSX.Element {
  return (
    <Section title="What the environment measured" wide>
      <Table
        label="Metrics and named rewards"
        rows={summary.named}
        keyOf={({ name }) => name}
        columns={[
          { name: '', cell: ({ name }) => inText(name) },
          { name: 'mean', cell: ({ value }) => orNone(value, fourDigits) },
          { name: '95 %', cell: ({ interval: bounds }) => (bounds ? bounds.map(fourDigits).join(' to ') : '–') },
          { name: 'turns', title: 'that have it', cell: ({ n }) => count(n) },
        ]}
      />
    </Section>
  );
}

/** An environment may give rewards without verdicts. */
function noVerdict({ head, summary }: RunMessage): string {
  const { value, interval: found, n } = summary.headline.meanReturn;
  if (value === null) return head.state === 'open' ? 'No turn is judged yet.' : 'No turn was judged.';
  const bounds = found ? ` (95 %: ${found.map((bound) => decimals(bound)).join(' to ')})` : '';
  return `No turn has a verdict of right or wrong; the mean return of ${count(n)} complete rollouts is ${decimals(value)}${bounds}.`;
}

function Settings({ message: { settings } }: Pick<Props, 'message'>): JSX.Element {
  const facts = (all: typeof settings) =>
    all.map(({ name, value, origin }): [string, JSX.Element] => [
      spaced(name),
      <>
        {value} <span class="dim">{origin}</span>
      </>,
    ]);
  const given = settings.filter(({ origin }) => origin !== 'default');
  const others = settings.filter(({ origin }) => origin === 'default');
  return (
    <>
      {given.length > 0 && <Facts facts={facts(given)} />}
      <details>
        <summary class="dim">{count(others.length)} have their defaults</summary>
        <Facts facts={facts(others)} />
      </details>
    </>
  );
}

function Spent({ message: { summary, cost } }: Pick<Props, 'message'>): JSX.Element {
  const { contextTokens, cachedTokens, tokens } = summary;
  return (
    <Facts
      facts={[
        ['tokens in', orNone(contextTokens, count), 'of the contexts that the answers followed'],
        cachedTokens !== null && ['of them cached', count(cachedTokens)],
        ['tokens out', orNone(tokens, count), 'of the answers'],
        ['cost', costText(cost), 'of the recorded answers'],
      ]}
    />
  );
}

function costText(cost: RunMessage['cost']): string {
  if (cost === undefined) return 'no prices were given: --prices, or --price-in and --price-out';
  if (cost === null) return '–: an endpoint counted no tokens';
  const [least, most] = cost.map((bound) => bound.toFixed(4));
  return least === most ? least! : `${least} to ${most}: nobody said which tokens were cached`;
}

interface OfRun {
  readonly run: string;
  readonly summary: RunSummary;
}

function TurnTable({ run, summary }: OfRun): JSX.Element {
  const { turns } = summary;
  const timed = turns.some(({ ms }) => ms.n > 0);
  const several = turns.length > 1;
  const change = (turn: number, from: string, to: string, n: number) =>
    turn === 1 || n === 0 ? (
      <span class="dim">{turn === 1 ? '–' : 0}</span>
    ) : (
      <a href={listHref(run, `right@${turn - 1}:${from} right@${turn}:${to}`)}>{count(n)}</a>
    );
  return (
    <Table
      label="Accuracy by turn, as a table"
      rows={turns}
      keyOf={({ turn }) => turn}
      columns={[
        several && { name: 'turn', cell: ({ turn }) => turn },
        { name: 'judged', cell: ({ judged }) => count(judged) },
        { name: 'right', cell: ({ turn, right }) => <a href={listHref(run, `right@${turn}:yes`)}>{count(right)}</a> },
        {
          name: 'wrong',
          cell: ({ turn, judged, right }) => <a href={listHref(run, `right@${turn}:no`)}>{count(judged - right)}</a>,
        },
        { name: 'accuracy', cell: ({ right, judged }) => <b>{percent(right, judged)}</b> },
        { name: '95 %', cell: ({ accuracy }) => interval(accuracy.interval) },
        several && { name: 'right by now', cell: ({ rightBy }) => share(rightBy.value) },
        several && { name: 'repaired', cell: ({ turn, repairs }) => change(turn, 'no', 'yes', repairs.count) },
        several && { name: 'spoiled', cell: ({ turn, spoils }) => change(turn, 'yes', 'no', spoils.count) },
        turns.some(({ cut }) => cut > 0) && { name: 'cut', cell: ({ cut }) => count(cut) },
        timed && { name: 'tokens, median', cell: ({ tokens }) => orNone(tokens.p50, brief) },
        timed && { name: 'time, median', cell: ({ ms }) => orNone(ms.p50, duration) },
        timed && { name: '99 %', cell: ({ ms }) => orNone(ms.p99, duration) },
      ]}
    />
  );
}

function interval(found: Interval | null): string {
  return found ? `${(100 * found[0]).toFixed(1)}–${(100 * found[1]).toFixed(1)}` : '–';
}

function Ends({ run, summary }: OfRun): JSX.Element {
  const rows = summary.ends.map((end) => ({
    text: endText(end),
    n: end.count,
    href: listHref(run, endFilter(end)),
    kind: end.state,
  }));
  const open = summary.total - summary.ended;
  return (
    <>
      <Bars rows={rows} unit="rollouts" />
      {open > 0 && (
        <p class="dim">
          {count(summary.begun - summary.ended)} in flight, {count(summary.total - summary.begun)} not begun.
        </p>
      )}
    </>
  );
}

function endText({ state, stop, reason }: EndCount): string {
  const why = reason ?? (stop === null || stop === state ? '' : stop);
  return `${state}${why === '' ? '' : `: ${spacedWords(why)}`}`;
}

function endFilter({ state, stop, reason }: EndCount): string {
  return `outcome:${state}${stop === null ? '' : ` stop:${stop}`}${reason === null ? '' : ` reason:${reason}`}`;
}
