// Decides whether this service has a web UI. `EVERTURN_UI=on` and `=off` override; the default is a UI unless other
// people work on this machine, because Temporal's UI has no password.

import { readdirSync, statSync } from 'node:fs';
import type { Environment } from './home.ts';

export function wantsUi(env: Environment, isShared: () => boolean = othersWorkHere): boolean {
  const wish = env['EVERTURN_UI']?.trim().toLowerCase();
  if (wish === 'on' || wish === 'off') return wish === 'on';
  return !isShared();
}

/** On Linux, ids of people begin here; `nobody` is not one. */
const FIRST_PERSON = 1000;
const NOBODY = [65534, 65535];

/** Another account has a process or a session. Checked on Linux only. */
function othersWorkHere(): boolean {
  const own = process.getuid?.() ?? -1;
  const isOther = (uid: number) => uid >= FIRST_PERSON && uid !== own && !NOBODY.includes(uid);
  if (names('/run/user').some((name) => isOther(Number(name)))) return true;
  return names('/proc').some((name) => /^\d+$/.test(name) && isOther(ownerOf(`/proc/${name}`)));
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function ownerOf(path: string): number {
  try {
    return statSync(path).uid;
  } catch {
    return -1; // It ended meanwhile.
  }
}
