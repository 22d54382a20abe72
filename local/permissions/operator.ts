// Permissions that a worker's operator grants beyond the user's own runs: three lists, by flags of `everturn worker` or
// by environment. Each is read once, when the worker starts; an invalid list is rejected then.

import { resolve } from 'node:path';
import { BUCKET_FORM, bucketProblem, isBucketPlace, parseBucketPlace } from '../../domain/run/bucket-place.ts';
import { UsageError } from '../../domain/errors/errors.ts';
import { realPath } from './folders.ts';

interface KeyRule {
  readonly name: string;
  /** `https://host:port` of servers; null: the servers of the command that started the run. */
  readonly origin: string | null;
}

export interface Operator {
  /** Runs are written, and data sets read, in these folders and below, after links are resolved. */
  readonly runsUnder: readonly string[];
  /** Folders with models and tokenizers below them, and hub ids. */
  readonly models: readonly string[];
  readonly keys: readonly KeyRule[];
  /** Names of variables that the command which started a run may use without a rule. */
  readonly ownKeys: 'any' | 'api-keys' | 'listed';
  /** Environments and tools that a run brings in its folder are run here, as this user. */
  readonly runModules: boolean;
  readonly serve: readonly string[];
  /** Commands of MCP servers: the tools of runs that have the same. */
  readonly mcp: readonly string[];
  /** Words of the commands of agents: runs that have the same. */
  readonly agents: readonly (readonly string[])[];
}

export interface OperatorWords {
  readonly runModules?: boolean | undefined;
  readonly serve?: readonly string[] | undefined;
  readonly mcp?: readonly string[] | undefined;
  readonly agents?: readonly (readonly string[])[] | undefined;
  readonly runsUnder?: string | undefined;
  readonly models?: string | undefined;
  readonly apiKeyEnv?: string | undefined;
}

const OPERATOR_VARIABLES = {
  runsUnder: 'EVERTURN_RUNS_UNDER',
  models: 'EVERTURN_ALLOWED_MODELS',
  apiKeyEnv: 'EVERTURN_ALLOWED_KEYS',
} as const satisfies Partial<Record<keyof OperatorWords, string>>;

/** The lists of names. */
type OperatorList = keyof typeof OPERATOR_VARIABLES;

/** `local`: the worker of the local service, which serves one user only. Flags override the environment. */
export function operatorOf(
  env: Readonly<Record<string, string | undefined>>,
  flags: OperatorWords = {},
  { local = false, cwd = process.cwd() } = {},
): Operator {
  const from = local ? null : cwd;
  const said = (what: OperatorList) => list(flags[what] ?? env[OPERATOR_VARIABLES[what]] ?? '');
  const folders = said('runsUnder');
  const keys = said('apiKeyEnv').map(keyRule);
  return {
    runsUnder: (folders.length > 0 || local ? folders : ['runs']).map((folder) => folderOf(folder, from)),
    models: said('models').map((model) => (isPath(model) ? folderOf(model, from) : model)),
    keys,
    runModules: flags.runModules === true,
    serve: flags.serve ?? [],
    mcp: flags.mcp ?? [],
    agents: flags.agents ?? [],
    ownKeys: keys.length > 0 ? 'listed' : local ? 'any' : 'api-keys',
  };
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** A path as in a shell; text with a single slash in its middle is a hub id. */
function isPath(text: string): boolean {
  return /^\.{0,2}\//.test(text) || /^\.{1,2}$/.test(text);
}

function folderOf(text: string, cwd: string | null): string {
  if (isBucketPlace(text)) {
    const place = text.replace(/\/+$/, '');
    if (parseBucketPlace(place)) return place;
    throw new UsageError(`${JSON.stringify(text)} is no place in a bucket: ${bucketProblem(place)}.`, {
      reason: 'bad-value',
      fix: BUCKET_FORM,
    });
  }
  if (cwd === null && !text.startsWith('/')) {
    throw new UsageError(`${text} cannot be a permitted folder: the local service has no working directory of yours.`, {
      reason: 'bad-value',
      fix: 'Give an absolute path.',
    });
  }
  const folder = realPath(resolve(cwd ?? '/', text));
  if (folder !== undefined) return folder;
  throw new UsageError(`${text} cannot be a permitted folder: it cannot be read, or a link in it is broken.`, {
    reason: 'bad-value',
    fix: 'Name an existing folder.',
  });
}

function keyRule(text: string): KeyRule {
  const [name = '', url, ...rest] = text.split('=');
  const origin = url === undefined ? null : originOf(url.trim());
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && origin !== undefined && rest.length === 0) return { name, origin };
  // The value is not repeated: somebody may have pasted a key in place of its name.
  throw new UsageError('A part of --api-key-env is neither NAME nor NAME=<url of a server>.', {
    reason: 'bad-value',
    fix: 'Right would be OPENAI_API_KEY=https://api.openai.com, or several with commas between them.',
  });
}

function originOf(text: string): string | undefined {
  const { protocol, origin } = URL.canParse(text) ? new URL(text) : { protocol: '', origin: '' };
  return protocol === 'http:' || protocol === 'https:' ? origin : undefined;
}

const FLAGS = { runsUnder: '--runs-under', models: '--models', apiKeyEnv: '--api-key-env' } as const;

/** `entry`: what the operator would add to the list. */
export function notAllowed(what: string, list: keyof typeof OPERATOR_VARIABLES, entry: string): UsageError {
  return new UsageError(`This worker does not ${what} for a workflow.`, {
    reason: 'not-allowed',
    fix:
      `\`everturn worker ${FLAGS[list]} ${entry}\` allows it, or ${OPERATOR_VARIABLES[list]} (docs/security.md); ` +
      'what `everturn run` starts is allowed by itself, for the workers of the same user.',
    ofThisWorker: true,
  });
}

export function quotedShort(value: unknown): string {
  return JSON.stringify(String(value).slice(0, 200));
}

/** A text that a shell takes as one plain word, or a stand-in for it. */
export function plainWord(text: string): string {
  return /^[\w./:@+-]{1,200}$/.test(text) ? text : '<name>';
}
