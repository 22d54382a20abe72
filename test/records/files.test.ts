import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import { storeContract } from '../contract/store.ts';
import { RUN } from './play.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-store-'));
afterAll(() => rmSync(root, { recursive: true }));

storeContract('files', {
  create: () => openFileStore(mkdtempSync(join(root, 'out-')), RUN),
  again: (store) => openFileStore(dirname(store.folder), RUN),
});
