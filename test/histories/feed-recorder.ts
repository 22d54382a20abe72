// Records feeds as a trainer sees them: its verbs carry the line that its last rewind began.

import type { WorkflowHandle, WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import type { FeedProgress, GrantedLease, LeaseResult } from '../../domain/feed/messages.ts';
import { feedWorkflowId } from '../../domain/run/ids.ts';
import { type Made, makeFeedRun } from '../support/feed-run.ts';
import { modelServer, type ModelServer } from '../support/model-server.ts';
import type { Recorder, Scenario } from './recorder.ts';

export interface Trainer {
  readonly run: string;
  readonly feed: WorkflowHandleWithFirstExecutionRunId;
  ask<T>(verb: string, given: object): Promise<T>;
  tried(verb: string, given: object): Promise<unknown>;
  lease(given?: object): Promise<GrantedLease>;
  progress(): Promise<FeedProgress>;
  ends(): Promise<void>;
}

export interface Given extends Made {
  readonly scenario?: Scenario;
  readonly collection?: boolean;
  readonly more?: object;
  /** Its model is a server of ours. */
  readonly fleet?: boolean;
}

export type RecordFeed = (
  name: string,
  given: Given,
  play: (trainer: Trainer) => Promise<WorkflowHandle | { workflowId: string; runId: string } | void>,
) => void;

/** `servers`: those of the fleets, to be closed at the end. */
export function feedRecorder({ rig, scenario }: Recorder, servers: ModelServer[]): RecordFeed {
  return feed;

  function feed(
    name: string,
    { scenario: parts = {}, collection = true, more = {}, fleet = false, ...made }: Given,
    play: (trainer: Trainer) => Promise<WorkflowHandle | { workflowId: string; runId: string } | void>,
  ): void {
    scenario(name, parts, async () => {
      const { out, client } = rig();
      if (fleet) servers.push(await modelServer({ kind: 'sglang' }));
      const model = fleet ? { model: `sglang:${servers.at(-1)!.url}` } : {};
      await makeFeedRun(out, name, { queries: 4, samples: 1, ...model, ...made });
      const start = (type: string, workflowId: string, input: object) =>
        client.workflow.start(type, { workflowId, taskQueue: 'everturn', args: [{ run: name, out, ...input }] });
      const feed = await start('feed', feedWorkflowId(name), { idleMs: 300, ...more });
      if (collection) await start('collection', name, {});
      // A history that continued as new is another one of the same workflow.
      const latest = client.workflow.getHandle(feedWorkflowId(name));
      const send = <T>(verb: string, given: object): Promise<T> =>
        latest.executeUpdate<T, [object]>(verb, { args: [given] }).catch((error: unknown) => {
          // A machine too busy to end a task in time: the update was not taken.
          if ((error as { cause?: { code?: unknown } }).cause?.code !== 9) throw error;
          return send<T>(verb, given);
        });
      let line: number | undefined;
      const ask = async <T>(verb: string, given: object): Promise<T> => {
        const carries = line !== undefined && (verb === 'lease' || verb === 'version');
        const answer = await send<T>(verb, carries ? { line, ...given } : given);
        if (verb === 'rewind') ({ line } = answer as { line: number });
        return answer;
      };
      const trainer: Trainer = {
        run: name,
        feed,
        ask,
        tried: (verb, given) => ask(verb, given).catch(() => undefined),
        async lease(given = {}) {
          for (;;) {
            const { lease } = await ask<LeaseResult>('lease', { consumer: 't', groups: 2, wait: 20, ...given });
            if (lease) return lease;
          }
        },
        progress: () => latest.query<FeedProgress>('progress'),
        ends: async () => void (await latest.result().catch(() => {})),
      };
      const kept = await play(trainer);
      return kept ?? { workflowId: feed.workflowId, runId: feed.firstExecutionRunId };
    });
  }
}

export async function step(trainer: Trainer, version: number): Promise<void> {
  const { id } = await trainer.lease();
  await trainer.ask('acknowledge', { lease: id, version });
}

export async function train(trainer: Trainer, from: number, to: number): Promise<void> {
  for (let version = from; version <= to; version++) {
    await step(trainer, version);
    await trainer.ask('version', { version });
  }
}
