// `npm run test:chaos`: the chaos tests alone, one file after the other, in their full numbers. docs/reliability.md.
import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

export default defineConfig({
  test: {
    ...base.test,
    include: ['test/chaos/*.chaos.ts'],
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 3_600_000,
    hookTimeout: 300_000,
    reporters: ['default', './test/support/count-reporter.ts'],
  },
});
