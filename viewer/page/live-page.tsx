// The rollouts in flight, the longest waiting first, from their files alone: which turn is being answered or judged, how
// much of it is stored, and for how long nothing new was. Leaves out what only Temporal knows: `everturn why` has that.

import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { ServerStatus } from '../../domain/run/server-status.ts';
import type { RunMessage, RunHead } from '../model/messages.ts';
import { type Row, rowKey } from '../model/row.ts';
import { ago, count, duration, moment, orNone, plural, roughly } from './format.ts';
import { type Column, Loading, Notice, State, Strip, Table, Which } from './parts.tsx';
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
  const { head, newsAt, now, summary, servers } = message;
  // While it is paused the key stays, and nothing is asked for.
  const revision = useRef(message.progress.revision);
  if (!paused) revision.current = message.progress.revision;
  const key = (list: string) => JSON.stringify(['live', list, run, revision.current]);
  const { message: found, error } = useMessage(key('open'), () => source.rows(run, LIST, 0, SHOWN));
  const { message: ended } = useMessage(key('ended'), () => source.rows(run, ENDED, 0, LATELY));
  const slowest = Math.max(0, ...summary.turns.map(({ ms }) => ms.p99 ?? 0));
  const stuckMs = Math.max(LEAST_STUCK_MS, 3 * slowest);
  const waited = ({ doing }: Row) => (doing ? Math.max(0, now - doing.since) : 0);
  const columns = (list: typeof LIST): Column<Row>[] => [
    {
      name: 'rollout',
      cell: (row) => (
        <>
          <a href={rolloutHref(run, row, list)}>{row.query}</a>
          <Which of={row} />
        </>
      ),
    },
    { name: 'turns', cell: (row) => <Strip values={row.success} total={head.numTurns} /> },
  ];
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
          The last record is {roughly(now - newsAt)} old. <code>everturn status {run}</code> says whether a worker is
          up.
        </Notice>
      )}
      {!found ? (
        <Loading error={error} />
      ) : found.rows.length === 0 ? (
        <p class="dim empty">No rollout is in flight.</p>
      ) : (
        <Table
          label="Rollouts in flight"
          kind="flight"
          caption={`${plural(found.count, 'rollout')} in flight, the longest waiting first${
            found.count > SHOWN ? `, ${count(SHOWN)} of them` : ''
          }`}
          rows={found.rows}
          keyOf={rowKey}
          kindOf={(row) => (waited(row) > stuckMs ? 'stuck' : undefined)}
          columns={[
            ...columns(LIST),
            { name: 'step', cell: (row) => stepOf(row, head) },
            {
              name: 'nothing new for',
              cell: (row) => (
                <>
                  {duration(waited(row))}
                  {waited(row) > stuckMs && <b> slow</b>}
                </>
              ),
            },
          ]}
        />
      )}
      {servers && (
        <Table
          label="Servers"
          caption={`${plural(servers.length, 'server')}, as the run’s workers saw them last`}
          rows={servers}
          keyOf={({ url }) => url}
          kindOf={({ state }) => (state === 'up' ? undefined : 'stuck')}
          columns={[
            { name: 'server', cell: ({ url }) => url },
            { name: 'state', cell: ({ state }) => state },
            { name: 'requests', cell: ({ requests }) => count(requests) },
            { name: 'in flight', cell: ({ inFlight }) => count(inFlight) },
            { name: 'median', cell: ({ latencyP50Ms }) => orNone(latencyP50Ms, duration) },
            { name: 'version', cell: versionOf },
            { name: 'failures', cell: ({ failures }) => count(failures) },
            { name: 'last failure', cell: ({ lastFailure }) => lastFailure },
          ]}
        />
      )}
      {ended && ended.rows.length > 0 && (
        <Table
          label="Rollouts that ended last"
          kind="flight"
          caption="Ended last"
          rows={ended.rows}
          keyOf={rowKey}
          columns={[
            ...columns(ENDED),
            { name: 'outcome', cell: ({ state, reason }) => <State state={state} reason={reason} /> },
            { name: 'ended', cell: ({ endedAt }) => orNone(endedAt, (at) => ago(at, now)) },
          ]}
        />
      )}
    </div>
  );
}

const versionOf = ({ version, versionLabel, fellFrom }: ServerStatus): string =>
  `${versionLabel ?? version ?? '–'}${fellFrom === null ? '' : `, was ${fellFrom}`}`;

function stepOf({ doing }: Row, { numTurns, isAgents }: RunHead): string {
  if (!doing) return '';
  // Its calls are judged when its program has ended, and not one by one.
  if (isAgents) return `${plural(doing.what === 'judge' ? doing.turn : doing.turn - 1, 'call')} so far`;
  if (doing.what === 'judge') return `judging turn ${doing.turn}`;
  if (doing.turn > numTurns) return 'ending';
  return `answering turn ${doing.turn}${doing.chunks > 0 ? `, ${plural(doing.chunks, 'chunk')} stored` : ''}`;
}
