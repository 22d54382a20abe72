// The keys of a run, where the local service plays it: it has the environment of the command that started it, which may be
// another one than that of this command. Asked before a rollout begins, since without its key each would fail. Not seen: the
// keys of workers elsewhere.

import { ModelError } from '../domain/errors/errors.ts';
import { serviceStatus } from '../local/service/service.ts';
import { heldAs } from '../local/service/state.ts';
import type { Environment } from '../local/machine/user-folders.ts';
import type { Link } from '../local/service/link.ts';

/** `names`: variables. Throws a ModelError if this command has a key that the service has not. */
export function mustHoldKeys(
  env: Environment,
  { local }: Pick<Link, 'local'>,
  names: readonly (string | null | undefined)[],
): void {
  const { state } = serviceStatus(env);
  if (!local || !state) return;
  for (const name of names) {
    const value = name ? env[name] : undefined;
    const held = name && value ? heldAs(state.variables, name, value) : 'same';
    if (held === 'same') continue;
    const what = held === 'none' ? 'has no key' : 'has another key';
    throw new ModelError(
      `The local service, which plays the run, ${what} in ${name}: it was started without this one.`,
      {
        reason: 'no-api-key',
        fix: 'End it with `everturn down`, and repeat this command, which starts it again with the key. Runs in flight go on then.',
      },
    );
  }
}
