// `everturn feed --areal`: pushes a run's samples to AReaL's trainer instead of serving HTTP. docs/feed.md, "AReaL".

import { userInfo } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../../domain/errors/errors.ts';
import { exporterNamed, sequencesFor } from '../../formats/exports/index.ts';
import { lineByLine } from '../../records/encoder.ts';
import type { RunRecord } from '../../records/record/run-record.ts';
import type { Store } from '../../records/store.ts';
import type { Session } from '../../client/temporal/connection.ts';
import type { FeedPlace } from '../../client/temporal/feed.ts';
import { arealFeed, arealMemory } from './areal-feed.ts';
import { arealNames } from './areal-names.ts';
import { pushToAreal } from './areal-push.ts';
import { openPusher } from './zeromq.ts';

export interface ArealFlags {
  /** `<experiment>/<trial>`. */
  readonly areal: string;
  readonly arealNames: string;
  readonly arealUser?: string;
  readonly arealRole: string;
  readonly arealWeights?: string;
}

export interface ArealServing {
  readonly flags: ArealFlags;
  readonly record: RunRecord;
  readonly place: FeedPlace;
  readonly store: Store;
  readonly session: () => Session;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  readonly onWeights: (folder: string) => void;
  /** Default: the package `zeromq`. */
  readonly zeromq?: () => Promise<unknown>;
}

/** Resolves to the steps that were pushed. */
export async function feedAreal(serving: ArealServing): Promise<number> {
  const { flags, record, place, store, session, signal, say, onWeights } = serving;
  const [experiment = '', trial = '', ...more] = flags.areal.split('/');
  const isName = (name: string) => /^[\w.-]{1,200}$/.test(name) && name !== '.' && name !== '..';
  if (![experiment, trial, flags.arealRole].every(isName) || more.length > 0) {
    throw new UsageError(
      `--areal is ${JSON.stringify(flags.areal)}, of the model ${JSON.stringify(flags.arealRole)}.`,
      {
        reason: 'bad-value',
        fix: 'It takes <experiment>/<trial>, as AReaL was started with.',
      },
    );
  }
  const batchGroups = record.train?.batchGroups ?? null;
  if (batchGroups === null) {
    throw new UsageError(`Run "${place.run}" has no steps.`, {
      reason: 'bad-value',
      fix: 'AReaL is fed from a run that was started with --train and --batch-groups.',
    });
  }
  const exporter = exporterNamed('areal', sequencesFor(record));
  const pusher = await openPusher(serving.zeromq);
  try {
    return await pushToAreal({
      feed: arealFeed({
        ...{ place, store, session, signal },
        shape: { run: place.run, queries: await store.countQueries(), samples: record.samples },
        groups: batchGroups,
        encoder: () => exporter.open?.() ?? lineByLine(exporter),
        weights(version) {
          if (flags.arealWeights === undefined || version === 0) return null;
          const folder = join(flags.arealWeights, flags.arealRole, String(version));
          onWeights(folder);
          return folder;
        },
      }),
      names: arealNames({ root: flags.arealNames, user: flags.arealUser ?? userInfo().username, experiment, trial }),
      role: flags.arealRole,
      ...arealMemory(store.folder),
      ...{ pusher, signal, say },
    });
  } finally {
    pusher.close();
  }
}
