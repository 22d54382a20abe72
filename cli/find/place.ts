// `<run>` on the command line: a name under --out, or a folder's path, on a disk or in a bucket; else a run that the server
// plays elsewhere.

import { locatePlace, type OpenedRun, openPlace } from '../../library/open-run.ts';
import { printProgress } from '../../local/machine/progress.ts';
import type { Io } from '../io.ts';

/** The run as its folder has it. */
export const findRun = (io: Io, named: string, out: string): Promise<OpenedRun> =>
  openPlace(named, { ...aroundOf(io), out });

/** The same of a run that was started elsewhere, or whose folder was removed, if the server plays it. */
export const locateRun = (io: Io, named: string, out: string): Promise<OpenedRun> =>
  locatePlace(named, { ...aroundOf(io), out });

/** What the library sees of a command: it is told, too, why a server does not answer. */
export const aroundOf = ({ cwd, env, err }: Io) => ({ cwd, env, onProgress: printProgress(err) });
