// The model behind a scripted server: runs that take time, can be aborted, and see the weights change under them.

import { setTimeout as sleep } from 'node:timers/promises';
import { isMade } from './toy-wire.ts';
import { contextLogprobs, draw, type Drawn, type Meaning } from './toy-model.ts';

export type Kind = 'sglang' | 'vllm' | 'openai';

export interface Shape {
  readonly kind: Kind;
  readonly vocabSize?: number;
  readonly length?: number;
  /** Where the server says its tokenizer is. */
  readonly modelPath?: string;
  readonly meaning?: Meaning;
  /** Of vLLM: /inference/v1/generate, and spans of versions with it. */
  readonly scaleOut?: boolean;
  /** Of vLLM: /weight_info. */
  readonly devMode?: boolean;
  /** Of SGLang: spans of versions. */
  readonly spans?: boolean;
  /** It says what each token was drawn from: SGLang where it is asked, vLLM always. */
  readonly sets?: boolean;
  /** It says the experts of each token: SGLang where it is asked, vLLM always. */
  readonly experts?: boolean;
  readonly msPerToken?: number;
  /** True: named requests that come now wait before their first token. */
  readonly held?: () => boolean;
  /** Folders of weights that it can load; nothing said: all but those whose names begin with `non`. */
  readonly folders?: readonly string[] | null;
  /** As it is served. */
  readonly name?: string;
  /** Which model it is: one with another word answers otherwise. */
  readonly model?: string;
  /** `ignored` has the model itself answer in silence; nothing said: it knows no way to load them. */
  readonly adapters?: 'taken' | 'ignored' | 'none';
  readonly apiKey?: string;
  readonly port?: number;
}

/** What the server itself wrote down of one run. */
export interface Logged {
  readonly context: readonly number[];
  readonly outputs: readonly Drawn[];
  /** One per output: which weights made it, and what the server called them then. */
  readonly weights: readonly string[];
  readonly versions: readonly string[];
}

export interface Run {
  readonly id: string;
  readonly outputs: readonly Drawn[];
  readonly finish: 'stop' | 'length' | 'abort';
  readonly spans: readonly { version: string; start: number; end: number }[];
}

export interface Engine {
  readonly shape: Required<Omit<Shape, 'port' | 'apiKey'>>;
  /** The word for the weights. To set it is to change the weights behind everybody's back. */
  version: string;
  /** Makes tokens by the weights of this folder's last name; the word for them stays. False where it has none there. */
  load(folder: string): boolean;
  /** The word alone. */
  name(version: string): void;
  paused: boolean;
  readonly log: readonly Logged[];
  generate(ask: {
    id: string;
    context: readonly number[];
    max: number;
    stops: readonly number[];
    draw: Omit<Parameters<typeof draw>[3], 'meaning'>;
    gone: () => boolean;
    adapter?: string | undefined;
  }): Promise<Run>;
  /** Of each id of a context after the one at `from`. */
  contextLogprobs(context: readonly number[], from?: number, adapter?: string): (number | null)[];
  /** Folders by name. */
  readonly adapters: Map<string, string>;
  /** Ends these, or all, with what they have. */
  abort(id: string | null): number;
}

export interface ToyEngine extends Engine {
  readonly running: () => number;
  /** Runs at once, at most, of clients that name their requests. */
  readonly peak: () => number;
  /** Runs whose client went away or that were aborted. */
  readonly aborted: string[];
}

export function toyEngine(given: Shape): ToyEngine {
  const shape: Engine['shape'] = {
    vocabSize: 692,
    length: 640,
    modelPath: '/models/model',
    meaning: given.kind === 'vllm' ? 'raw' : 'temperature',
    scaleOut: true,
    devMode: true,
    spans: true,
    sets: given.kind === 'sglang',
    experts: false,
    msPerToken: 0,
    held: () => false,
    folders: null,
    name: 'tiny',
    model: '',
    adapters: 'none',
    ...given,
  };
  const aborted: string[] = [];
  const runs = new Map<string, { aborted: boolean }>();
  const log: Logged[] = [];
  let peak = 0;
  let version = 'default';
  let weights = 'default';
  const adapters = new Map<string, string>();
  /** The weights that answer: an adapter by the last name of its folder. */
  const answering = (adapter: string | undefined) =>
    adapter === undefined || shape.adapters === 'ignored' ? weights : adapters.get(adapter)!.split('/').at(-1)!;

  const engine: ToyEngine = {
    running: () => runs.size,
    peak: () => peak,
    aborted,
    shape,
    log,
    adapters,
    paused: false,
    get version() {
      return version;
    },
    set version(word) {
      version = word;
      weights = word;
    },
    load(folder) {
      if (!(shape.folders?.includes(folder) ?? !/\/non[^/]*$/.test(folder))) return false;
      weights = folder.split('/').at(-1)!;
      return true;
    },
    name(word) {
      version = word;
    },
    async generate({ id, context, max, stops, draw: how, gone, adapter }) {
      const run = { aborted: false };
      // As it was when the request came: unloading it ends nothing.
      const own = adapter === undefined ? null : answering(adapter);
      runs.set(id, run);
      peak = Math.max(peak, [...runs.keys()].filter((name) => !isMade(name)).length);
      const outputs: Drawn[] = [];
      const spans: { version: string; start: number; end: number }[] = [];
      const noted = { context, outputs, weights: [] as string[], versions: [] as string[] };
      log.push(noted);
      try {
        const ids = [...context];
        while (!isMade(id) && shape.held() && !run.aborted && !gone()) await sleep(5);
        while (outputs.length < max && !stops.includes(outputs.at(-1)?.id ?? -1)) {
          if (shape.msPerToken > 0) await sleep(shape.msPerToken);
          while (engine.paused && !run.aborted && !gone()) await sleep(1);
          if (run.aborted || gone()) {
            aborted.push(id);
            return { id, outputs, finish: 'abort', spans };
          }
          const next = draw(ids, shape.vocabSize, weightsOf(shape.model + (own ?? weights)), {
            ...how,
            meaning: shape.meaning,
          });
          ids.push(next.id);
          outputs.push(next);
          noted.weights.push(own ?? weights);
          noted.versions.push(version);
          const last = spans.at(-1);
          if (last?.version === version) last.end = outputs.length;
          else spans.push({ version, start: outputs.length - 1, end: outputs.length });
        }
      } finally {
        runs.delete(id);
      }
      return { id, outputs, finish: stops.includes(outputs.at(-1)!.id) ? 'stop' : 'length', spans };
    },
    contextLogprobs: (context, from, adapter) =>
      contextLogprobs(context, shape.vocabSize, weightsOf(shape.model + answering(adapter)), from),
    abort(id) {
      const found = [...runs].filter(([name]) => id === null || name === id);
      for (const [, run] of found) run.aborted = true;
      return found.length;
    },
  };

  return engine;
}

export function weightsOf(version: string): number {
  return [...version].reduce((sum, c) => sum * 31 + c.codePointAt(0)!, 7) % 1e6;
}
