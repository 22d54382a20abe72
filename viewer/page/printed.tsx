// A report on paper: the overview, then the rollouts that are in it with everything unfolded, at most so many.

import type { JSX } from 'preact';
import type { RolloutMessage } from '../model/messages.ts';
import { type Compared, PART, type ReportData, type ReportRun } from '../model/report-data.ts';
import { rowKey } from '../model/row.ts';
import { Asked } from './asked.tsx';
import { Comparison } from './compare-page.tsx';
import { count } from './format.ts';
import { Left } from './left.tsx';
import { Overview } from './overview.tsx';
import { Which } from './parts.tsx';
import { ReadingContext } from './rich-text.tsx';
import { RunHead } from './run-head.tsx';
import { Turn } from './turn.tsx';

/** Of each run. */
const MOST = 50;

export function Printed({ data }: { readonly data: ReportData }): JSX.Element {
  const { index, parts } = data;
  const compared = parts[PART.compared] as Compared | undefined;
  return (
    <ReadingContext.Provider value="paper">
      <Left left={index.left} />
      {compared && <Comparison message={compared.all} />}
      {index.heads.map(({ run }, i) => (
        <PrintedRun key={run} data={data} i={i} />
      ))}
    </ReadingContext.Provider>
  );
}

function PrintedRun({ data: { parts }, i }: { readonly data: ReportData; readonly i: number }): JSX.Element {
  const { run, whole } = parts[PART.run(i)] as ReportRun;
  const rollouts = whole.slice(0, MOST).map((_, n) => parts[PART.rollout(i, n)] as RolloutMessage);
  return (
    <>
      <RunHead message={run} />
      <Overview message={run} />
      {whole.length > MOST && (
        <p class="dim">
          {count(MOST)} of {count(whole.length)} rollouts are printed.
        </p>
      )}
      {rollouts.map((rollout) => (
        <article class="rollout" key={rowKey(rollout.row)}>
          <h2>
            {rollout.query.queryId} <Which of={rollout.row} />
          </h2>
          <Asked query={rollout.query} />
          {rollout.turns.map((turn) => (
            <Turn key={turn.record.turn} route={null} message={rollout} turn={turn} expanded={true} />
          ))}
        </article>
      ))}
    </>
  );
}
