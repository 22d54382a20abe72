// Proves that a bucket lets only the first writer of a key succeed: a second write is refused and the first content stays,
// and of 16 writers at once exactly one wins, whose content is there, in each of three races. The writers have their
// connections before they race: else the first would have written before the others have connected. Done once by each
// process before its first write, because a server without it takes such a write and says nothing. Leaves no object.

import { randomBytes } from 'node:crypto';
import type { BucketPlace } from '../../domain/run/bucket-place.ts';
import { unsafeBucket } from './problems.ts';
import type { BucketAnswer } from './request.ts';
import { type Upload, uploadOf } from './upload.ts';

export interface ProbeCalls {
  putNew(key: string, upload: Upload): Promise<BucketAnswer>;
  read(key: string): Promise<Buffer | undefined>;
  remove(key: string): Promise<void>;
}

const WRITERS = 16;
const RACES = 3;

/** `place`: of the object that is about to be written; the probe's are beside it, under names that no reader opens. */
export async function proveConditionalWrites(place: BucketPlace, { putNew, read, remove }: ProbeCalls): Promise<void> {
  const folder = place.key.includes('/') ? place.key.slice(0, place.key.lastIndexOf('/') + 1) : '';
  const key = `${folder}.probe-${randomBytes(8).toString('hex')}`;
  const one = `${key}-1`;
  const raced = Array.from({ length: RACES }, (_, i) => `${key}-${i + 2}`);
  let server: string | undefined;
  const write = async (to: string, content: string) => {
    const { status, unsure, headers } = await putNew(to, uploadOf(content));
    server = headers['server'] ?? server;
    return { won: status !== 412, unsure };
  };
  const unsafe = (found: string) => unsafeBucket({ ...place, key: folder.slice(0, -1) }, server, found);
  try {
    const first = await write(one, 'first');
    const second = await write(one, 'second');
    const there = (await read(one))?.toString();
    if (second.won || there !== 'first') {
      if (!first.won && !first.unsure) throw unsafe('it refuses the first write of a new name');
      throw unsafe(
        'it takes a second write of one name, and If-None-Match: * (or what EVERTURN_BUCKET_PRECONDITION says) is ignored',
      );
    }
    const names = Array.from({ length: WRITERS }, (_, i) => `writer ${i}`);
    for (const to of raced) {
      await Promise.all(names.map(() => read(to)));
      const all = await Promise.all(names.map((name) => write(to, name)));
      const winner = (await read(to))?.toString();
      const winners = names.filter((name, i) => all[i]!.won || (all[i]!.unsure && name === winner));
      if (winners.length !== 1 || winners[0] !== winner)
        throw unsafe(`of ${WRITERS} writers of one name at once ${winners.length} were told that they were the first`);
    }
  } finally {
    // Keys that may not delete leave small objects that no reader opens.
    await Promise.allSettled([one, ...raced].map(remove));
  }
}
