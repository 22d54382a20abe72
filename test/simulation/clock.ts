// Virtual time: what is due next happens next, and nothing takes any real time. Two things that are due at the
// same moment happen in the order in which they were asked for.

export interface Clock {
  /** Epoch milliseconds of the simulated world. */
  readonly now: number;
  /** Things that happened so far. */
  readonly moments: number;
  after(ms: number, act: () => void | Promise<void>): void;
  /** Makes the next thing happen; false when there is none. */
  step(): Promise<boolean>;
}

const EPOCH_MS = Date.UTC(2030, 0, 1);

export function openClock(): Clock {
  const due: { readonly at: number; readonly act: () => void | Promise<void> }[] = [];
  let now = EPOCH_MS;
  let moments = 0;
  return {
    get now() {
      return now;
    },
    get moments() {
      return moments;
    },
    after(ms, act) {
      const at = now + Math.max(0, Math.round(ms));
      let place = due.length;
      while (place > 0 && due[place - 1]!.at <= at) place--;
      // Latest first, so that the next one is popped from the end.
      due.splice(place, 0, { at, act });
    },
    async step() {
      const next = due.pop();
      if (!next) return false;
      now = next.at;
      moments++;
      await next.act();
      return true;
    },
  };
}
