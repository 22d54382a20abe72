// Reads what the user gives as an environment: an address, a module's file, or a command. Paths become absolute, since
// workers run elsewhere. A command is split as a shell does it, and never given to one.

import { extname, resolve } from 'node:path';
import type { EnvironmentDoor } from '../../domain/rollout/environment.ts';
import { UsageError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { isFileAt } from '../processes/launch.ts';
import { otherThanFile } from '../../local/machine/regular-file.ts';
import { FORBIDDEN, isForbiddenAddress } from '../../local/machine/forbidden-address.ts';

export interface Spec {
  readonly door: EnvironmentDoor;
  readonly words: readonly string[];
}

const MODULES: ReadonlySet<string> = new Set(['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']);
const SHELL = /[|&;<>`$]/;

/** `flag`: of a command alone, where it is not --environment. */
export function parseSpec(text: string, cwd: string, flag?: string): Spec {
  try {
    const spec = parse(text, cwd);
    if (flag === undefined || spec.door === 'command' || spec.door === 'module') return spec;
  } catch (error) {
    if (flag === undefined || !(error instanceof UsageError)) throw error;
    throw noCommand(flag, text, error.message.replace(/^.*?" |\.$/g, ''));
  }
  throw noCommand(flag, text, 'is no command');
}

function noCommand(flag: string, text: string, problem: string): UsageError {
  return new UsageError(`${flag} ${JSON.stringify(short(text, 200))} ${problem}.`, {
    reason: 'bad-value',
    fix: 'Give a command ("python3 my_agent.py"), or a file (./my-agent.ts, ./my_agent.py).',
  });
}

function parse(text: string, cwd: string): Spec {
  const given = text.trim();
  if (given.startsWith('queue:')) return { door: 'queue', words: [queueOf(given.slice('queue:'.length))] };
  const [, file] = /^rubric:(.*)$/s.exec(given) ?? [];
  if (file !== undefined) {
    if (isFileAt(resolve(cwd, file))) return { door: 'rubric', words: [resolve(cwd, file)] };
    throw noFile(given, resolve(cwd, file));
  }
  if (/^https?:\/\//i.test(given)) return { door: 'url', words: [addressOf(given)] };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(given)) throw refused(given, 'is no address of http or https');
  const whole = resolve(cwd, given);
  const isFile = isFileAt(whole);
  if (MODULES.has(extname(given).toLowerCase()) && (isFile || !/\s/.test(given))) {
    if (isFile) return { door: 'module', words: [whole] };
    throw noFile(given, whole);
  }
  const words = isFile ? [whole] : split(given);
  const [program = ''] = words;
  if (words.length === 1 && extname(program) === '.py') {
    if (!isFileAt(resolve(cwd, program))) throw noFile(given, resolve(cwd, program));
    return { door: 'command', words: ['python3', resolve(cwd, program)] };
  }
  if (words.length === 1 && !isFile) {
    throw noFile(given, whole, 'is neither a file nor a command with an argument');
  }
  return { door: 'command', words: words.map((word, i) => absolute(word, i, cwd)) };
}

/** Task queues of Everturn's own. */
const OURS = /^everturn(?:-|$)/;

/** `queue:my-queue`. */
function queueOf(text: string): string {
  if (/^[A-Za-z0-9][\w.@:/-]{0,199}$/.test(text) && !OURS.test(text)) return text;
  throw new UsageError(`--environment queue:${short(text, 80)} names no task queue of yours.`, {
    reason: 'bad-value',
    fix: 'Name it by letters, digits and . _ @ : / -, as in queue:countdown@1; everturn and everturn-… are Everturn’s.',
  });
}

/** Words that name files here; the program itself only if it is given by its path. */
function absolute(word: string, index: number, cwd: string): string {
  const path = resolve(cwd, word);
  if (index === 0) return word.includes('/') ? path : word;
  return /[./]/.test(word) && !word.startsWith('-') && isFileAt(path) ? path : word;
}

/** Words between blanks; quotes and backslashes as in a shell. */
function split(text: string): string[] {
  const words: string[] = [];
  let word = '';
  let inWord = false;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (quote !== '') {
      if (char === quote) quote = '';
      else if (char === '\\' && quote === '"' && /["\\]/.test(text[i + 1] ?? '')) word += text[++i]!;
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      inWord = true;
    } else if (char === '\\' && i + 1 < text.length) {
      word += text[++i]!;
      inWord = true;
    } else if (/\s/.test(char)) {
      if (inWord) words.push(word);
      word = '';
      inWord = false;
    } else {
      if (SHELL.test(char)) throw refused(text, `holds ${char}, and no shell reads it`);
      word += char;
      inWord = true;
    }
  }
  if (quote !== '') throw refused(text, `opens a quote (${quote}) that it does not close`);
  if (inWord) words.push(word);
  return words;
}

function addressOf(text: string): string {
  if (!URL.canParse(text)) throw refused(text, 'is no address');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    throw refused(`${url.protocol}//…@${url.host}`, 'holds a password, which would be written into the run');
  if (url.hash !== '') throw refused(text, `has ${short(url.hash, 40)}, which no server gets`);
  if (isForbiddenAddress(url.hostname)) throw refused(text, FORBIDDEN);
  return url.href;
}

function noFile(text: string, path: string, otherwise = 'is no file'): UsageError {
  const what = otherThanFile(path);
  return refused(text, what === null ? otherwise : `is ${what}`);
}

function refused(text: string, problem: string): UsageError {
  return new UsageError(`--environment ${JSON.stringify(short(text, 200))} ${problem}.`, {
    reason: 'bad-value',
    fix: 'Give a module (./my-env.ts), a command ("python3 my_env.py"), an address (https://rewards.internal/v1), a rubric (rubric:./rubric.json) or a queue (queue:my-queue).',
  });
}
