// Which blocks of the workflows' sources never ran between two moments, by V8's own count: nothing in the
// code is altered for it. Workers that start in between run their workflows in this very thread, where V8 counts.

import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';

export interface Unrun {
  /** `workflows/steering.ts:31` */
  readonly place: string;
  /** Its code, as it was bundled. */
  readonly code: string;
}

export interface Covered {
  /** How many there are. */
  readonly blocks: number;
  readonly unrun: readonly Unrun[];
}

export interface WorkflowCoverage {
  /** What of the sources in `room` did not run. */
  end(room: string): Promise<Covered>;
}

const MAP = /\/\/# sourceMappingURL=data:application\/json;charset=utf-8;base64,(\S+)/;

export async function coverWorkflows(bundle: string): Promise<WorkflowCoverage> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const debug = process.env['TEMPORAL_DEBUG'];
  process.env['TEMPORAL_DEBUG'] = 'true';
  return {
    async end(room) {
      const { result } = await session.post('Profiler.takePreciseCoverage');
      session.disconnect();
      if (debug === undefined) delete process.env['TEMPORAL_DEBUG'];
      else process.env['TEMPORAL_DEBUG'] = debug;
      const text = readFileSync(bundle, 'utf8');
      const payload = JSON.parse(Buffer.from(MAP.exec(text)![1]!, 'base64').toString()) as SourceMapPayload;
      const placeOf = placesIn(text, new SourceMap(payload));
      const unrun: Unrun[] = [];
      let blocks = 0;
      const scripts = result.filter(({ url }) => url.endsWith(bundle));
      for (const range of scripts.flatMap((s) => s.functions).flatMap((f) => f.ranges)) {
        const code = text.slice(range.startOffset, range.endOffset).trim();
        const place = placeOf(
          range.startOffset + /^\s*/.exec(text.slice(range.startOffset, range.endOffset))![0].length,
        );
        if (!place?.startsWith(`${room}/`) || /^[;})\s]*$/.test(code)) continue;
        blocks++;
        if (range.count === 0) unrun.push({ place, code });
      }
      return { blocks, unrun };
    },
  };
}

/** From a place in the bundle to `<room>/<file>:<line>` of its source. */
function placesIn(text: string, map: SourceMap): (offset: number) => string | undefined {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let line = 0;
    for (let step = 2 ** 20; step >= 1; step /= 2) if (starts[line + step]! <= offset) line += step;
    const entry = map.findEntry(line, offset - starts[line]!);
    if (!('originalSource' in entry)) return undefined;
    const file = /[^/]+\/[^/]+$/.exec(entry.originalSource)?.[0];
    return file && `${file}:${entry.originalLine + 1}`;
  };
}
