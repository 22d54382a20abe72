// Proves the feed's ledger: entries 1 … n without a gap, each with the hash of the one before; versions that never go
// back along a line; each group at most once along the surviving line, and only groups whose rollouts have ended with
// enough members. Memory: the groups of the surviving line. Leaves out what the trainer did with them.

import { explain } from '../../domain/errors/errors.ts';
import { addEntry, countOf, emptyLine, type FeedEntry, type WeightLine } from '../../domain/feed/entry.ts';
import { groupId, groupPlace, NO_FILTER, whyLeftOut } from '../../domain/samples/group.ts';
import { eachNumber } from '../../domain/feed/number-set.ts';
import { join } from '../place.ts';
import { readGroup } from '../reading/group-members.ts';
import { FEED, feedFile, parseFeedFile } from '../format/layout.ts';
import { ownNamesIn } from '../in-flight/listing.ts';
import type { RunRecord } from '../format/run-record.ts';
import type { OnBreach, Store } from '../store.ts';
import { formProblem } from './checked.ts';
import { namesIn } from '../places/files.ts';

export interface FeedFacts {
  readonly entries: number;
  readonly version: number;
  /** Rewinds. */
  readonly line: number;
  /** Groups trained along the surviving line. */
  readonly trained: number;
}

/** Undefined where there is no ledger. */
export async function checkFeed(
  store: Store,
  run: RunRecord | undefined,
  queries: number,
  onBreach: OnBreach,
): Promise<FeedFacts | undefined> {
  const entries = await highest(store, onBreach);
  if (entries === 0) return undefined;
  const line = emptyLine();
  const trained = new Set<number>();
  const leases = new Set<string>();
  const played = new Set<number>();
  let previous: string | null | undefined = null;
  for (let number = 1; number <= entries; number++) {
    const path = feedFile(number);
    const say = (problem: string) => onBreach({ path, problem });
    const stored = await store.get('feed', number).catch((error: unknown) => void say(explain(error)));
    if (!stored) {
      if (stored === undefined && (await isMissing(store, path))) say(`is missing, though entry ${entries} is there`);
      previous = undefined;
      continue;
    }
    const entry = stored.record;
    if (entry.number !== number) say(`says it is entry ${entry.number}`);
    if (previous !== undefined && entry.previous !== previous) {
      say(`does not follow entry ${number - 1}: it names ${entry.previous}, that one is ${previous}`);
    }
    previous = stored.hash;
    const problem = formProblem('feed', null, stored) ?? beyondProblem(entry, run, queries);
    if (problem !== undefined) {
      say(problem);
      continue;
    }
    for (const wrong of ruleProblems(entry, line, trained, leases)) say(wrong);
    if (entry.kind === 'trained') {
      leases.add(entry.lease);
      for (const group of eachNumber(entry.groups)) {
        trained.add(group);
        if (played.has(group) || !run) continue;
        played.add(group);
        const wrong = await groupProblem(store, run, queries, group);
        if (wrong) say(wrong);
      }
    }
    for (const gone of addEntry(line, entry)) for (const group of eachNumber(gone.groups)) trained.delete(group);
  }
  return { entries, version: line.version, line: line.line, trained: countOf(line.acknowledged) };
}

function ruleProblems(
  entry: FeedEntry,
  line: WeightLine,
  trained: ReadonlySet<number>,
  leases: ReadonlySet<string>,
): string[] {
  const found: string[] = [];
  const newest = Math.max(line.version, line.trained);
  if (entry.kind === 'rewind' && entry.to > newest) {
    found.push(`rewinds to version ${entry.to}; the trainer was at ${newest}`);
  }
  if (entry.kind === 'version') {
    const again = entry.version === line.version && entry.weights !== null;
    if (entry.version <= line.version && !again) found.push(`goes back from version ${line.version}`);
  }
  if (entry.kind !== 'trained') return found;
  const { version, leasedAt, lease } = entry;
  if (version < newest) found.push(`goes back to version ${version}; the trainer was at ${newest}`);
  if (version <= leasedAt) found.push(`was trained into version ${version} and leased at ${leasedAt}`);
  if (leasedAt > line.version) found.push(`was leased at version ${leasedAt}; ${line.version} was published`);
  if (leases.has(lease)) found.push(`acknowledges lease ${lease} a second time`);
  const twice = [...eachNumber(entry.groups)].filter((group) => trained.has(group));
  if (twice.length > 0) found.push(`trains groups ${shown(twice)} a second time along the surviving line`);
  return found;
}

function beyondProblem(entry: FeedEntry, run: RunRecord | undefined, queries: number): string | undefined {
  const groups = queries * (run?.epochs ?? 1);
  const last = entry.kind === 'trained' ? entry.groups.at(-1)![1] : -1;
  return run && last >= groups ? `trains group ${last} of a run with ${groups} groups` : undefined;
}

async function groupProblem(store: Store, run: RunRecord, queries: number, group: number): Promise<string | undefined> {
  const { index, epoch } = groupPlace({ queries, samples: run.samples }, group);
  const [query] = await store.readQueries(index, 1);
  if (!query) return `trains group ${group}, and there is no query at index ${index}`;
  const name = `group ${group} (${JSON.stringify(groupId(query.queryId, epoch))})`;
  try {
    const place = { run: run.run, query: query.queryId, epoch, samples: run.samples };
    const { labels } = await readGroup(store, place);
    const why = whyLeftOut(labels, run.train ?? NO_FILTER, run.samples);
    if (why === 'members') return `trains ${name}, which has ${labels.members} of ${run.samples} members`;
    return why === null ? undefined : `trains ${name}, which its ${why} leaves out`;
  } catch (error) {
    return `trains ${name}, which cannot be read: ${explain(error)}`;
  }
}

/** A file's name may hold any number: far behind the others it is reported by itself. */
const MOST_MISSING = 100;

async function highest(store: Store, onBreach: OnBreach): Promise<number> {
  let [most, count] = [0, 0];
  for (const shard of await ownNamesIn(store.folder, FEED, (name) => /^\d{6}$/.test(name), onBreach)) {
    const numberOf = (name: string) => parseFeedFile(`${FEED}/${shard}/${name}`);
    const names = await ownNamesIn(store.folder, `${FEED}/${shard}`, (name) => numberOf(name) !== undefined, onBreach);
    count += names.length;
    most = Math.max(most, ...names.map((name) => numberOf(name)!));
  }
  if (most <= count + MOST_MISSING) return most;
  onBreach({ path: feedFile(most), problem: `stands alone: ${count} entries are there in all` });
  return count + MOST_MISSING;
}

async function isMissing(store: Store, path: string): Promise<boolean> {
  const at = path.lastIndexOf('/');
  return !(await namesIn(join(store.folder, path.slice(0, at)))).includes(path.slice(at + 1));
}

function shown(groups: readonly number[]): string {
  return `${groups.slice(0, 10).join(', ')}${groups.length > 10 ? ', …' : ''}`;
}
