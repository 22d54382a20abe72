// The rows of a lease, read from the run's folder: group by group, each member as one neutral row, or one for each branch of
// an agent. The number of rows is known before the first is read. Memory: a few rows at a time.

import { branchesOf, labelsOfBranch } from '../../domain/samples/branches.ts';
import type { GrantedLease } from '../../domain/feed/messages.ts';
import { survives } from '../../domain/feed/line.ts';
import { groupId, groupPlace } from '../../domain/samples/group.ts';
import { StoreError } from '../../domain/errors/errors.ts';
import type { Labels } from '../../domain/samples/exporter.ts';
import { neutralRow, type RowOptions } from '../../domain/samples/neutral-row.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { eachNumber } from '../../domain/feed/number-set.ts';
import { isBeyond } from '../../domain/weights/weight-version.ts';
import { mapAhead } from '../../records/map-ahead.ts';
import { type GroupMember, readGroup } from '../../records/reading/group-members.ts';
import type { Store } from '../../records/store.ts';
import { readTrajectory } from '../../records/reading/trajectories.ts';

const AT_ONCE = 16;

export interface RunShape {
  readonly run: string;
  readonly queries: number;
  readonly samples: number;
}

/** `gap`: the greatest age of a token that is trained; null: any. */
export async function openBatch(store: Store, shape: RunShape, lease: GrantedLease, gap: number | null = null) {
  const { samples, run } = shape;
  const members: (GroupMember & { readonly row: Labels })[] = [];
  const groups: string[] = [];
  const found = mapAhead(eachNumber(lease.groups), AT_ONCE, async (group) => {
    const { index, epoch } = groupPlace(shape, group);
    const query = (await store.readQueries(index, 1))[0]!.queryId;
    return { id: groupId(query, epoch), ...(await readGroup(store, { run, query, epoch, samples })) };
  });
  for await (const { id, labels, members: own } of found) {
    groups.push(id);
    const { members: group_size, successRate: group_success_rate, zeroVariance: zero_variance } = labels;
    const row = { group: id, group_size, group_success_rate, zero_variance, ...ageLimit(lease, gap) };
    members.push(...own.map((one) => ({ ...one, row: { ...row, turn_advantages: one.turnAdvantages } })));
  }
  async function read(member: (typeof members)[number]): Promise<Trajectory> {
    const trajectory = await readTrajectory(store, member.id, member.end);
    if (trajectory) return trajectory;
    throw new StoreError(`Query "${member.id.query}", sample ${member.id.sample} is not in ${store.folder}.`, {
      reason: 'record-missing',
      fix: `Run \`everturn check ${store.folder}\` to list every fault.`,
    });
  }
  const lines = () => mapAhead(members, AT_ONCE, async (member) => rowLines(await read(member), member.row, lease));
  const rows = members.reduce((sum, { end }) => sum + (end.record.branches ?? 1), 0);
  // The ids of the groups, and each row as a line of JSON with its newline.
  return { groups, rows, lines };
}

/** One for each branch of an agent's rollout. */
function rowLines(trajectory: Trajectory, labels: Labels, lease: GrantedLease): string {
  return branchesOf(trajectory)
    .map((branch) => rowLine(branch, labelsOfBranch(labels, branch), lease))
    .join('');
}

/** Weights that a rewind took back have no age, and are trained under no limit. */
function ageLimit({ trainedAt, floors = [] }: GrantedLease, gap: number | null): RowOptions {
  if (gap === null) return {};
  return { isStale: (span) => survives([span], floors) === false || isBeyond(gap, span.version, trainedAt) };
}

function rowLine(trajectory: Trajectory, labels: Labels, lease: GrantedLease): string {
  const row = neutralRow(trajectory, labels);
  const spans = trajectory.turns.flatMap(({ record }) => record.versions);
  const surviving = survives(spans, lease.floors ?? []);
  const age = lease.trainedAt - row.version_start;
  // Weights that ended, or may have, have no age on this line.
  const staleness = surviving ? Math.max(0, age) : surviving === null && age >= 0 ? age : null;
  return `${JSON.stringify({ ...row, staleness, surviving })}\n`;
}
