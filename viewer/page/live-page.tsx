// The rollouts in flight, the longest waiting first, from their files alone: which turn is being answered or judged, how
// much of it is stored, and for how long nothing new was. Leaves out what only Temporal knows: `everturn why` has that.

import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { ServerStatus } from '../../domain/run/server-status.ts';
import type { Page, RunHead, RunMessage } from '../model/messages.ts';
import { type Row, rowKey } from '../model/row.ts';
import { ago, count, duration, moment, orNone, plural, roughly } from './format.ts';
import { type Column, Loading, Notice, State, Strip, Table, Which } from './parts.tsx';
import { rolloutHref } from './route.ts';
import { type Source, useMessage } from './source.ts';

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
  const { head, newsAt, now, servers } = message;
  // While it is paused the key stays, and nothing is asked for.
  const revision = useRef(message.progress.revision);
  if (!paused) revision.current = message.progress.revision;
  const key = (list: string) => JSON.stringify(['live', list, run, revision.current]);
  const { message: inFlight, error } = useMessage(key('open'), () => source.rows(run, LIST, 0, SHOWN));
  const { message: ended } = useMessage(key('ended'), () => source.rows(run, ENDED, 0, LATELY));
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
      {inFlight ? <InFlight page={inFlight} message={message} /> : <Loading error={error} />}
      {servers && <Servers servers={servers} />}
      {ended && ended.rows.length > 0 && <EndedLast rows={ended.rows} message={message} />}
    </div>
  );
}

interface ListProps {
  readonly message: RunMessage;
}

function InFlight({ page, message }: ListProps & { readonly page: Page<Row> }): JSX.Element {
  const { head, now, summary } = message;
  const slowest = Math.max(0, ...summary.turns.map(({ ms }) => ms.p99 ?? 0));
  const stuckMs = Math.max(LEAST_STUCK_MS, 3 * slowest);
  const waitedMs = ({ doing }: Row) => (doing ? Math.max(0, now - doing.since) : 0);
  if (page.rows.length === 0) return <p class="dim empty">No rollout is in flight.</p>;
  return (
    <Table
      label="Rollouts in flight"
      kind="flight"
      caption={`${plural(page.count, 'rollout')} in flight, the longest waiting first${
        page.count > SHOWN ? `, ${count(SHOWN)} of them` : ''
      }`}
      rows={page.rows}
      keyOf={rowKey}
      kindOf={(row) => (waitedMs(row) > stuckMs ? 'stuck' : undefined)}
      columns={[
        ...rolloutColumns(head, LIST),
        { name: 'step', cell: (row) => stepOf(row, head) },
        {
          name: 'nothing new for',
          cell: (row) => (
            <>
              {duration(waitedMs(row))}
              {waitedMs(row) > stuckMs && <b> slow</b>}
            </>
          ),
        },
      ]}
    />
  );
}

function Servers({ servers }: { readonly servers: readonly ServerStatus[] }): JSX.Element {
  return (
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
  );
}

function EndedLast({ rows, message: { head, now } }: ListProps & { readonly rows: readonly Row[] }): JSX.Element {
  return (
    <Table
      label="Rollouts that ended last"
      kind="flight"
      caption="Ended last"
      rows={rows}
      keyOf={rowKey}
      columns={[
        ...rolloutColumns(head, ENDED),
        { name: 'outcome', cell: ({ state, reason }) => <State state={state} reason={reason} /> },
        { name: 'ended', cell: ({ endedAt }) => orNone(endedAt, (at) => ago(at, now)) },
      ]}
    />
  );
}

const rolloutColumns = ({ run, numTurns }: RunHead, list: typeof LIST): Column<Row>[] => [
  {
    name: 'rollout',
    cell: (row) => (
      <>
        <a href={rolloutHref(run, row, list)}>{row.query}</a>
        <Which of={row} />
      </>
    ),
  },
  { name: 'turns', cell: (row) => <Strip values={row.success} total={numTurns} /> },
];

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
