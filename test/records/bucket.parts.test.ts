import { afterAll, beforeAll } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import { dirname } from '../../records/place.ts';
import { storeContract } from '../contract/store.ts';
import { bucketEnvironment, openS3Server, type S3Server, useBuckets } from '../support/s3-server.ts';
import { RUN } from './play.ts';

let server: S3Server;
let restore: () => void;
beforeAll(async () => {
  server = await openS3Server({ pageKeys: 3 });
  restore = useBuckets(bucketEnvironment(server.url));
});
afterAll(async () => {
  restore();
  await server.close();
});

let number = 0;
storeContract('a bucket', {
  create: () => openFileStore(`s3://bucket/out-${number++}`, RUN),
  drafts: false,
  again: (store) => openFileStore(dirname(store.folder), RUN),
});
