// The rollouts in flight, the longest waiting first, from their files alone: which turn is being answered or judged, how
// much of it is stored, and for how long nothing new was. Leaves out what only Temporal knows: `everturn why` has that.

import type { JSX } from 'preact';
import type { RunMessage } from '../model/messages.ts';
import type { Row } from '../model/row.ts';
import { ago, count, duration, plural } from './format.ts';
import { Loading, Notice, Strip } from './parts.tsx';
import { rolloutHref } from './route.ts';
import type { Source } from './source.ts';
import { useMessage } from './use-message.ts';

interface Props {
  readonly run: string;
  readonly source: Source;
  readonly message: RunMessage;
}

const SHOWN = 200;
const LIST = { filter: 'outcome:open', sort: 'waiting' };
const QUIET_MS = 15_000;
const LEAST_STUCK_MS = 30_000;

export function LivePage({ run, source, message }: Props): JSX.Element {
  const { head, newsAt, now, summary, numbers } = message;
  const key = JSON.stringify(['live', run, message.progress.revision]);
  const { message: found, error } = useMessage(key, () => source.rows(run, LIST, 0, SHOWN));
  const slowest = Math.max(0, ...summary.turns.map(({ ms }) => ms?.p99 ?? 0));
  const stuckMs = Math.max(LEAST_STUCK_MS, 3 * slowest);
  return (
    <div class="live">
      {head.state === 'open' && newsAt !== null && now - newsAt > QUIET_MS && (
        <Notice>
          The last record is {ago(newsAt, now).replace(' ago', ' old')}. <code>everturn status {run}</code> says whether
          a worker is up.
        </Notice>
      )}
      {numbers.provisional && <Provisional message={message} />}
      {!found ? (
        <Loading error={error} />
      ) : found.rows.length === 0 ? (
        <p class="dim empty">No rollout is in flight.</p>
      ) : (
        <table class="numbers flight">
          <caption>
            {plural(found.count, 'rollout')} in flight, the longest waiting first
            {found.count > SHOWN && `, ${count(SHOWN)} of them`}
          </caption>
          <thead>
            <tr>
              <th scope="col">rollout</th>
              <th scope="col">turns</th>
              <th scope="col">step</th>
              <th scope="col">nothing new for</th>
            </tr>
          </thead>
          <tbody>
            {found.rows.map((row) => (
              <Line
                key={`${row.query} ${row.sample} ${row.attempt}`}
                run={run}
                row={row}
                numTurns={head.numTurns}
                now={now}
                stuckMs={stuckMs}
              />
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

interface LineProps {
  readonly run: string;
  readonly row: Row;
  readonly numTurns: number;
  readonly now: number;
  readonly stuckMs: number;
}

function Line({ run, row, numTurns, now, stuckMs }: LineProps): JSX.Element {
  const waited = row.doing ? Math.max(0, now - row.doing.since) : 0;
  return (
    <tr class={waited > stuckMs ? 'stuck' : undefined}>
      <th scope="row">
        <a href={rolloutHref(run, row, LIST)}>{row.query}</a>
        {row.sample > 0 && <span class="dim"> sample {row.sample}</span>}
        {row.attempt > 1 && <span class="dim"> attempt {row.attempt}</span>}
      </th>
      <td>
        <Strip row={row} total={numTurns} />
      </td>
      <td>{stepOf(row, numTurns)}</td>
      <td>
        {duration(waited)}
        {waited > stuckMs && <b> slow</b>}
      </td>
    </tr>
  );
}

function stepOf({ doing }: Row, numTurns: number): string {
  if (!doing) return '';
  if (doing.what === 'judge') return `judging turn ${doing.turn}`;
  if (doing.turn > numTurns) return 'ending';
  return `answering turn ${doing.turn}${doing.chunks > 0 ? `, ${plural(doing.chunks, 'chunk')} stored` : ''}`;
}

/** Rollouts that end early are more often right: so three numbers, and which to trust. */
export function Provisional({ message }: { readonly message: RunMessage }): JSX.Element | null {
  const { provisional } = message.numbers;
  if (!provisional) return null;
  const { endedSoFar, closedPrefix, bounds } = provisional;
  const share = (value: number | null | undefined) => (value == null ? '–' : `${(100 * value).toFixed(1)} %`);
  const { interval } = closedPrefix.estimate;
  return (
    <dl class="provisional">
      <div>
        <dt>right at any turn, of those that have ended</dt>
        <dd>
          {share(endedSoFar.value)} <span class="dim">provisional: early ones are more often right</span>
        </dd>
      </div>
      <div>
        <dt>of the first {count(closedPrefix.length)} in play order, all ended</dt>
        <dd>
          {share(closedPrefix.estimate.value)}{' '}
          {interval && (
            <span class="dim">
              95 %: {share(interval[0])} to {share(interval[1])}
            </span>
          )}
        </dd>
      </div>
      {message.head.state === 'open' && (
        <div>
          <dt>of all, whatever the others do</dt>
          <dd>
            {share(bounds?.[0])} to {share(bounds?.[1])}
          </dd>
        </div>
      )}
    </dl>
  );
}
