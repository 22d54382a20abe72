// A run's folder as a stranger reads it: by the documented layout and nothing of ours. Every file is counted, every
// record's hash is computed anew, and whatever is not as it should be is a line in `problems`.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface Json {
  readonly [name: string]: unknown;
}

export interface PlayedRollout {
  /** `<query>/<sample>`. */
  readonly key: string;
  readonly turns: readonly Json[];
  readonly verdicts: readonly Json[];
  readonly rollout: Json | undefined;
  readonly end: Json | undefined;
}

export interface ReadRun {
  readonly rollouts: ReadonlyMap<string, PlayedRollout>;
  readonly problems: readonly string[];
}

export function readRun(folder: string): ReadRun {
  const problems: string[] = [];
  const rollouts = new Map<string, PlayedRollout>();
  const take = (place: string, records: Iterable<readonly [string, string]>) => {
    const [query, numbered = ''] = place.split('/');
    const [sample, attempt] = numbered.split('.');
    const played = readRollout(records, `${query}/${sample}`, problems);
    if (attempt !== '1') problems.push(`${played.key}: attempt ${attempt}`);
    rollouts.set(played.key, played);
  };
  // Of an ended rollout its line counts, the longest if there are several.
  const lines = endedLines(join(folder, 'ended'), problems);
  for (const [place, line] of lines) take(place, recordsOf(line, place, problems));
  const root = join(folder, 'rollouts');
  for (const shard of visible(root)) {
    for (const query of visible(join(root, shard))) {
      for (const numbered of visible(join(root, shard, query))) {
        if (lines.has(`${query}/${numbered}`)) continue;
        const path = join(root, shard, query, numbered);
        take(
          `${query}/${numbered}`,
          visible(path).map((name) => [name, readFileSync(join(path, name), 'utf8')]),
        );
      }
    }
  }
  for (const [file, lines] of logLines(folder)) {
    const played = rollouts.get(`${file}/0`);
    if (!played) problems.push(`a log of ${file}, which was not played`);
    else if (lines !== played.turns.length) problems.push(`${file}: ${lines} lines for ${played.turns.length} turns`);
  }
  return { rollouts, problems };
}

/** By `<query>/<sample>.<attempt>`. */
function endedLines(folder: string, problems: string[]): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (const name of endedFiles(folder)) {
    const bytes = readFileSync(join(folder, name));
    let at = 0;
    // What follows the last newline was never written.
    for (let end; (end = bytes.indexOf(10, at)) >= 0; at = end + 1) {
      const line = bytes.subarray(at, end + 1);
      const hash = createHash('sha256').update(line.subarray(0, -78)).digest('hex');
      if (line.subarray(-78).toString() !== `,"sha256":"${hash}"}\n`) {
        problems.push(`${name} at byte ${at}: its hash is wrong`);
        continue;
      }
      const { query, sample, attempt } = (JSON.parse(line.toString()) as { of_rollout: Record<string, string> })
        .of_rollout;
      const place = `${query}/${sample}.${attempt}`;
      const other = found.get(place);
      const shared = other && line.length === other.length && !line.equals(other);
      if (shared) problems.push(`${place} has two lines that differ`);
      if (!other || line.length > other.length) found.set(place, line);
    }
  }
  return found;
}

/** Segments on a disk, of many lines each; in a bucket an object for each rollout, below its query's folder. */
function endedFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return all.filter((name) => /\.jsonl?$/.test(name) && !basename(name).startsWith('.'));
}

/** Each as its file had it: the head says how long each is. */
function recordsOf(line: Buffer, place: string, problems: string[]): [string, string][] {
  const { files } = JSON.parse(line.toString()) as { readonly files: Readonly<Record<string, number>> };
  let at = line.indexOf(',"records":[') + ',"records":['.length;
  const records = Object.entries(files).map(([name, bytes]): [string, string] => {
    const text = `${line.subarray(at, at + bytes).toString()}\n`;
    at += bytes + 1;
    return [name, text];
  });
  if (line.subarray(at - 1, at).toString() !== ']') problems.push(`${place}: its records end elsewhere`);
  return records;
}

function readRollout(texts: Iterable<readonly [string, string]>, key: string, problems: string[]): PlayedRollout {
  const records = new Map<string, Json>();
  for (const [name, text] of texts) {
    const body = text.slice(0, -78);
    const hash = createHash('sha256').update(body).digest('hex');
    if (text.slice(-78) === `,"sha256":"${hash}"}\n`) records.set(name, JSON.parse(text) as Json);
    else problems.push(`${key}/${name}: its hash is wrong, or it is cut`);
  }
  const numbered = (what: string) => {
    const found: Json[] = [];
    for (let n = 1; ; n++) {
      const name = `${what}-${String(n).padStart(3, '0')}.json`;
      const record = records.get(name);
      if (!record) return found;
      if (record['turn'] !== n) problems.push(`${key}/${name} says turn ${String(record['turn'])}`);
      records.delete(name);
      found.push(record);
    }
  };
  const [turns, verdicts] = [numbered('turn'), numbered('verdict')];
  const [rollout, end] = [records.get('rollout.json'), records.get('end.json')];
  for (const name of records.keys()) {
    if (name !== 'rollout.json' && name !== 'end.json') problems.push(`${key}/${name} does not belong there`);
  }
  return { key, turns, verdicts, rollout, end };
}

/** Lines for monitors of each query, over all versions; only sample 0 has a log by the query's name alone. */
function logLines(folder: string): Map<string, number> {
  const lines = new Map<string, number>();
  const root = join(folder, 'answers');
  for (const version of visible(root)) {
    for (const name of visible(join(root, version))) {
      if (!name.endsWith('.jsonl') || name.includes('@')) continue;
      const query = name.slice(0, -'.jsonl'.length);
      const text = readFileSync(join(root, version, name), 'utf8');
      lines.set(query, (lines.get(query) ?? 0) + text.split('\n').length - 1);
    }
  }
  return lines;
}

function visible(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith('.'));
  } catch {
    return [];
  }
}
