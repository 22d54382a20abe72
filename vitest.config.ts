// How the tests run, in projects by what they need. `near`: nothing but this process; `parts`: child processes, the
// shipped model, a sandbox; `temporal`: a real server, started once; `chaos`: the same and kills. test/README.md.
// `servers` (real SGLang and vLLM), `tools` (their parsers; environments of OpenEnv and verifiers), `bucket` (a real S3
// server), `cluster` (Temporal on PostgreSQL), `trainers` (consumers of exports), `agents` (clients of the endpoint) and
// `record` (histories) run only when asked for.

import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Commands under test name others as in an installation, also where npm started the tests.
delete process.env['npm_command'];

const TEMPORAL = [
  'test/{e2e,workflows,local/service,security,simulation}/**/*.test.ts',
  'test/cli/{bad-input,status}.test.ts',
];
const PARTS = [
  'test/local/machine/*.test.ts',
  'test/environments/{code-judge,code-sandbox,code-still,environments,own-command,own-docs,own-doors,own-held,own-kills,own-limits,pool,repeated,under-load,workspace}.test.ts',
  'test/environments/{bigreals,math-broken,math-generated,one-solution}.test.ts',
  'test/inference/{bad-models,embedded-weights,fleet,freed-models,fleet-versions,model-process,run-model,tiny,weight-update}.test.ts',
  'test/inference/server-*.test.ts',
  'test/formats/exports/{everturn-rows,read-samples,sample-id-python}.test.ts',
  'test/python/*.test.ts',
  'test/cli/model.test.ts',
  'test/house/imports.test.ts',
  'test/viewer/browser-*.test.ts',
  // A process now and then, or many seconds.
  'test/activities/{algorithm,heartbeat}.test.ts',
  'test/cli/{doctor,dry-run,exit,export,format,judge,odd-runs,reading-threads,streams,update-weights,verdict,view}.test.ts',
  'test/endpoint/{large-bodies,last-line}.test.ts',
  'test/environments/code-stack.test.ts',
  'test/inference/{malformed-replies,model-identity}.test.ts',
  'test/records/check/{calls,check,played-runs}.test.ts',
  // They wait.
  'test/{cli/follow,inference/{identity-asked,recheck},client/connect,client/await-cluster,client/open-rollouts,client/unseen}.test.ts',
  'test/{records/{bucket,search},domain/secret,formats/exports/logs,viewer/steer,inference/fleet-limits,environments/{own-openenv,own-openenv-text,own-url}}.test.ts',
  'test/environments/tools/{hostile,formats,extension,doors,mcp,python,python-module,real-server,still}.test.ts',
  'test/records/{bucket-readers,bucket-trouble,export-ids,ended-kills,growing-run,power,processes,threaded-disk}.test.ts',
];
/** With every commit, at a tenth of their size; the others cost more than a minute each: `npm run test:chaos`. */
const CHAOS_SIZE = process.env['EVERTURN_CHAOS'];
const FULL = CHAOS_SIZE === 'full';
const CHAOS =
  FULL || CHAOS_SIZE === 'tenth'
    ? ['test/chaos/*.chaos.ts']
    : ['test/chaos/{storm,torn,race,disk,weights}.chaos.ts', 'test/chaos/*.test.ts'];
const SERVER = ['test/support/global-setup.ts'];
/** Begun first, in this order: of several at once none is left alone at the end. Most of them wait, some compute. */
const LONGEST = [
  'chaos/storm',
  'environments/code-judge',
  'e2e/agent-workers',
  'local/service/service',
  'local/service/worker-drains',
  'e2e/code-workers',
  'security/terminal',
  'e2e/readme',
  'inference/tiny',
  'e2e/servers',
  'simulation/simulation',
  'workflows/collection',
  'e2e/weights',
  'inference/model-identity',
  'security/bombs',
  'environments/math-generated',
  'chaos/disk',
  'environments/repeated',
  'activities/algorithm',
  'environments/pool',
  'security/secrets',
];
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const group = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((name) => moduleId.includes(`/test/${name}.`));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => group(a) - group(b) || place(a) - place(b));
  }
}
/** Temporary files in memory: on a disk these tests mostly wait for fsync, and none of them proves durability. */
const SCRATCH: Record<string, string> = bytesFree('/dev/shm') > 2 ** 31 ? { TMPDIR: scratchIn('/dev/shm') } : {};
function bytesFree(folder: string): number {
  if (!existsSync(folder)) return 0;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
/** What tests leave behind goes with this process. */
function scratchIn(memory: string): string {
  const folder = mkdtempSync(join(memory, 'everturn-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
/** They wait more than they compute, for servers, heartbeats and limits: more at once than there are cores. */
const WAITS = { maxWorkers: 5, sequence: { groupOrder: 1 } };
/** What the files import is loaded once per process, in `near` and `parts`: half of the time of so many small files. */
const project = (name: string, test: Record<string, unknown>) => ({ extends: true as const, test: { name, ...test } });

export default defineConfig({
  test: {
    pool: 'forks',
    // Two cores: a few files at once, each in its own process (native modules, one Temporal runtime each).
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A busy machine is slow, not wrong.
    expect: { poll: { timeout: 50_000, interval: 10 } },
    projects: [
      project('near', {
        include: ['test/**/*.test.ts'],
        exclude: [...configDefaults.exclude, ...PARTS, ...TEMPORAL],
        isolate: false,
        env: SCRATCH,
      }),
      project('parts', { include: PARTS, isolate: false, env: SCRATCH, ...WAITS }),
      project('temporal', { include: TEMPORAL, globalSetup: SERVER, isolate: false, ...WAITS }),
      project('chaos', {
        include: CHAOS,
        globalSetup: SERVER,
        ...(CHAOS_SIZE ? { maxWorkers: 1, sequence: { groupOrder: 2 } } : WAITS),
        testTimeout: FULL ? 3_600_000 : 120_000,
        hookTimeout: 300_000,
      }),
      project('servers', {
        include: ['test/servers/*.real.ts'],
        globalSetup: SERVER,
        testTimeout: 900_000,
        hookTimeout: 1_800_000,
      }),
      project('bucket', {
        include: ['test/bucket/*.bucket.ts'],
        globalSetup: SERVER,
        testTimeout: 1_200_000,
        hookTimeout: 1_800_000,
      }),
      project('cluster', {
        include: ['test/cluster/*.cluster.ts'],
        globalSetup: SERVER,
        testTimeout: 3_600_000,
        hookTimeout: 1_800_000,
      }),
      project('tools', {
        include: ['test/environments/{,tools/}*.real.ts'],
        globalSetup: SERVER,
        testTimeout: 900_000,
      }),
      project('agents', { include: ['test/agents/*.real.ts'] }),
      project('trainers', { include: ['test/trainers/*.real.ts'], testTimeout: 600_000 }),
      project('record', { include: ['test/histories/*.record.ts'], globalSetup: SERVER, maxConcurrency: 60 }),
    ],
  },
});
