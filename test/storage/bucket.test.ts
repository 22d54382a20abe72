import { afterAll, beforeAll } from 'vitest';
import { openFileStore } from '../../storage/files.ts';
import { dirname } from '../../storage/place.ts';
import { storeContract } from '../contract/store.ts';
import { bucketEnvironment, openS3Server, type S3Server } from '../support/s3-server.ts';
import { RUN } from './play.ts';

let server: S3Server;
const before = { ...process.env };
beforeAll(async () => {
  server = await openS3Server({ pageKeys: 3 });
  Object.assign(process.env, bucketEnvironment(server.url));
});
afterAll(async () => {
  process.env = before;
  await server.close();
});

let number = 0;
storeContract('a bucket', {
  create: () => openFileStore(`s3://bucket/out-${number++}`, RUN),
  drafts: false,
  again: (store) => openFileStore(dirname(store.folder), RUN),
});
