// Loaded into a worker before its own code (`node --import`): its clock is off by as many milliseconds as the file
// EVERTURN_CLOCK says, from one moment to the next. Only what JavaScript calls the time: timers go on as ever.

import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env.EVERTURN_CLOCK;
if (file && isMainThread && process.argv[2] === 'worker') {
  const Real = Date;
  const now = Real.now;
  let off = 0;
  const look = () => {
    try {
      off = Number(readFileSync(file, 'utf8'));
    } catch {
      // Not written yet.
    }
  };
  look();
  setInterval(look, 50).unref();
  globalThis.Date = class Date extends Real {
    constructor(...given) {
      if (given.length > 0) super(...given);
      else super(now() + off);
    }

    static now() {
      return now() + off;
    }
  };
}
