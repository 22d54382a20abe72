// The feed of a run: hands out whole groups, remembers who has them, and paces the run. Guarantees: an acknowledgement,
// a version and a rewind are in the ledger before their caller is answered, and the state follows from ledger, run.json
// and rollouts alone; so this workflow may be lost at any time. History and carried state hold what is open. Leaves out
// tokens: groups are numbers (domain/samples/group.ts). docs/feed.md

import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  setCurrentDetails,
  setHandler,
  startChild,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { MemberToStart } from '../activities/groups.ts';
import { type FeedInput, feedProgress, type FeedProgress } from '../domain/feed/messages.ts';
import { admitted, type FeedState, groupsEnded, isExhausted, nothingToCome } from '../domain/feed/state.ts';
import { feedLines } from '../domain/feed/lines.ts';
import { rolloutWorkflowId } from '../domain/names/ids.ts';
import { sizeOf } from '../domain/feed/number-set.ts';
import { runPriority, TASK_QUEUE } from '../domain/names/queues.ts';
import { escapeMarkdown } from '../domain/text/foreign-text.ts';
import { evaluate } from './feed-evaluation.ts';
import { openFeed, watchGroups } from './feed-steps.ts';
import { openVerbs } from './feed-verbs.ts';
import { openHistoryLength } from './history-length.ts';
import { admit, collectionBegan } from './messages.ts';
import { rollout } from './rollout.ts';
import { QUERY, RUN } from './search-attributes.ts';

/** The server takes 2,000 of one execution. */
const MAX_UPDATES = 1000;
/** With so many ready, no more are looked for. */
const ENOUGH_READY = 10_000;
const IDLE_MS = 10 * 60_000;

export async function feed(input: FeedInput): Promise<FeedProgress> {
  const { run, out, idleMs: patienceMs = IDLE_MS } = input;
  const history = openHistoryLength();
  const held: { state?: FeedState } = {};
  let changes = 0;
  const changed = () => {
    changes++;
    if (held.state) setCurrentDetails(details(feedProgress(held.state)));
  };
  let evaluated = Promise.resolve();
  const evaluateNow = () => {
    const now = evaluate(input, held.state!);
    evaluated = evaluated.then(() => now);
  };
  // Handlers are set before the first await, so no early update is lost.
  const verbs = openVerbs(input, () => held.state, changed, history, evaluateNow);
  const state = input.carried ?? (await openFeed({ run, out }));
  held.state = state;
  changed();
  // The feed before may have been lost before it began that.
  if (!input.carried) evaluateNow();

  let sent = -1;
  setHandler(collectionBegan, () => {
    sent = -1;
    changed();
  });
  const watching = new CancellationScope();
  let broken: unknown;
  watching
    .run(() => watch(state))
    .catch((error: unknown) => {
      if (!isCancellation(error)) broken = error;
    });

  for (;;) {
    const seen = changes;
    if (broken !== undefined) throw broken;
    if (state.shape.batchGroups !== null && admitted(state) !== sent && !state.concluded) {
      sent = admitted(state);
      await tellCollection(sent);
    }
    if (isFull()) {
      verbs.drain();
      watching.cancel();
      await condition(allHandlersFinished);
      await evaluated;
      await continueAsNew<typeof feed>({ ...input, carried: state });
    }
    const woken = () => changes !== seen || broken !== undefined || isFull();
    if (!isExhausted(state)) await condition(woken);
    else if (!(await condition(woken, patienceMs)) && isExhausted(state)) break;
  }
  verbs.drain();
  watching.cancel();
  await condition(allHandlersFinished);
  await evaluated;
  return feedProgress(state);

  function isFull(): boolean {
    return history.isFull() || verbs.updates() >= (input.maxUpdates ?? MAX_UPDATES);
  }

  async function tellCollection(groups: number): Promise<void> {
    try {
      await getExternalWorkflowHandle(run).signal(admit, groups);
    } catch (error) {
      // A run that has ended, or has not begun, needs no signal: it reads run.json when it begins.
      if (isCancellation(error)) throw error;
    }
  }

  async function watch(s: FeedState): Promise<void> {
    while (!nothingToCome(s)) {
      await condition(() => sizeOf(s.ready) < ENOUGH_READY);
      const { shape, playing, next, restarts } = s;
      history.did();
      const found = await watchGroups({ run, out, shape, playing, next, restarts });
      groupsEnded(s, found.ended, found.concluded);
      for (const member of found.start) await startMember(s, member);
      changed();
    }
  }

  async function startMember(s: FeedState, { group, index, query, sample, attempt }: MemberToStart): Promise<void> {
    const key = `${group}/${sample}`;
    history.did();
    s.restarts[key] = (s.restarts[key] ?? 0) + 1;
    try {
      await startChild(rollout, {
        workflowId: rolloutWorkflowId({ run, query, sample, attempt }),
        taskQueue: TASK_QUEUE,
        args: [{ run, out, index, sample, attempt }],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        staticSummary: `group ${group}: try ${attempt} of sample ${sample}`,
        priority: runPriority(run),
        typedSearchAttributes: [
          { key: RUN, value: run },
          { key: QUERY, value: query },
        ],
      });
    } catch (error) {
      // It is being played: its records will say how it ended.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }
}

function details(progress: FeedProgress): string {
  const lines = feedLines(progress, progress, (until) => `until ${new Date(until).toISOString()}`);
  return lines.map(escapeMarkdown).join('\n\n');
}
