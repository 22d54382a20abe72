// How the tests run: each file in a process of its own, all against one real Temporal server.

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'test/chaos/*.chaos.ts'],
    pool: 'forks',
    // Two cores: a few files at once, each in its own process (native modules, one Temporal runtime each).
    maxWorkers: 2,
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
