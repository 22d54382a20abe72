// The library as lines of JSON, for programs in other languages: one request a line, `{id, method, params}`, and for each the
// lines `{id, event}` and then one `{id, result}` or `{id, error: {boundary, reason, message, fix}}`. Requests are answered as
// they are done, in any order. A stream (`rollouts`, `rows`) is opened, read by `next` and closed: its reader sets the pace.
// python/everturn/process.py is the other end.

import { setTimeout as sleep } from 'node:timers/promises';
import { unusable } from '../../domain/errors/unusable.ts';
import { samplesPerQuery } from '../../domain/samples/group.ts';
import { EverturnError, explain } from '../../domain/errors/errors.ts';
import { everturnVersion } from '../../local/machine/package-root.ts';
import { evaluate, type EvaluateOptions } from '../evaluate/evaluate.ts';
import { type OpenedRun, openPlace, type OpenOptions } from '../open-run.ts';
import { partsOf } from '../rollout.ts';
import { start, type StartOptions } from '../start.ts';
import type { WeightsOptions } from '../update-weights.ts';

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

type Write = (line: string) => Promise<void>;

interface Stream {
  readonly items: AsyncGenerator<object>;
  readonly end: AbortController;
  /** The item that is waited for. */
  next?: Promise<IteratorResult<object>> | undefined;
}

/** Items of one answer, at most, and how long it waits for more once it has one. */
const MOST_ITEMS = 64;
const MORE_MS = 20;

export async function serveJson(lines: AsyncIterable<string>, write: Write): Promise<void> {
  const streams = new Map<number, Stream>();
  const answering = new Set<Promise<void>>();
  try {
    for await (const line of lines) {
      const answer = answerTo(line, write, streams);
      answering.add(answer);
      void answer.finally(() => answering.delete(answer));
    }
  } finally {
    for (const { end } of streams.values()) end.abort();
    await Promise.all(answering);
  }
}

async function answerTo(line: string, write: Write, streams: Map<number, Stream>): Promise<void> {
  let id: number | null = null;
  const put = (part: object) => write(JSON.stringify({ id, ...part }));
  try {
    const request = JSON.parse(line) as Request;
    id = request.id;
    const onEvent = (event: object) => void put({ event });
    await put({ result: (await call(request, onEvent, streams)) ?? null });
  } catch (error) {
    await put({ error: await errorOf(error) });
  }
}

/** Its options are named as Python writes them: `at_turn`. */
async function errorOf(error: unknown) {
  if (!(error instanceof EverturnError))
    return { boundary: 'everturn', reason: 'error', message: explain(error), fix: null };
  const { errorInOptionNames, inPython } = await import('../option-names.ts');
  const { boundary, reason, message, fix } = errorInOptionNames(error) as EverturnError;
  return { boundary, reason, message: inPython(message), fix: fix === undefined ? null : inPython(fix) };
}

async function call(
  { id, method, params }: Request,
  onEvent: (event: object) => void,
  streams: Map<number, Stream>,
): Promise<unknown> {
  if (method === 'hello') return { version: everturnVersion() };
  if (method === 'next') return nextOf(streams, params['stream'] as number);
  if (method === 'close') return closed(streams, params['stream'] as number);
  if (method === 'start') {
    const started = await start({ ...(params as unknown as StartOptions), onEvent });
    return { found: started.found, ...(await headOf(await openPlace(started.folder, {}))) };
  }
  if (method === 'evaluate') {
    const {
      name: evaluation,
      refused,
      result,
    } = await evaluate({ ...(params as unknown as EvaluateOptions), onEvent });
    const facts = refused.map(async ({ benchmark, label, refused: error }) => {
      return { benchmark, label, ...(await errorOf(error)) };
    });
    return { evaluation, refused: await Promise.all(facts), ...(await result()) };
  }
  const { name, out, cwd, options = {}, ...rest } = params as Params;
  const run = await openPlace(name, { out, cwd });
  if (method === 'rollouts' || method === 'rows') {
    const end = new AbortController();
    const items = method === 'rows' ? run.rows(options) : run.rollouts({ ...options, signal: end.signal });
    streams.set(id, { items, end });
    return { stream: id };
  }
  return ofRun(run, method, { options, rest }, onEvent);
}

/** `total`: its rollouts, one attempt of each; 0 where nobody knows. */
async function headOf({ run, folder, store }: OpenedRun) {
  const record = (await store.get('run'))?.record;
  return { run, folder, total: record?.dataset ? (await store.countQueries()) * samplesPerQuery(record) : 0 };
}

interface Params extends Pick<OpenOptions, 'out' | 'cwd'> {
  readonly name: string;
  readonly options?: Readonly<Record<string, never>>;
  readonly [other: string]: unknown;
}

interface Given {
  readonly options: Readonly<Record<string, never>>;
  readonly rest: Readonly<Record<string, unknown>>;
}

async function ofRun(run: OpenedRun, method: string, { options, rest }: Given, onEvent: (event: object) => void) {
  switch (method) {
    case 'open':
      return headOf(run);
    case 'stats':
      return run.stats(options);
    case 'check':
      return run.check({ ...options, onBreach: onEvent });
    case 'export':
      return run.export(rest['format'] as string, rest['to'] as string, { ...options, onSkip: onEvent });
    case 'status':
      return run.status();
    case 'result':
      return run.result({ onWait: (why) => onEvent({ type: 'wait', why }) });
    case 'pause':
    case 'resume':
    case 'cancel':
      return run[method]();
    case 'tune':
      return run.tune({ maxConcurrent: options['maxConcurrent']! });
    case 'judge':
      return run.judge(options);
    case 'fork':
    case 'extend': {
      const { folder, found } = await run[method](options as never);
      return { found, ...(await headOf(await openPlace(folder, {}))) };
    }
    case 'updateWeights':
      return run.updateWeights({ ...(options as object as WeightsOptions), onServer: onEvent });
    case 'turns':
    case 'texts':
    case 'trajectory':
    case 'rows-of': {
      const { query, sample, attempt } = rest as { query: string; sample: number; attempt: number };
      const parts = partsOf(run.store, { run: run.run, query, sample, attempt });
      return parts[method === 'rows-of' ? 'rows' : method]();
    }
    default:
      throw unusable(`There is no method ${JSON.stringify(method)}.`, undefined, 'unknown-command');
  }
}

/** Waits for one item, and takes those that follow it at once. */
async function nextOf(streams: Map<number, Stream>, number: number): Promise<object> {
  const stream = streams.get(number);
  if (!stream) return { items: [], done: true };
  const items: object[] = [];
  while (items.length < MOST_ITEMS) {
    stream.next ??= stream.items.next();
    const found = await (items.length === 0 ? stream.next : Promise.race([stream.next, sleep(MORE_MS)]));
    if (!found) break;
    stream.next = undefined;
    if (found.done) {
      streams.delete(number);
      return { items, done: true };
    }
    items.push(found.value);
  }
  return { items, done: false };
}

async function closed(streams: Map<number, Stream>, number: number): Promise<void> {
  const stream = streams.get(number);
  streams.delete(number);
  stream?.end.abort();
  await stream?.items.return(undefined).catch(() => {});
}
