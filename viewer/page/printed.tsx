// A report on paper: the overview, then the rollouts that are in it with everything unfolded, at most so many.

import type { JSX } from 'preact';
import { questionOf } from '../../domain/run/query.ts';
import type { RolloutMessage } from '../model/messages.ts';
import type { ReportData, ReportRun } from '../model/report-data.ts';
import { rowKey } from '../model/row.ts';
import { Comparison } from './compare-page.tsx';
import { count } from './format.ts';
import { Left } from './left.tsx';
import { Overview } from './overview.tsx';
import { RunHead } from './run-head.tsx';
import { Turn, plain } from './turn.tsx';

/** Of each run. */
const MOST = 50;

export function Printed({ data: { index, runs, rollouts, compared } }: { readonly data: ReportData }): JSX.Element {
  return (
    <>
      <Left left={index.left} />
      {compared && <Comparison message={compared.all} />}
      {runs.map((run, i) => (
        <PrintedRun key={run.run.head.run} run={run} rollouts={rollouts[i]!} />
      ))}
    </>
  );
}

interface RunProps {
  readonly run: ReportRun;
  readonly rollouts: readonly RolloutMessage[];
}

function PrintedRun({ run: { run }, rollouts }: RunProps): JSX.Element {
  return (
    <>
      <RunHead message={run} />
      <Overview message={run} />
      {rollouts.length > MOST && (
        <p class="dim">
          {count(MOST)} of {count(rollouts.length)} rollouts are printed.
        </p>
      )}
      {rollouts.slice(0, MOST).map((rollout) => (
        <article class="rollout" key={rowKey(rollout.row)}>
          <h2>
            {rollout.query.queryId} {rollout.row.sample > 0 && `sample ${rollout.row.sample}`}
          </h2>
          <p class="asked">{plain(questionOf(rollout.query)).trim()}</p>
          <p class="expected">expected {rollout.query.solutions.map((text) => plain(text.trim())).join('  or  ')}</p>
          {rollout.turns.map((turn) => (
            <Turn key={turn.record.turn} route={null} message={rollout} turn={turn} expanded={true} />
          ))}
        </article>
      ))}
    </>
  );
}
