// `npm run test:servers`: real SGLang and vLLM on this machine's CPU. See test/servers/README.md.
import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

export default defineConfig({
  test: {
    ...base.test,
    include: ['test/servers/*.real.ts'],
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 900_000,
    // Installing and starting: minutes, on two cores.
    hookTimeout: 1_800_000,
  },
});
