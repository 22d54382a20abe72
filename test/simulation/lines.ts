// Which lines of workflows/ no run reached: a second witness beside the table of transitions. V8 counts, and the
// bundle's source map says which lines are meant.

import { Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

const FILENAME = '/simulated-workflow-bundle.js';

export async function unreachedLines(code: string, run: (filename: string) => Promise<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  await run(FILENAME);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  const counted = result.filter((script) => script.url === FILENAME);
  const reached = new Set<string>();
  const known = new Map<string, string>();
  const map = new SourceMap(sourceMapOf(code));
  for (const script of counted) {
    const ranges = script.functions.flatMap((f) => f.ranges as Range[]);
    for (const { place, offset, text } of statements(code, map)) {
      known.set(place, text);
      if (innermost(ranges, offset).count > 0) reached.add(place);
    }
  }
  return [...known].filter(([place]) => !reached.has(place)).map(([place, text]) => `${place}: ${text}`);
}

/** Every generated line that comes from a line of workflows/. */
function* statements(code: string, map: SourceMap) {
  let offset = 0;
  for (const [line, text] of code.split('\n').entries()) {
    const indent = text.length - text.trimStart().length;
    const from = map.findEntry(line, indent) as {
      originalSource?: string;
      originalLine?: number;
      generatedLine?: number;
    };
    const file = from.originalSource?.match(/\/(workflows\/[\w-]+\.ts)$/)?.[1];
    if (file && from.generatedLine === line && /\w/.test(text)) {
      yield { place: `${file}:${from.originalLine! + 1}`, offset: offset + indent, text: text.trim() };
    }
    offset += text.length + 1;
  }
}

function innermost(ranges: readonly Range[], offset: number): Range {
  let best: Range = { startOffset: 0, endOffset: Infinity, count: 0 };
  for (const range of ranges) {
    const inside = range.startOffset <= offset && offset < range.endOffset;
    if (inside && range.endOffset - range.startOffset <= best.endOffset - best.startOffset) best = range;
  }
  return best;
}

function sourceMapOf(code: string) {
  const inline = code.slice(code.lastIndexOf('//# sourceMappingURL=')).replace(/^[^,]*,/, '');
  return JSON.parse(Buffer.from(inline, 'base64').toString()) as ConstructorParameters<typeof SourceMap>[0];
}
