// Feeds on a rig of their own, as a trainer and a test see them: a scripted model, a real worker, and the Updates.

import { setTimeout as sleep } from 'node:timers/promises';
import type { FeedProgress, GrantedLease, LeaseResult } from '../../domain/feed/messages.ts';
import { feedWorkflowId } from '../../domain/names/ids.ts';
import { eachNumber } from '../../domain/feed/number-set.ts';
import type { GenerateRequest } from '../../inference/backend.ts';
import { openFileStore } from '../../records/file-store.ts';
import { type Made, makeFeedRun } from './feed-run.ts';
import { openRig } from './rig.ts';
import { breachesOf } from '../records/breaches.ts';

export async function openFeedRig() {
  /** Answers by run; a run that is not here is right every second time. */
  const answers = new Map<string, (request: GenerateRequest) => string | Promise<string>>();
  const rig = await openRig({
    answer(request) {
      const [run, , sample] = request.requestId.split('/');
      return answers.get(run!)?.(request) ?? `\\boxed{${Number(sample) % 2 === 0 ? 4 : 5}}`;
    },
  });
  await rig.startWorker();
  const start = (type: 'collection' | 'feed', run: string, more: object = {}) =>
    rig.client.workflow.start(type, {
      workflowId: type === 'feed' ? feedWorkflowId(run) : run,
      taskQueue: 'everturn',
      args: [{ run, out: rig.out, ...more }],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
  async function begin(run: string, made: Made = {}, more: object = {}) {
    await makeFeedRun(rig.out, run, made);
    await start('feed', run, more);
    return start('collection', run);
  }
  const ask = <T>(run: string, verb: string, given: unknown): Promise<T> =>
    rig.client.workflow
      .getHandle(feedWorkflowId(run))
      .executeUpdate<T, [unknown]>(verb, { args: [given] })
      .catch((error: unknown) => {
        // A machine too busy to end a task in time: the update was not taken.
        if ((error as { cause?: { code?: unknown } }).cause?.code !== 9) throw error;
        return ask<T>(run, verb, given);
      });
  async function lease(run: string, given: object = {}): Promise<GrantedLease> {
    for (;;) {
      const { lease: granted } = await ask<LeaseResult>(run, 'lease', { consumer: 't', groups: 2, wait: 30, ...given });
      if (granted) return granted;
    }
  }
  const progress = (run: string) => rig.client.workflow.getHandle(feedWorkflowId(run)).query<FeedProgress>('progress');
  async function until(run: string, holds: (p: FeedProgress) => boolean): Promise<FeedProgress> {
    for (;;) {
      const p = await progress(run);
      if (p && holds(p)) return p;
      await sleep(50);
    }
  }
  async function refused(work: Promise<unknown>): Promise<string> {
    const error = (await work.then(
      () => undefined,
      (e: unknown) => e,
    )) as { cause?: { type?: string } } | undefined;
    return error === undefined ? 'accepted' : String(error.cause?.type ?? error);
  }
  const numbers = (granted: GrantedLease) => [...eachNumber(granted.groups)];
  const breaches = (run: string) => breachesOf(openFileStore(rig.out, run));
  return { rig, answers, start, begin, ask, lease, progress, until, refused, numbers, breaches };
}
