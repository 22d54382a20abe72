// `npm run record-histories`: see test/histories/README.md.
import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

export default defineConfig({ test: { ...base.test, include: ['test/histories/*.record.ts'], maxConcurrency: 60 } });
