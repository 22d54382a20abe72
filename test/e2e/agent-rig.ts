// The command line on the local service, with rows and a model server that counts what it is asked: for runs of agents.

import { join } from 'node:path';
import { expect } from 'vitest';
import { type HostileModel, startHostileModel } from '../chaos/model.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

export interface AgentRig {
  readonly everturn: Everturn;
  readonly model: HostileModel;
  /** The words of a run. */
  run(name: string, agent: string, ...more: string[]): string[];
  /** What the model was asked, each with whether its record was there. */
  asks(): { readonly key: string; readonly known?: boolean }[];
  /** Plays one rollout that has to fail by that reason; what `why` says of it. */
  failing(reason: string, agent: string, ...flags: string[]): Promise<string>;
  close(): Promise<void>;
}

export async function openAgentRig(rows: number, latencyMs: number, says?: readonly string[]): Promise<AgentRig> {
  const everturn = openEverturn();
  const runs = join(everturn.folder, 'runs');
  const model = await startHostileModel(everturn.folder, { kind: 'sglang', latencyMs, seed: 1, runs }, says);
  const row = (i: number) => ({ id: `q${i}`, question: `What is ${i}?`, answer: `${i % 10}` });
  everturn.write(
    'rows.jsonl',
    Array.from({ length: rows }, (_, i) => row(i)),
  );
  const run: AgentRig['run'] = (name, agent, ...more) => [
    ...['run', 'rows.jsonl', '--name', name, '--agent', agent, '--model', model.spec, '--tokenizer', TINY_FOLDER],
    ...['--temperature', '0', '--recheck-every', '0', ...more],
  ];
  return {
    everturn,
    model,
    run,
    asks: () => model.asks().filter(({ event }) => event === 'ask'),
    async failing(reason, agent, ...flags) {
      const ended = await everturn.call(...run(reason, agent, '--limit', '1', ...flags));
      expect(ended.code, ended.stderr).toBe(3);
      await everturn.mustCall('check', reason);
      const why = await everturn.mustCall('why', reason, 'q0');
      expect(why).toContain(reason);
      return why;
    },
    async close() {
      await everturn.close();
      await model.stop();
    },
  };
}
