// How the tests run, in projects by what they need. `near`: nothing but this process; `parts`: child processes, the
// shipped model, a sandbox; `temporal`: a real server, started once; `chaos`: the same and kills. test/README.md.
// `servers` (real SGLang and vLLM) and `record` (histories) run only when they are asked for.

import { configDefaults, defineConfig } from 'vitest/config';

const TEMPORAL = [
  'test/{e2e,workflows,service,security,simulation}/**/*.test.ts',
  'test/cli/{bad-input,status}.test.ts',
];
const PARTS = [
  'test/machine/*.test.ts',
  'test/environments/{code-judge,code-sandbox,environments,math-generated,outbox,pool,repeated,under-load}.test.ts',
  'test/inference/{bad-models,embedded-weights,fleet,fleet-versions,model-process,run-model,tiny,weight-update}.test.ts',
  'test/inference/server-*.test.ts',
  'test/exporters/{read-samples,sample-id-python}.test.ts',
  'test/cli/model.test.ts',
  'test/house/imports.test.ts',
  // A process now and then, or many seconds.
  'test/activities/{algorithm,heartbeat}.test.ts',
  'test/cli/{exit,export,format,judge,update-weights}.test.ts',
  'test/environments/code-stack.test.ts',
  'test/inference/{malformed-replies,model-identity}.test.ts',
  'test/proof/check-forgeries.test.ts',
  'test/storage/{export-ids,processes,threaded-disk}.test.ts',
];
/** With every commit; the others cost more than a minute each, or prove what these prove: `npm run test:chaos`. */
const FULL = process.env['EVERTURN_CHAOS'] === 'full';
const CHAOS = FULL
  ? ['test/chaos/*.chaos.ts']
  : ['test/chaos/{storm,torn,race,disk,steer,weights}.chaos.ts', 'test/chaos/*.test.ts'];
const SERVER = ['test/support/global-setup.ts'];
const project = (name: string, test: Record<string, unknown>) => ({ extends: true as const, test: { name, ...test } });

export default defineConfig({
  test: {
    pool: 'forks',
    // Two cores: a few files at once, each in its own process (native modules, one Temporal runtime each).
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      project('near', {
        include: ['test/**/*.test.ts'],
        exclude: [...configDefaults.exclude, ...PARTS, ...TEMPORAL],
        // What the files import is loaded once per process: half of the time of so many small files.
        isolate: false,
      }),
      project('parts', { include: PARTS }),
      project('temporal', { include: TEMPORAL, globalSetup: SERVER }),
      project('chaos', {
        include: CHAOS,
        globalSetup: SERVER,
        testTimeout: FULL ? 3_600_000 : 120_000,
        hookTimeout: 300_000,
      }),
      project('servers', {
        include: ['test/servers/*.real.ts'],
        globalSetup: SERVER,
        testTimeout: 900_000,
        hookTimeout: 1_800_000,
      }),
      project('record', { include: ['test/histories/*.record.ts'], globalSetup: SERVER, maxConcurrency: 60 }),
    ],
  },
});
