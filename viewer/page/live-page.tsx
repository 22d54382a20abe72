// The rollouts in flight, the longest waiting first, from their files alone: which turn is being answered or judged, how
// much of it is stored, and for how long nothing new was. Leaves out what only Temporal knows: `everturn why` has that.

import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { RunMessage, ServerMessage } from '../model/messages.ts';
import type { Row } from '../model/row.ts';
import { ago, count, duration, moment, plural } from './format.ts';
import { Loading, Notice, State, Strip } from './parts.tsx';
import { rolloutHref } from './route.ts';
import type { Source } from './source.ts';
import { useMessage } from './use-message.ts';

interface Props {
  readonly run: string;
  readonly source: Source;
  readonly message: RunMessage;
  /** The page stays as it is. */
  readonly paused: boolean;
  readonly onPause: (paused: boolean) => void;
}

const SHOWN = 200;
const LIST = { filter: 'outcome:open', sort: 'waiting' };
const ENDED = { filter: '-outcome:open', sort: '-ended' };
const LATELY = 12;
const QUIET_MS = 15_000;
const LEAST_STUCK_MS = 30_000;

export function LivePage({ run, source, message, paused, onPause }: Props): JSX.Element {
  const { head, newsAt, now, summary, numbers } = message;
  // While it is paused the key stays, and nothing is asked for.
  const revision = useRef(message.progress.revision);
  if (!paused) revision.current = message.progress.revision;
  const key = (list: string) => JSON.stringify(['live', list, run, revision.current]);
  const { message: found, error } = useMessage(key('open'), () => source.rows(run, LIST, 0, SHOWN));
  const { message: ended } = useMessage(key('ended'), () => source.rows(run, ENDED, 0, LATELY));
  const slowest = Math.max(0, ...summary.turns.map(({ ms }) => ms?.p99 ?? 0));
  const stuckMs = Math.max(LEAST_STUCK_MS, 3 * slowest);
  return (
    <div class="live">
      {head.state === 'open' && (
        <p>
          <button type="button" aria-pressed={paused} onClick={() => onPause(!paused)} title="Space">
            {paused ? 'Go on' : 'Hold still'}
          </button>{' '}
          {paused && <span class="dim">as it was {moment(now)}; the run goes on</span>}
        </p>
      )}
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
      {message.servers && <Servers servers={message.servers} />}
      {ended && ended.rows.length > 0 && <Lately run={run} rows={ended.rows} numTurns={head.numTurns} now={now} />}
    </div>
  );
}

/** As the run's workers saw them in the last half minute. */
function Servers({ servers }: { readonly servers: readonly ServerMessage[] }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Servers">
      <table class="numbers">
        <caption>{plural(servers.length, 'server')}, as the run’s workers saw them last</caption>
        <thead>
          <tr>
            {['server', 'state', 'requests', 'in flight', 'median', 'version', 'failures', 'last failure'].map(
              (name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {servers.map((server) => (
            <tr key={server.url} class={server.state === 'up' ? undefined : 'stuck'}>
              <th scope="row">{server.url}</th>
              <td>{server.state}</td>
              <td>{count(server.requests)}</td>
              <td>{count(server.inFlight)}</td>
              <td>{server.medianMs === null ? '–' : duration(server.medianMs)}</td>
              <td>{server.version === '' ? '–' : server.version}</td>
              <td>{count(server.failures)}</td>
              <td>{server.lastFailure}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface LatelyProps {
  readonly run: string;
  readonly rows: readonly Row[];
  readonly numTurns: number;
  readonly now: number;
}

/** The rollouts that ended last, the newest first. */
function Lately({ run, rows, numTurns, now }: LatelyProps): JSX.Element {
  return (
    <table class="numbers flight">
      <caption>Ended last</caption>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.query} ${row.sample} ${row.attempt}`}>
            <th scope="row">
              <a href={rolloutHref(run, row, ENDED)}>{row.query}</a>
              {row.sample > 0 && <span class="dim"> sample {row.sample}</span>}
            </th>
            <td>
              <Strip row={row} total={numTurns} />
            </td>
            <td>
              <State state={row.state} reason={row.reason} />
            </td>
            <td>{row.endedAt === null ? '' : ago(row.endedAt, now)}</td>
          </tr>
        ))}
      </tbody>
    </table>
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
