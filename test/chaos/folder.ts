// A run's folder as a stranger reads it: by the documented layout and nothing of ours. Every file is counted, every
// record's hash is computed anew, and whatever is not as it should be is a line in `problems`.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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
  const root = join(folder, 'rollouts');
  for (const shard of visible(root)) {
    for (const query of visible(join(root, shard))) {
      for (const numbered of visible(join(root, shard, query))) {
        const [sample, attempt] = numbered.split('.');
        const played = readRollout(join(root, shard, query, numbered), `${query}/${sample}`, problems);
        if (attempt !== '1') problems.push(`${played.key}: attempt ${attempt}`);
        if (rollouts.has(played.key)) problems.push(`${played.key} stands there twice`);
        rollouts.set(played.key, played);
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

function readRollout(folder: string, key: string, problems: string[]): PlayedRollout {
  const records = new Map<string, Json>();
  for (const name of visible(folder)) {
    const text = readFileSync(join(folder, name), 'utf8');
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
