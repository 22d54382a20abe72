// The small process that starts sandboxes: one reply to each job, none to an abort. Ends with its parent.

import { EverturnError } from '../../domain/errors/errors.ts';
import { type Ran, type Run, runSandboxed, runTogether } from './sandboxed.ts';

export type Request =
  /** `other`: one that talks with it. */
  ({ readonly id: number; readonly other?: Run } & Run) | { readonly id: number; readonly abort: true };

export type Response =
  { readonly id: number; readonly ran: Ran; readonly other?: Ran } | { readonly id: number; readonly trouble: string };

const running = new Map<number, AbortController>();

async function run({ id, other, ...one }: Exclude<Request, { abort: true }>): Promise<Response> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    if (!other) return { id, ran: await runSandboxed(one.launch, one.job, one.limits, controller.signal) };
    const [ran, beside] = await runTogether([one, other], controller.signal);
    return { id, ran, other: beside };
  } catch (error) {
    const message = error instanceof EverturnError ? error.message : String(error);
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
