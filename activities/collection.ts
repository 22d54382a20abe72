// What a collection needs from outside its workflow: the accepted queries, page by page; the ends of
// rollouts that it did not see end; and its own last word.

import { firstWords } from '../domain/foreign-text.ts';
import { Context } from '@temporalio/activity';
import { rolloutWorkflowId } from '../domain/ids.ts';
import { questionOf } from '../domain/query.ts';
import type { RolloutResult } from '../domain/rollout-result.ts';
import { StoreError } from '../domain/errors.ts';
import type { CollectionInput, CollectionResult } from '../domain/messages.ts';
import type { ActivityDeps, WorkflowClosing } from './deps.ts';
import { endedResult } from './ended-result.ts';
import { heartbeating } from './heartbeat.ts';

export interface Accepted {
  readonly queries: number;
  readonly samples: number;
  readonly numTurns: number;
}

export interface PageInput {
  readonly out: string;
  readonly run: string;
  /** Units: query index × samples + sample. */
  readonly from: number;
  readonly count: number;
  readonly samples: number;
}

export interface Unit {
  readonly unit: number;
  readonly index: number;
  readonly sample: number;
  readonly query: string;
  readonly title: string;
  /** Filled where this rollout ended before, under an earlier workflow of the same run. */
  readonly ended: RolloutResult | null;
}

export interface SettleInput {
  readonly out: string;
  readonly run: string;
  readonly rollouts: readonly { readonly unit: number; readonly query: string; readonly sample: number }[];
}

export interface Settled {
  readonly unit: number;
  readonly result: RolloutResult;
}

const POLL_MS = 1000;
const MANY = 100;
/** Asking takes a tenth of the time at most, on a busy server too, unless that were to wait for more than 5 s. */
const pollMs = (tookMs: number): number => Math.min(Math.max(POLL_MS, 9 * tookMs), 5000);

export function collectionActivities(deps: ActivityDeps) {
  const { openStore, createRun, closedRollouts } = deps;
  return {
    accept: (input: CollectionInput): Promise<Accepted> =>
      heartbeating(async () => {
        const { run, out, dataset, samples = 1, limit = null, shuffleSeed = null, settings = {} } = input;
        const store = openStore(out, run);
        if (!(await store.getRun())) {
          if (!dataset) {
            throw new StoreError(`Run "${run}" has no folder in ${out}, and no \`dataset\` was given to make one.`, {
              reason: 'no-such-run',
              fix: 'Give `dataset`: a JSON lines file that the workers can read.',
            });
          }
          await createRun({ run, out, dataset, samples, limit, shuffleSeed, settings });
        }
        const { record } = (await store.getRun())!;
        if (!record.dataset) {
          throw new StoreError(`Run "${run}" in ${out} is made of rollouts that were started one by one.`, {
            reason: 'run-without-dataset',
            fix: 'Give the collection another name.',
          });
        }
        return { queries: await store.countQueries(), samples: record.samples, numTurns: record.settings.numTurns };
      }),

    async page({ out, run, from, count, samples }: PageInput): Promise<Unit[]> {
      const store = openStore(out, run);
      const first = Math.floor(from / samples);
      const last = Math.ceil((from + count) / samples);
      const queries = await store.readQueries(first, last - first);
      const there = Math.min(from + count, (first + queries.length) * samples) - from;
      // Each is asked for at once: one after the other, each would wait for what others write meanwhile.
      const units = Array.from({ length: Math.max(0, there) }, async (_, i): Promise<Unit> => {
        const unit = from + i;
        const [index, sample] = [Math.floor(unit / samples), unit % samples];
        const query = queries[index - first]!;
        const id = { out, run, query: query.queryId, sample, attempt: 1 };
        const ended = (await endedResult(store, id)) ?? null;
        return { unit, index, sample, query: query.queryId, title: firstWords(questionOf(query), 60), ended };
      });
      if (units.length > 0) return Promise.all(units);
      throw new StoreError(`Run "${run}" has no query at index ${first} in ${store.folder}.`, {
        reason: 'queries-missing',
        fix: `It holds ${await store.countQueries()}; was queries.jsonl changed after the run began?`,
      });
    },

    /** Waits until at least one of these rollouts has ended, and says how. */
    settle: ({ out, run, rollouts }: SettleInput): Promise<Settled[]> =>
      // A busy server may take longer to answer than a heartbeat may be missing.
      heartbeating(async () => {
        const store = openStore(out, run);
        const context = Context.current();
        const byId = new Map(rollouts.map((r) => [rolloutWorkflowId({ run, ...r, attempt: 1 }), r]));
        // Each answer puts the whole rest into the history again: of many, some end in any second.
        if (rollouts.length > MANY) await context.sleep(POLL_MS);
        for (;;) {
          const askedAt = performance.now();
          const closed = await closedRollouts(run, [...byId.keys()]);
          if (closed.size > 0) {
            return Promise.all(
              [...closed].map(async ([workflowId, closing]) => {
                const { unit, query, sample } = byId.get(workflowId)!;
                const id = { out, run, query, sample, attempt: 1 };
                return { unit, result: (await endedResult(store, id)) ?? unrecorded(id, closing) };
              }),
            );
          }
          await context.sleep(pollMs(performance.now() - askedAt));
        }
      }),

    async conclude({ out, result }: { readonly out: string; readonly result: CollectionResult }): Promise<void> {
      await openStore(out, result.run).putResult(result);
    },
  };
}

/** A rollout whose workflow closed before it could record its end. */
function unrecorded(trajectory: RolloutResult['trajectory'], closing: WorkflowClosing): RolloutResult {
  const nothing = { turns: 0, rewards: [], success: [], tokens: 0, trajectory };
  if (closing === 'cancelled') return { outcome: 'cancelled', stopReason: 'cancelled', reason: null, ...nothing };
  return { outcome: 'failed', stopReason: 'failed', reason: 'terminated', boundary: 'temporal', ...nothing };
}
