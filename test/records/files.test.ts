import { mkdtempSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openFileStore } from '../../records/file-store.ts';
import { storeContract } from '../contract/store.ts';
import { RUN } from './play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = scratchFolder();

storeContract('files', {
  create: () => openFileStore(mkdtempSync(join(root, 'out-')), RUN),
  again: (store) => openFileStore(dirname(store.folder), RUN),
});
