// The feed of a run: hands out whole groups, remembers who has them, and paces the run. Guarantees: an acknowledgement,
// a version and a rewind are in the ledger before their caller is answered, and the state follows from ledger, run.json
// and rollouts alone; so this workflow may be lost at any time. History and carried state hold what is open. Leaves out
// tokens: groups are numbers (domain/samples/group.ts). docs/feed.md

import * as wf from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { type FeedInput, feedProgress, type FeedProgress } from '../domain/feed/messages.ts';
import { admittedGroups, type FeedState, isExhausted } from '../domain/feed/state.ts';
import { feedLines } from '../domain/feed/lines.ts';
import { escapeMarkdown } from '../domain/text/foreign-text.ts';
import { followGroups } from './feed-groups.ts';
import { openEvaluation, openFeed } from './feed-steps.ts';
import { openVerbs } from './feed-verbs.ts';
import { openHistoryLength } from './history-length.ts';
import { admit, collectionBegan } from './messages.ts';
import { evaluationName, evaluationsFolder } from '../domain/run/evaluation.ts';
import { lineOfVersion } from '../domain/feed/line.ts';
import { steeringPriority, TASK_QUEUE } from '../domain/names/queues.ts';
import { collection } from './collection.ts';
import { RUN_ATTRIBUTE } from './search-attributes.ts';

/** The server takes 2,000 of one execution. */
const MAX_UPDATES = 1000;
const IDLE_MS = 10 * 60_000;

export async function feed(input: FeedInput): Promise<FeedProgress> {
  const { run, out, idleMs = IDLE_MS, maxUpdates = MAX_UPDATES } = input;
  const history = openHistoryLength();
  const held: { state?: FeedState } = {};
  let changes = 0;
  const changed = () => {
    changes++;
    if (held.state) wf.setCurrentDetails(details(feedProgress(held.state)));
  };
  let evaluated = Promise.resolve();
  const evaluateNow = () => {
    const now = startEvaluation(input, held.state!);
    evaluated = evaluated.then(() => now);
  };
  // Handlers are set before the first await, so no early update is lost.
  const verbs = openVerbs({ input, stateOf: () => held.state, changed, history, onVersion: evaluateNow });
  const state = input.carried ?? (await openFeed({ run, out }));
  held.state = state;
  changed();
  // The feed before may have been lost before it began that.
  if (!input.carried) evaluateNow();

  let admittedSent = -1;
  wf.setHandler(collectionBegan, () => {
    admittedSent = -1;
    changed();
  });
  const watching = new wf.CancellationScope();
  let broken: unknown;
  watching
    .run(() => followGroups(input, state, { history, changed }))
    .catch((error: unknown) => {
      if (!wf.isCancellation(error)) broken = error;
    });
  const isFull = () => history.isFull() || verbs.updates() >= maxUpdates;
  const endAll = async () => {
    verbs.drain();
    watching.cancel();
    await wf.condition(wf.allHandlersFinished);
    await evaluated;
  };

  for (;;) {
    const seen = changes;
    if (broken !== undefined) throw broken;
    if (state.shape.batchGroups !== null && admittedGroups(state) !== admittedSent && !state.concluded) {
      admittedSent = admittedGroups(state);
      await tellCollection(run, admittedSent);
    }
    if (isFull()) {
      await endAll();
      await wf.continueAsNew<typeof feed>({ ...input, carried: state });
    }
    const woken = () => changes !== seen || broken !== undefined || isFull();
    if (!isExhausted(state)) await wf.condition(woken);
    else if (!(await wf.condition(woken, idleMs)) && isExhausted(state)) break;
  }
  await endAll();
  return feedProgress(state);
}

/** The collection is told how many groups may have begun in all. */
async function tellCollection(run: string, groups: number): Promise<void> {
  try {
    await wf.getExternalWorkflowHandle(run).signal(admit, groups);
  } catch (error) {
    // A run that has ended, or has not begun, needs no signal: it reads run.json when it begins.
    if (wf.isCancellation(error)) throw error;
  }
}

function details(progress: FeedProgress): string {
  const lines = feedLines(progress, progress, (until) => `until ${new Date(until).toISOString()}`);
  return lines.map(escapeMarkdown).join('\n\n');
}

/**
 * Starts the held-out evaluation of the version that is published, if it is due: a collection of its own, one of each version, which
 * outlives this feed. An evaluation that cannot begin holds no trainer back.
 */
async function startEvaluation({ run, out }: FeedInput, { shape, version, floors }: FeedState): Promise<void> {
  if (shape.evaluateEvery === undefined || version % shape.evaluateEvery !== 0) return;
  const line = lineOfVersion(version, floors);
  const [name, folder] = [evaluationName(run, line, version), evaluationsFolder(`${out}/${run}`)];
  try {
    const opened = await openEvaluation({ run, out, version, line });
    if (opened === null) return;
    await wf.startChild(collection, {
      workflowId: name,
      taskQueue: TASK_QUEUE,
      args: [{ run: name, out: folder, ...opened }],
      parentClosePolicy: wf.ParentClosePolicy.ABANDON,
      staticSummary: `held-out evaluation of version ${version}`,
      memo: { out: folder },
      priority: steeringPriority(name),
      typedSearchAttributes: [{ key: RUN_ATTRIBUTE, value: name }],
    });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError || wf.isCancellation(error)) return;
    wf.log.error(`version ${version} is not evaluated: ${String(error)}`);
  }
}
