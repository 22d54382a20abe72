// What a recording is made with: a real server and worker; a model, a judge and a store that do as a scenario says. Played where its file is not there yet.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { test } from 'vitest';
import { closedRollouts } from '../../client/temporal/runs.ts';
import type { ProgramRecord } from '../../domain/agent/program.ts';
import type { Environment, EnvironmentCall, Environments, Move } from '../../environments/environment.ts';
import { createEnvironments } from '../../environments/index.ts';
import { queueEnvironment } from '../../environments/own/queue.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { Store } from '../../records/store.ts';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import { parseSettings } from '../../run/config.ts';
import type { CollectionInput, RolloutInput } from '../../domain/run/messages.ts';
import { openRig, type Rig } from '../support/rig.ts';
import { scriptedBackend } from '../support/scripted-model.ts';
import type { ToolRecord, ToolSettings } from '../../domain/tools/tool.ts';
import { createTools } from '../../environments/tools/index.ts';
import type { ToolCall, Tools } from '../../environments/tools/tool.ts';
import { withTools } from '../support/tool-chat.ts';
import { isRecorded, keepHistory } from './history-file.ts';
import { type AgentScript, scriptedAgents } from './scripted-agents.ts';

/** The folder of new histories: Everturn's version; with a patch since, `0.1.0+` and its name. */
export const RELEASE = '0.1.0';
export const RIGHT = '\\boxed{4}';
export const WRONG = '\\boxed{5}';
/** The run of all rollouts that are recorded one by one. */
const RUN = 'recorded';

type Step = 'open' | 'generate' | 'judge' | 'finish' | 'settle';

/** Where an activity stands, before it does its work. */
export interface Reached {
  readonly step: Step;
  /** Empty for a step of a whole run. */
  readonly query: string;
  /** Of a generation; 0 for other steps. */
  readonly turn: number;
  /** How often this very place was reached. */
  readonly tries: number;
}

export interface Scenario {
  /** What the model says; default right. Throwing refuses. */
  readonly answer?: (at: Reached) => string | Promise<string>;
  /** What the agent's program does with its calls; returns what it says last. */
  readonly agent?: AgentScript;
  /** Called at each step; what it throws, the step throws. */
  readonly at?: (at: Reached, handle: WorkflowHandle) => unknown;
}

export interface Recorder {
  /** The rig, once `open` is done. */
  rig(): Rig;
  open(): Promise<void>;
  close(): Promise<void>;
  /** Plays one rollout, whose query is the name, and keeps its history. */
  rollout(name: string, input: Partial<RolloutInput>, scenario?: Scenario): void;
  /** What the parts do in a run; for one that is no file's name. */
  script(run: string, scenario: Scenario): void;
  /** Plays what it is, and keeps the history of the workflow that comes back. */
  scenario(name: string, scenario: Scenario, play: () => Promise<{ workflowId: string; runId?: string }>): void;
  start(workflow: 'rollout', workflowId: string, input: Partial<RolloutInput>): Promise<WorkflowHandle>;
  start(workflow: 'collection', workflowId: string, input: Partial<CollectionInput>): Promise<WorkflowHandle>;
  /** Path of a data set of the questions q0, q1, … */
  dataset(name: string, queries: number): string;
}

export function recorder(): Recorder {
  const scenarios = new Map<string, Scenario>();
  const tries = new Map<string, number>();
  let opened: Rig | undefined;
  const rig = () => opened!;

  async function reach(step: Reached['step'], run: string, query = '', turn = 0): Promise<Reached> {
    const key = [step, run, query, turn].join(' ');
    tries.set(key, (tries.get(key) ?? 0) + 1);
    const at = { step, query, turn, tries: tries.get(key)! };
    const workflowId = run === RUN ? `${run}/${query}/0` : run;
    await scenarios.get(run === RUN ? query : run)?.at?.(at, rig().client.workflow.getHandle(workflowId));
    return at;
  }

  const self: Recorder = {
    rig,
    async open() {
      opened = await openRig({ answer: () => RIGHT }, parts(scenarios, reach, rig));
      await opened.startWorker({ slots: 400 });
    },
    close: () => rig().close(),
    script: (run, scenario) => void scenarios.set(run, scenario),
    scenario(name, scenario, play) {
      // oxlint-disable-next-line vitest/valid-title -- the title is the file's name
      test.skipIf(isRecorded(name)).concurrent(name, { timeout: 600_000 }, async () => {
        scenarios.set(name, scenario);
        const { workflowId, runId } = await play();
        keepHistory(RELEASE, name, await rig().client.workflow.getHandle(workflowId, runId).fetchHistory());
      });
    },
    async start(workflow: string, workflowId: string, input: object) {
      const args = [{ out: rig().out, ...input }];
      return rig().client.workflow.start(workflow, { workflowId, taskQueue: 'everturn', args });
    },
    rollout(name, { row, ...input }, scenario = {}) {
      self.scenario(name, scenario, async () => {
        const full = { query_id: name, question: 'What is 2 + 2?', answer: '4', ...row };
        const handle = await self.start('rollout', `${RUN}/${name}/0`, { run: RUN, row: full, ...input });
        await handle.result().catch(() => {});
        return handle;
      });
    },
    dataset(name, queries) {
      const path = join(rig().out, `${name}.jsonl`);
      const rows = Array.from({ length: queries }, (_, i) => ({
        id: `q${i}`,
        question: 'What is 2 + 2?',
        answer: '4',
      }));
      writeFileSync(path, rows.map((row) => JSON.stringify(row)).join('\n'));
      return path;
    },
  };
  return self;
}

type Reach = (step: Reached['step'], run: string, query?: string, turn?: number) => Promise<Reached>;

/** Model, judge and store, each asking the scenario before it does its work. */
function parts(scenarios: ReadonlyMap<string, Scenario>, reach: Reach, rig: () => Rig) {
  const of = (run: string, query: string) => scenarios.get(run === RUN ? query : run);
  const judges = createEnvironments(
    {},
    {
      open: (record) => queueEnvironment(record),
      close: async () => {},
    },
  );
  const model = scriptedBackend({
    contextLength: 900,
    async answer({ requestId }) {
      const [run, query, , turn] = requestId.split('/') as [string, string, string, string];
      const at = await reach('generate', run, query, Number(turn));
      return of(run, query)?.answer?.(at) ?? RIGHT;
    },
  });
  return {
    backend: async () => withTools(model),
    tools: scriptedTools(),
    agents: scriptedAgents((query) => scenarios.get(query)?.agent),
    parseSettings: (run: string, { environments, tools, program, ...given }: Readonly<Record<string, unknown>>) => ({
      ...parseSettings(run, given),
      ...(environments === undefined ? {} : { environments: environments as readonly EnvironmentRecord[] }),
      ...(tools === undefined ? {} : { tools: tools as ToolSettings }),
      ...(program === undefined ? {} : { program: program as ProgramRecord }),
    }),
    closedRollouts: async (run: string, ids: readonly string[]) => {
      await reach('settle', run);
      return closedRollouts(rig().client, run, ids);
    },
    environments: {
      of(...rollout: Parameters<Environments['of']>): Environment {
        const environment = judges.of(...rollout);
        return {
          ...environment,
          respond: async (move: Move, call: EnvironmentCall) => {
            const { queryId } = move.rollout.query;
            if (scenarios.has(queryId)) await reach('judge', RUN, queryId);
            return environment.respond(move, call);
          },
        };
      },
      close: judges.close,
    },
    openStore(out: string, run: string): Store {
      const store = openFileStore(out, run);
      return {
        ...store,
        putRollout: async (id, record) => (await reach('open', run, id.query), store.putRollout(id, record)),
        putEnd: async (id, record) => (await reach('finish', run, id.query), store.putEnd(id, record)),
      };
    },
  };
}

const tool = (name: string, effect: ToolRecord['effect'], door: ToolRecord['door']): ToolRecord => ({
  name,
  description: '',
  parameters: {},
  effect,
  timeoutSeconds: 10,
  door,
  spec: ['tool'],
  fingerprint: 'b'.repeat(64),
});

export const TOOLS: ToolSettings = {
  format: 'hermes',
  list: [tool('look', 'pure', 'module'), tool('run', 'pure', 'python'), tool('send', 'once', 'module')],
  maxCalls: 4,
  outputBytes: 1000,
};

function scriptedTools(): Tools {
  const door = {
    async call({ name }: ToolRecord, { before }: ToolCall) {
      await before();
      return { text: `${name} done`, outcome: 'ok' as const };
    },
    close: () => undefined,
  };
  return createTools({ python: door, module: door });
}

/** Asks for something without waiting for its answer: inside a step that would wait for the step itself. */
export async function send(handle: WorkflowHandle, what: 'pause' | 'resume' | 'stop' | 'cancel'): Promise<void> {
  if (what === 'cancel') await handle.cancel();
  else handle.executeUpdate(what).catch(() => {});
  await sleep(300);
}
