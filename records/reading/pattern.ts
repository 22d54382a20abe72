// A user's regular expression as a finder of texts, in bounded time: JavaScript's engine tries every way to match, so each
// text is searched under a time limit that stops the engine itself, and a pattern that exceeds it is refused. Guarantees:
// one text takes at most LIMIT_MS. Leaves out memory: an engine's own limit refuses what would be too large.

import { createContext, Script } from 'node:vm';
import { UsageError } from '../../domain/errors/errors.ts';
import { AROUND_CHARS, type Finder } from './search.ts';

/** Wall-clock: generous, so that a busy machine refuses no pattern that is sound. */
const LIMIT_MS = 5_000;
const MOST_CHARS = 1_000;
const MOST_COUNTED = 100_000;

/** In the other context: the pattern's matches that are not empty, their number, and the place of the first. */
const SEARCH = `(() => {
  let [count, at, end] = [0, -1, -1];
  pattern.lastIndex = 0;
  for (let found; count < most && (found = pattern.exec(text)); ) {
    if (found[0] === '') { pattern.lastIndex++; continue; }
    if (count++ === 0) [at, end] = [found.index, found.index + found[0].length];
  }
  return count + ' ' + at + ' ' + end;
})()`;

/** `^` and `$` are those of lines. Throws a UsageError for what is no pattern; so does the finder for one that is too slow. */
export function patternFinder(source: string, matchCase: boolean, limitMs = LIMIT_MS): Finder {
  if (source.length > MOST_CHARS) throw refused(source, `it has more than ${MOST_CHARS} characters`);
  const flags = matchCase ? 'gmu' : 'gimu';
  try {
    RegExp(source, flags);
  } catch (error) {
    throw refused(source, (error as Error).message.replace(/^Invalid regular expression: \/.*\/\w*: /s, ''));
  }
  const context = createContext(
    Object.assign(Object.create(null) as object, { source, flags, most: MOST_COUNTED, text: '' }),
    {
      codeGeneration: { strings: false, wasm: false },
    },
  ) as { text: string };
  new Script('globalThis.pattern = new RegExp(source, flags)').runInContext(context);
  const search = new Script(SEARCH);
  return (text) => {
    context.text = text;
    let found: string;
    try {
      found = String(search.runInContext(context, { timeout: limitMs }));
    } catch (error) {
      const slow = (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
      const why = slow
        ? `one text of ${text.length} characters takes more than ${limitMs / 1000} s`
        : (error as Error).message;
      throw refused(source, why, SIMPLER);
    } finally {
      context.text = '';
    }
    const [count = 0, at = 0, end = 0] = found.split(' ').map(Number);
    if (count === 0) return undefined;
    return {
      count,
      before: text.slice(Math.max(0, at - AROUND_CHARS), at),
      found: text.slice(at, end),
      after: text.slice(end, end + AROUND_CHARS),
    };
  };
}

function refused(source: string, why: string, fix = ESCAPE): UsageError {
  return new UsageError(`The pattern ${JSON.stringify(source.slice(0, 100))} cannot be used: ${why}.`, {
    reason: 'bad-value',
    fix,
  });
}

const ESCAPE =
  'Write a regular expression of JavaScript, with a backslash before signs that are meant as they are, or leave out --regex.';
const SIMPLER = 'Write it without a repetition inside a repetition, such as `(a+)+`.';
