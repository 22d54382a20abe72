// The overview of a run: what feedback changed from turn to turn, the same as a table, how rollouts ended, why answers
// were wrong, times, settings. Every count is a link to the rollouts behind it.

import type { JSX } from 'preact';
import type { Interval } from '../../statistics/mean.ts';
import type { RunMessage } from '../model/messages.ts';
import type { EndCount, RunSummary } from '../model/summary.ts';
import { inText } from '../model/visible-bytes.ts';
import { Curves } from './curves.tsx';
import { Flow } from './flow.tsx';
import { brief, count, decimals, duration, named, orNone, percent, precise, share, spaced } from './format.ts';
import { Facts, Table } from './parts.tsx';
import { Provisional } from './provisional.tsx';
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
      <section class="wide" aria-labelledby="by-turn">
        <h2 id="by-turn">Turn by turn</h2>
        {summary.turns.some(({ judged }) => judged > 0) ? (
          <>
            <div class="scroll" tabIndex={0} role="region" aria-label="Accuracy by turn, as a picture">
              <Flow turns={summary.turns} />
            </div>
            <Provisional message={message} />
            <TurnTable run={head.run} summary={summary} />
          </>
        ) : (
          <p class="dim">
            {summary.steered > 0 && summary.steered === summary.ended
              ? 'Every rollout that has ended has a person’s message in its context.'
              : noVerdict(message)}
          </p>
        )}
      </section>
      {summary.named.length > 0 && (
        <section class="wide" aria-labelledby="named">
          <h2 id="named">What the environment measured</h2>
          <Table
            label="Metrics and named rewards"
            head={['', 'mean', '95 %', ['turns', 'that have it']]}
            rows={summary.named.map(({ name, value, interval: found, n }) => ({
              key: name,
              cells: [inText(name), orNone(value, precise), found ? found.map(precise).join(' to ') : '–', count(n)],
            }))}
          />
        </section>
      )}
      {summary.versions.length + evaluations.length > 0 && (
        <section class="wide" aria-labelledby="versions">
          <h2 id="versions">Over weight versions</h2>
          <Curves versions={summary.versions} evaluations={evaluations} linked={linked} />
        </section>
      )}
      <section aria-labelledby="ends">
        <h2 id="ends">How rollouts ended</h2>
        <Ends run={head.run} summary={summary} />
      </section>
      <section aria-labelledby="reasons">
        <h2 id="reasons">What the judge said</h2>
        <Bars
          rows={summary.reasons.map(([reason, n]) => ({
            text: named(reason),
            n,
            href: listHref(head.run, `reason:${reason}`),
          }))}
          unit="turns"
        />
      </section>
      {summary.servers.length > 0 && (
        <section aria-labelledby="servers">
          <h2 id="servers">Servers</h2>
          <Bars
            rows={summary.servers.map(([server, n]) => ({
              text: server,
              n,
              href: listHref(head.run, `server:"${server}"`),
            }))}
            unit="rollouts"
          />
        </section>
      )}
      <section aria-labelledby="settings">
        <h2 id="settings">Settings that were given</h2>
        {message.settings.length === 0 ? (
          <p class="dim">None: all have their defaults.</p>
        ) : (
          <Facts
            facts={message.settings.map(({ name, value, origin }) => [
              spaced(name),
              <>
                {value} <span class="dim">{origin}</span>
              </>,
            ])}
          />
        )}
      </section>
      <section aria-labelledby="facts">
        <h2 id="facts">The run</h2>
        <Facts
          facts={message.facts.map(([name, value]) => [
            name,
            value.length > 40 ? <span class="hash">{value}</span> : value,
          ])}
        />
      </section>
    </div>
  );
}

/** An environment may give rewards without verdicts. */
function noVerdict({ head, summary }: RunMessage): string {
  if (summary.meanReturn === null) return head.state === 'open' ? 'No turn is judged yet.' : 'No turn was judged.';
  const returns = `the mean return of complete rollouts is ${decimals(summary.meanReturn)}`;
  return `No turn has a verdict of right or wrong; ${returns}. The command everturn stats has its interval.`;
}

interface OfRun {
  readonly run: string;
  readonly summary: RunSummary;
}

function TurnTable({ run, summary }: OfRun): JSX.Element {
  const timed = summary.turns.some(({ ms }) => ms.n > 0);
  const several = summary.turns.length > 1;
  const cut = summary.turns.some((turn) => turn.cut > 0);
  return (
    <Table
      label="Accuracy by turn, as a table"
      head={[
        'turn',
        'judged',
        'right',
        'accuracy',
        '95 %',
        'right by now',
        ...(several ? ['repaired', 'spoiled'] : []),
        ...(cut ? ['cut'] : []),
        ...(timed ? ['tokens, median', 'time, median', '99 %'] : []),
      ]}
      rows={summary.turns.map((turn) => ({
        key: turn.turn,
        cells: [
          turn.turn,
          count(turn.judged),
          <a key="right" href={listHref(run, `right@${turn.turn}:yes`)}>
            {count(turn.right)}
          </a>,
          <b key="accuracy">{percent(turn.right, turn.judged)}</b>,
          interval(turn.accuracy.interval),
          share(turn.rightBy.value),
          ...(several
            ? [
                <Change key="repaired" run={run} turn={turn.turn} from="no" to="yes" n={turn.repairs.count} />,
                <Change key="spoiled" run={run} turn={turn.turn} from="yes" to="no" n={turn.spoils.count} />,
              ]
            : []),
          ...(cut ? [count(turn.cut)] : []),
          ...(timed
            ? [orNone(turn.tokens.p50, brief), orNone(turn.ms.p50, duration), orNone(turn.ms.p99, duration)]
            : []),
        ],
      }))}
    />
  );
}

function interval(found: Interval | null): string {
  return found ? `${(100 * found[0]).toFixed(1)}–${(100 * found[1]).toFixed(1)}` : '–';
}

interface ChangeProps {
  readonly run: string;
  readonly turn: number;
  readonly from: string;
  readonly to: string;
  readonly n: number;
}

function Change({ run, turn, from, to, n }: ChangeProps): JSX.Element {
  if (turn === 1 || n === 0) return <span class="dim">{turn === 1 ? '–' : 0}</span>;
  return <a href={listHref(run, `right@${turn - 1}:${from} right@${turn}:${to}`)}>{count(n)}</a>;
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
  return `${state}${why === '' ? '' : `: ${named(why)}`}`;
}

function endFilter({ state, stop, reason }: EndCount): string {
  return `outcome:${state}${stop === null ? '' : ` stop:${stop}`}${reason === null ? '' : ` reason:${reason}`}`;
}

interface BarsProps {
  readonly rows: readonly {
    readonly text: string;
    readonly n: number;
    readonly href: string;
    readonly kind?: string;
  }[];
  readonly unit: string;
}

function Bars({ rows, unit }: BarsProps): JSX.Element {
  if (rows.length === 0) return <p class="dim">None.</p>;
  const most = Math.max(...rows.map(({ n }) => n));
  return (
    <ul class="bars">
      {rows.slice(0, 12).map(({ text, n, href, kind = '' }) => (
        <li key={text}>
          <a href={href} title={`${count(n)} ${unit}`}>
            <span class="text">{text}</span>
            <svg width="100%" height="6" aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 100 6">
              <rect width={(100 * n) / most} height="6" class={`bar ${kind}`} />
            </svg>
            <span class="n">{count(n)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
