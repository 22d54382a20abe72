// Appends lines to a segment of the writer's own, and their entries to that one's index. A line is durable when `add` returns:
// lines that come at the same time share one fsync. After an error the segment gets no further line, because its last one
// may be torn; the next line begins another segment. The same where the folder was moved away or made again. Readers
// (ended/segment.ts) live on the order of this file: the segment is made, then its index; lines are whole and durable, then
// they are named; an empty index is removed, then its segment.

import { join } from 'node:path';
import type { AppendedLine } from '../place.ts';
import { fileError } from './errors.ts';
import type { FileLayer, OpenFile } from './file-layer.ts';
import { openNew, syncFolder } from './write-once.ts';
import { writerName } from './writer.ts';

export const indexOf = (segment: string): string => segment.replace(/jsonl$/, 'index');

export interface SegmentWriter {
  add(line: AppendedLine): Promise<void>;
  close(): Promise<void>;
}

interface Waiting extends AppendedLine {
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

interface OpenSegment {
  readonly path: string;
  readonly file: OpenFile;
  readonly index: OpenFile;
  readonly identity: string;
  bytes: number;
}

export function openSegmentWriter(folder: string, layer: FileLayer): SegmentWriter {
  let segment: OpenSegment | undefined;
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;

  async function begin(): Promise<OpenSegment> {
    const path = join(folder, `${writerName()}.jsonl`);
    try {
      const file = await openNew(path, layer);
      const index = await openNew(indexOf(path), layer);
      await syncFolder(folder, layer);
      return { path, file, index, identity: (await identityOf(path))!, bytes: 0 };
    } catch (error) {
      throw fileError('write', path, error);
    }
  }

  async function identityOf(path: string): Promise<string | undefined> {
    return layer.stat(path).then(
      ({ dev, ino }) => `${dev} ${ino}`,
      () => undefined,
    );
  }

  async function leave(): Promise<void> {
    const left = segment;
    segment = undefined;
    if (!left) return;
    await Promise.all([left.file, left.index].map((file) => file.close().catch(() => {})));
    // A full disk fails again and again: no pile of empty files.
    if (left.bytes > 0) return;
    for (const path of [indexOf(left.path), left.path]) await layer.unlink(path).catch(() => {});
  }

  async function append(some: readonly Waiting[]): Promise<void> {
    if (segment && (await identityOf(segment.path)) !== segment.identity) await leave();
    segment ??= await begin();
    const { file, index, path } = segment;
    try {
      await file.writeFile(Buffer.concat(some.map(({ line }) => line)));
      await file.sync();
    } catch (error) {
      await leave();
      throw fileError('write', path, error);
    }
    let entries = '';
    for (const { line, entryAt } of some) {
      entries += entryAt(segment.bytes);
      segment.bytes += line.length;
    }
    // Readers do without it; a torn one must get no further line.
    await index.writeFile(entries).catch(leave);
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const some = waiting;
      waiting = [];
      try {
        await append(some);
        for (const { done } of some) done();
      } catch (error) {
        for (const { failed } of some) failed(error);
      }
    }
    writing = undefined;
  }

  return {
    add: (line) =>
      new Promise<void>((done, failed) => {
        waiting.push({ ...line, done, failed });
        writing ??= Promise.resolve().then(writeAll);
      }),
    async close() {
      await writing;
      await leave();
    },
  };
}
