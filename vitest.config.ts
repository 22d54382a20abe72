// How the tests run, in projects by what they need; a file's name says which (test/README.md). `x.test.ts`: nothing but
// this process; `x.parts.test.ts`: child processes, the shipped model, a sandbox, or many seconds; `x.temporal.test.ts`: a
// real server, started once; `x.chaos.test.ts`: the same and kills, at a tenth of their size with every commit, whole on demand;
// `x.chaos.ts`: on demand alone. The suites of `test/real/` (real servers, agents, trainers) run only by hand.

import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Commands under test name others as in an installation, also where npm started the tests.
delete process.env['npm_command'];

const TESTS = ['test', 'packages/*/test'];
const CHAOS_SIZE = process.env['EVERTURN_CHAOS'];
const CHAOS = ['test/chaos/*.chaos.test.ts'];

/** Those that wait most begin first, the larger file before the smaller: none is left alone at the end. */
const KINDS = [/near/, /chaos/, /temporal/, /parts/];
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const kind = ({ project, moduleId }: TestSpecification) =>
      KINDS.findIndex((kind) => kind.test(`${project.name} ${basename(moduleId)}`));
    return (await super.sort(files)).sort((a, b) => kind(a) - kind(b));
  }
}

/** Temporary files in memory: on a disk these tests mostly wait for fsync, and none of them proves durability. */
const SCRATCH: Record<string, string> = bytesFree('/dev/shm') > 2 ** 31 ? { TMPDIR: scratchIn('/dev/shm') } : {};
/** None where no program may be started. */
function bytesFree(folder: string): number {
  if (!existsSync(folder) || /^\S+ \/dev\/shm \S+ \S*\bnoexec\b/m.test(readFileSync('/proc/mounts', 'utf8'))) return 0;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
/** What tests leave behind goes with this process, which evaluates this file once for each project. */
function scratchIn(memory: string): string {
  const shared = globalThis as { everturnScratch?: string };
  if (shared.everturnScratch !== undefined) return shared.everturnScratch;
  const folder = (shared.everturnScratch = mkdtempSync(join(memory, 'everturn-')));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** They wait more than they compute, for servers, heartbeats and limits: more at once than there are cores. */
const WAITS = { maxWorkers: 7, sequence: { groupOrder: 1 } };
const SERVER = { globalSetup: ['test/support/global-setup.ts'], env: {} };
const SERVER_IN_MEMORY = { ...SERVER, env: SCRATCH };
const project = (name: string, test: Record<string, unknown>) => ({ extends: true as const, test: { name, ...test } });
/**
 * A suite of `test/real/`, with minutes for what it installs and starts. Its files are on the disk: PostgreSQL, a user of its own,
 * may not enter a folder of root in memory, and a gateway needs extended attributes.
 */
const real = (name: string, minutes: number, server: object) =>
  project(name, {
    include: [`test/real/${name}/*.real.ts`],
    ...server,
    testTimeout: minutes * 60_000,
    hookTimeout: 1_800_000,
  });

export default defineConfig({
  test: {
    pool: 'forks',
    // Two cores: a few files at once. What they import is loaded once per process: half of the time of so many small files.
    maxWorkers: 2,
    isolate: false,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A busy machine is slow, not wrong.
    expect: { poll: { timeout: 50_000, interval: 10 } },
    projects: [
      project('near', {
        include: TESTS.map((folder) => `${folder}/**/*.test.ts`),
        exclude: [...configDefaults.exclude, '**/*.{parts,temporal,chaos}.test.ts'],
        env: SCRATCH,
      }),
      project('parts', { include: TESTS.map((folder) => `${folder}/**/*.parts.test.ts`), env: SCRATCH, ...WAITS }),
      // Chaos with every commit shares the processes of the others, and what these have imported.
      project('temporal', {
        include: ['test/**/*.temporal.test.ts', ...(CHAOS_SIZE ? [] : CHAOS)],
        ...SERVER_IN_MEMORY,
        ...WAITS,
        hookTimeout: 300_000,
      }),
      project('chaos', {
        include: CHAOS_SIZE ? [...CHAOS, 'test/chaos/*.chaos.ts'] : [],
        ...SERVER_IN_MEMORY,
        ...{ maxWorkers: 1, sequence: { groupOrder: 2 } },
        testTimeout: CHAOS_SIZE === 'full' ? 3_600_000 : 120_000,
        hookTimeout: 300_000,
      }),
      ...['agents', 'trainers'].map((name) => real(name, 10, {})),
      ...['servers', 'tools'].map((name) => real(name, 15, SERVER)),
      ...['bucket', 'cluster'].map((name) => real(name, 60, SERVER)),
    ],
  },
});
