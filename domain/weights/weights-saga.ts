// The saga of new weights: each server is paused, loads them, reports their version, and is resumed, whatever failed
// before. Servers are updated one by one until one has loaded the weights, then all at once. The steps are passed in:
// activities in the workflow, plain calls in tests. Retries nothing itself. Pure.

import { type ServerUpdate, unsureLabel, type UpdateState, type UpdateStep } from './weights.ts';

/** The failure of a step. */
interface StepFailure {
  readonly reason: string;
  readonly error: string;
  /** The step certainly did nothing: the server is not paused after `pause`, and has the old weights after `load`. */
  readonly unchanged?: boolean;
  /** The process that was paused is gone. */
  readonly gone?: boolean;
}

export type StepResult<T> = ({ readonly ok: true } & T) | ({ readonly ok: false } & StepFailure);

export interface SagaSteps {
  /** Learns the server's label, and pauses it unless that is the wanted one. `superseded`: another update has begun. */
  pause(url: string): Promise<StepResult<{ readonly before: string | null; readonly superseded?: boolean }>>;
  load(url: string): Promise<StepResult<{ readonly now: string }>>;
  /** `label`: set on the server's weights first. `now`: the label that the resumed server reports. */
  resume(url: string, label: string | null): Promise<StepResult<{ readonly now?: string | null }>>;
}

interface SagaOptions {
  readonly label: string;
  /** True: updates in progress are finished, no other is begun. */
  readonly stopped: () => boolean;
  readonly now: () => number;
  readonly onStep: (url: string, step: UpdateStep) => void;
  /** Awaited before the next server is begun. */
  readonly onServer: (update: ServerUpdate) => Promise<void>;
}

export async function updateServers(
  urls: readonly string[],
  steps: SagaSteps,
  options: SagaOptions,
): Promise<ServerUpdate[]> {
  const done = new Map<string, ServerUpdate>();
  const update = async (url: string, ask: boolean): Promise<UpdateState> => {
    const result = ask && !options.stopped() ? await updateOne(url, steps, options) : notAsked(url);
    done.set(url, result);
    options.onStep(url, 'done');
    await options.onServer(result);
    return result.state;
  };
  const waiting = [...urls];
  // One that cannot load the weights may end: the others are spared.
  let goOn = true;
  for (let proved = false; goOn && !proved && waiting.length > 0;) {
    const state = await update(waiting.shift()!, true);
    proved = state === 'updated';
    goOn = state !== 'refused' && state !== 'unsure' && state !== 'paused';
  }
  await Promise.all(waiting.map((url) => update(url, goOn)));
  return urls.map((url) => done.get(url)!);
}

/** A server that is started again between two steps has lost what was done: all is done once more, so often at most. */
const TRIES = 3;

async function updateOne(
  url: string,
  steps: SagaSteps,
  options: SagaOptions,
  startedAt = options.now(),
  tries = 1,
): Promise<ServerUpdate> {
  const { label, now, onStep } = options;
  let before: string | null = null;
  const result = (state: UpdateState, at: string | null, failure?: StepFailure): ServerUpdate => ({
    url,
    state,
    before,
    now: at,
    tookMs: now() - startedAt,
    reason: failure?.reason ?? null,
    error: failure?.error ?? null,
  });
  const goOn = async (as: string | null = null) => {
    onStep(url, 'continuing');
    return steps.resume(url, as);
  };

  onStep(url, 'pausing');
  const paused = await steps.pause(url);
  if (!paused.ok) {
    // A pause whose answer was lost would hold it for ever.
    const mayBePaused = !paused.gone && !paused.unchanged;
    const continued = mayBePaused ? await goOn() : { ok: true as const };
    return result(continued.ok || continued.gone ? 'unreached' : 'paused', null, paused);
  }
  if (paused.superseded) return result('not-asked', null);
  before = paused.before;
  if (before === label) return ended('already');

  onStep(url, 'loading');
  const loaded = await steps.load(url);
  if (loaded.ok) return ended('updated');
  const called = loaded.unchanged ? before : unsureLabel(label);
  const continued = loaded.gone ? { ok: false, gone: true } : await goOn(loaded.unchanged ? null : called);
  if (!continued.ok) return result(continued.gone ? 'unreached' : 'paused', null, loaded);
  return result(loaded.unchanged ? 'refused' : 'unsure', called, loaded);

  async function ended(state: 'already' | 'updated'): Promise<ServerUpdate> {
    const continued = await goOn();
    if (!continued.ok) return result(continued.gone ? 'unreached' : 'paused', label, continued);
    const { now: called = label } = continued;
    if (called === label) return result(state, label);
    if (tries < TRIES) return updateOne(url, steps, options, startedAt, tries + 1);
    const error = `It was started again ${tries} times during the update, and has ${called ?? 'weights without a label'}.`;
    return result('unreached', called, { reason: 'version-not-taken', error });
  }
}

function notAsked(url: string): ServerUpdate {
  return { url, state: 'not-asked', before: null, now: null, tookMs: 0, reason: null, error: null };
}
