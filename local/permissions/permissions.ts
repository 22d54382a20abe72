// The resources that a workflow may use on a worker. Any client of the Temporal server can start a workflow and write its
// input, so each folder, model and key that an input names must be permitted by the operator, or belong to a run that
// this user's own command made. Otherwise it fails as `not-allowed`, without retry, before any read, write or request.

import { UsageError } from '../../domain/errors/errors.ts';
import { isRunName } from '../../domain/names/ids.ts';
import type { Home } from '../service/home.ts';
import { isUnder, plainPath, realPath } from './folders.ts';
import { type ModelPermissions, openModelPermissions } from './model-permissions.ts';
import { notAllowed, type Operator, plainWord, quotedShort } from './operator.ts';
import { openProgramPermissions, type ProgramPermissions, type ServedPrograms } from './program-permissions.ts';
import { registeredFor, registeredRun, registeredUpdates } from './registered.ts';

export interface Permissions extends ModelPermissions, ProgramPermissions {
  /** The folder that a run is read from and written to: every step asks. */
  mayUseRun(out: string, run: string): void;
  mayReadDataset(path: string): void;
}

/** A permitted run is not checked again for this long: each turn asks in five steps. */
const ALLOWED_FOR_MS = 5_000;
const MOST_REMEMBERED = 1_000;

export function openPermissions(
  operator: Operator,
  home: Home,
  served: ServedPrograms = {},
  now: () => number = Date.now,
): Permissions {
  /** Until when each folder is permitted without another look. */
  const allowedUntil = new Map<string, number>();
  const isRegistered = (folder: string): boolean =>
    registeredFor(registeredRun, home, folder) !== undefined ||
    registeredFor(registeredUpdates, home, folder) !== undefined;
  return {
    ...openModelPermissions(operator, home),
    ...openProgramPermissions(operator, home, served),

    mayUseRun(out, run) {
      const plain = plainPath(out);
      if (plain === undefined) {
        throw new UsageError(
          `\`out\` is ${quotedShort(out)}, and a workflow names its folder by an absolute path or as s3://bucket/prefix.`,
          {
            reason: 'not-allowed',
            fix: 'Give an absolute path, or a place in a bucket, without `..`, `.` or empty parts.',
          },
        );
      }
      // The store rejects it with its own message.
      if (!isRunName(run)) return;
      const folder = plain === '/' ? `/${run}` : `${plain}/${run}`;
      if ((allowedUntil.get(folder) ?? 0) > now()) return;
      if (!isUnderOperator(operator, folder) && !isRegistered(folder))
        throw notAllowed(`use the folder ${quotedShort(folder)}`, 'runsUnder', plainWord(plain));
      if (allowedUntil.size >= MOST_REMEMBERED) allowedUntil.clear();
      allowedUntil.set(folder, now() + ALLOWED_FOR_MS);
    },

    mayReadDataset(path) {
      if (!isUnderOperator(operator, path))
        throw notAllowed(`read the data set ${quotedShort(path)}`, 'runsUnder', '<its folder>');
    },
  };
}

function isUnderOperator({ runsUnder }: Operator, path: unknown): boolean {
  const plain = plainPath(path);
  const real = plain === undefined ? undefined : realPath(plain);
  return real !== undefined && runsUnder.some((folder) => isUnder(real, folder));
}
