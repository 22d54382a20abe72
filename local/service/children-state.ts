// Health of the supervisor's two children, and the state file that publishes it. Ready means that the server is SERVING
// and the worker takes work; once stopping, only `resume` can make it ready again.

import type { Home } from './home.ts';
import type { ProcessId } from '../machine/process.ts';
import { writeState, type ServiceState } from './state.ts';

type Part = 'server' | 'worker';

export class ServiceHealth {
  readonly #home: Home;
  readonly #up = { server: false, worker: false };
  #state: ServiceState;
  #wasReady = false;

  constructor(home: Home, initial: ServiceState) {
    this.#home = home;
    this.#state = initial;
    this.#write({});
  }

  get state(): ServiceState {
    return this.#state;
  }

  /** Whether it was ever ready: after that, failing starts are retried for ever. */
  get wasReady(): boolean {
    return this.#wasReady;
  }

  spawned(part: Part, id: ProcessId): void {
    this.#up[part] = false;
    this.#write({ [part]: id });
  }

  up(part: Part, addresses: Partial<Pick<ServiceState, 'address' | 'uiAddress'>> = {}): void {
    this.#up[part] = true;
    this.#write({ ...addresses, ...this.#readiness(null) });
  }

  down(part: Part, why: string): void {
    this.#up[part] = false;
    this.#write({ [part]: null, ...this.#readiness(`the ${part} went down: ${why}`) });
  }

  stopping(note: string | null): void {
    this.#write({ phase: 'stopping', note });
  }

  resume(): void {
    this.#write({ phase: 'starting' });
    this.#write(this.#readiness(null));
  }

  stopped(note: string | null): void {
    this.#write({ phase: 'stopped', server: null, worker: null, note });
  }

  #readiness(note: string | null): Partial<ServiceState> {
    if (this.#state.phase === 'stopping') return {};
    const ready = this.#up.server && this.#up.worker;
    this.#wasReady ||= ready;
    return { phase: ready ? 'ready' : 'starting', note };
  }

  #write(change: Partial<ServiceState>): void {
    this.#state = { ...this.#state, ...change };
    writeState(this.#home, this.#state);
  }
}
