// npm run simulate -- [--runs N] [--first SEED]   plays seeds; fails on a breach or a gap
//                     --seed SEED                 plays one, and prints all that happens

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { play } from './play.ts';
import { openSandbox } from './sandbox.ts';
import { gaps, playShare } from './share.ts';

const OPTIONS = {
  seed: { type: 'string' },
  runs: { type: 'string', default: '100000' },
  first: { type: 'string', default: '1' },
  table: { type: 'boolean' },
} as const;

/** The exit code. */
export async function main(root: string, args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS });
  if (values.seed !== undefined) return repeat(root, Number(values.seed));
  const first = Number(values.first);
  const last = first + Number(values.runs) - 1;
  return simulate(root, first, last, values.table === true);
}

/** What holds no state of a workflow is loaded once for all of them: a new one takes half the time. */
async function bundled(root: string): Promise<string> {
  const domain = readdirSync(join(root, 'domain'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(root, 'domain', name));
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(root, 'workflows/index.ts'),
    payloadConverterPath: join(root, 'workflows/payloads.ts'),
    preloadModules: ['@temporalio/workflow', '@temporalio/common', ...domain],
    logger: new DefaultLogger('WARN'),
  });
  return code;
}

async function repeat(root: string, seed: number): Promise<number> {
  const sandbox = openSandbox(await bundled(root), '/workflow-bundle.js');
  try {
    await play(seed, sandbox, () => {}, console.log);
    console.log(`seed ${seed} keeps every promise`);
    return 0;
  } catch (error) {
    console.log(`seed ${seed}: ${(error as Error).message}`);
    return 1;
  }
}

async function simulate(root: string, first: number, last: number, table: boolean): Promise<number> {
  const sandbox = openSandbox(await bundled(root), '/workflow-bundle.js');
  const begun = performance.now();
  const share = await playShare(sandbox, { first, last });
  const seconds = (performance.now() - begun) / 1000;
  const { missed, unknown } = gaps(share);
  const names = Object.keys(share.seen);
  if (table) for (const name of names.toSorted()) console.log(`${String(share.seen[name]).padStart(9)}  ${name}`);
  for (const { seed, message } of share.breaches)
    console.log(`npm run simulate -- --seed ${seed}\n  ${message.slice(0, 1000)}`);
  for (const name of missed) console.log(`never reached: ${name}`);
  for (const name of unknown) console.log(`not in the table: ${name}`);
  console.log(
    `${share.runs} runs in ${seconds.toFixed(0)} s, ${share.moments} moments: ${share.breaches.length} breaches; ` +
      `${names.length} transitions reached, ${missed.length} missed`,
  );
  return share.breaches.length + missed.length + unknown.length > 0 ? 1 : 0;
}
