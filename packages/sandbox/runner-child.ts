// The small process that starts sandboxes: one reply to each job, none to an abort. Ends with its parent.

import { type Ran, type Runs, runAll, SandboxTrouble } from './sandboxed.ts';

export type Request = { readonly id: number; readonly runs: Runs } | { readonly id: number; readonly abort: true };

export type Response =
  { readonly id: number; readonly rans: readonly Ran[] } | { readonly id: number; readonly trouble: string };

const running = new Map<number, AbortController>();

async function run({ id, runs }: Exclude<Request, { abort: true }>): Promise<Response> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    return { id, rans: await runAll(runs, controller.signal) };
  } catch (error) {
    const message = error instanceof SandboxTrouble ? error.message : String(error);
    return { id, trouble: message };
  } finally {
    running.delete(id);
  }
}

process.on('message', (request: Request) => {
  if ('abort' in request) return running.get(request.id)?.abort(new Error('cancelled'));
  void run(request).then((response) => process.connected && process.send?.(response));
});
process.on('disconnect', () => process.exit(0));
// The parent handles a signal to the whole group: it lets running programs end first.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
