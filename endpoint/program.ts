// Runs the program of an agent: in a workspace of its own, with an endpoint on loopback whose address and secret it finds in
// the variables that the libraries of OpenAI and Anthropic read. Guarantees: the program ends with its process group, and with
// bubblewrap with all that it started, at its time limit, with its attempt and with this process; each attempt has the same
// folder, empty and its own (environments/processes/workspace.ts).

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  idempotencyKey,
  isFunction,
  isSession,
  lastWordsInLine,
  type ProgramRecord,
  taskOfRow,
} from '../domain/agent/index.ts';
import { AgentError } from '../domain/errors/errors.ts';
import { short } from '../domain/text/foreign-text.ts';
import {
  commandIdentity,
  commandLaunch,
  filesOfCommand,
  type Log,
  type ProcessLaunch,
} from '../environments/processes/launch.ts';
import { confineLaunch } from '../environments/processes/confine.ts';
import { GuardedLines } from '../environments/processes/guarded-lines.ts';
import { removeWorkspace, startIn, type Workspace } from '../environments/processes/workspace.ts';
import type { AgentAttempt, AgentEnded, Agents } from './agents.ts';
import { openContainer, type OpenContainer } from './containers/open.ts';
import { attemptEndpoint, timeoutError, newKey, type OwnEnd } from './attempt.ts';
import { type FunctionHost, playFunction } from './function.ts';
import { listenAt } from './http.ts';
import type { Sessions } from './sessions.ts';

interface AgentsOptions {
  readonly log: Log;
  /** A folder of this user alone: each program has its workspace in it. */
  readonly folder: string;
  /** The words to run for a run's program. Throws AgentError if this worker may not. */
  readonly permitted: (program: ProgramRecord, runFolder: string) => readonly string[];
  /** Undefined: this worker hands out no sessions. */
  readonly sessions?: Sessions | undefined;
  /** Plays an agent that is a function. */
  readonly host: FunctionHost;
}

const MAX_LINE_BYTES = 2 ** 20;
const TAIL_LINES = 12;

export function createAgents({ log, folder: workspaces, permitted, sessions, host }: AgentsOptions): Agents {
  return {
    async mayPlay(program, runFolder) {
      if (sessions && isSession(program)) return;
      const words = permitted(program, runFolder);
      if (!isFunction(program)) mustBe(program, words);
    },
    async play(attempt, runFolder) {
      if (sessions && isSession(attempt.program)) return sessions.play(attempt);
      const words = permitted(attempt.program, runFolder);
      if (isFunction(attempt.program)) return playFunction(attempt, runFolder, host);
      const folder = join(workspaces, workspaceOf(attempt, runFolder));
      await mkdir(workspaces, { recursive: true, mode: 0o700 });
      return played(attempt, commandLaunch(words, log), folder);
    },
  };
}

async function played(attempt: AgentAttempt, launch: ProcessLaunch, folder: string): Promise<AgentEnded> {
  const row = join(folder, '.everturn-row.json');
  const workspace: Workspace = { folder, token: attempt.token, mark: ['EVERTURN_ROW', row], signal: attempt.signal };
  const key = newKey();
  const endpoint = attemptEndpoint(attempt, key);
  const server = await listenAt(endpoint.answer);
  let container: OpenContainer | undefined;
  try {
    const code = filesOfCommand([launch.file, ...launch.args])[0] === undefined ? '' : launch.cwd;
    const env = { ...launch.env, ...variablesOf(attempt, server.url, key), EVERTURN_ROW: row, EVERTURN_CODE: code };
    const own = await startIn(workspace, attempt.mustBeLast, async () => {
      await writeFile(row, JSON.stringify(attempt.row));
      container = await containerOf(attempt, folder);
      const all = container ? { ...env, EVERTURN_EXEC: container.exec } : env;
      const ended = ran({ ...launch, cwd: folder, env: all }, withinTask(attempt));
      ended.catch(() => undefined);
      return { ended };
    });
    const ended = await endpoint.ended(own.ended);
    if (ended.cut === 'agent-timeout' && ended.last === null)
      throw timeoutError(`The agent ${launch.who}`, withinTask(attempt).program);
    return container ? await container.verified(ended) : ended;
  } finally {
    await server.close();
    await container?.remove().catch(() => undefined);
    await removeWorkspace(workspace).catch(() => undefined);
  }
}

/** In the attempt's folder: what a killed attempt left goes with it. */
async function containerOf({ program, row, id, signal }: AgentAttempt, folder: string) {
  const { container } = program;
  const place = { folder: join(folder, '.everturn-container'), key: idempotencyKey(id), signal };
  return container && openContainer({ container, row, ...place });
}

/** A task's own limit holds where it is the smaller one. */
function withinTask(attempt: AgentAttempt): AgentAttempt {
  const { program, row } = attempt;
  const own = program.container && taskOfRow(row)?.agent_timeout_sec;
  const timeoutSeconds = Math.min(program.timeoutSeconds, own ?? program.timeoutSeconds);
  return { ...attempt, program: { ...program, timeoutSeconds } };
}

/** One attempt of the process, to its end. */
function ran(launch: ProcessLaunch, { program, signal }: AgentAttempt): Promise<OwnEnd> {
  const tail: string[] = [];
  let last: Buffer = Buffer.of();
  return new Promise((resolve, reject) => {
    const take = (line: Buffer) => {
      if (line.toString('utf8').trim() !== '') last = line;
    };
    const log = (line: string) => {
      tail.push(line.slice(line.indexOf(': ') + 2));
      if (tail.length > TAIL_LINES) tail.shift();
      launch.log(line);
    };
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      lines.kill();
      settle();
    };
    const abort = () => end(() => reject(signal.reason as Error));
    const args = ['-c', 'exec "$@" </dev/null', 'everturn-agent', launch.file, ...launch.args];
    const limited = confineLaunch({ ...launch, file: '/bin/sh', args, log });
    const lines = new GuardedLines(limited, {
      maxLineBytes: MAX_LINE_BYTES,
      onLine: take,
      onTooLong: () => end(() => reject(tooLong(launch.who))),
      onEnd(how, code, cause) {
        const beyond = code === null ? undefined : limited.endings?.[code];
        if (beyond !== undefined) return end(() => reject(broken(`The agent ${launch.who} ${beyond}.`)));
        if (cause !== undefined || code === NOT_FOUND) return end(() => reject(notRun(launch.who, how, cause)));
        // Many programs end it with no line break.
        take(lines.rest);
        const read = isUtf8(last) ? lastWordsInLine(last.toString().trim()) : notText(last);
        if (read && 'problem' in read)
          return end(() => reject(broken(`The last line of the agent ${launch.who} ${read.problem}.`)));
        end(() => resolve({ code, said: read?.said ?? {}, tail: tail.join('\n') }));
      },
    });
    const timer = setTimeout(
      () =>
        end(() => {
          if (!program.container) return reject(timeoutError(`The agent ${launch.who}`, program));
          // Its tests judge what it did, as Harbor's do.
          resolve({ code: TIMED_OUT, said: {}, tail: tail.join('\n'), cut: 'agent-timeout' });
        }),
      program.timeoutSeconds * 1000,
    );
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
}

/** As of coreutils' timeout. */
const TIMED_OUT = 124;
/** The exit code of a shell that finds no program. */
const NOT_FOUND = 127;

/** The same for each attempt of a rollout, and of no other one. */
function workspaceOf({ id }: AgentAttempt, runFolder: string): string {
  const of = JSON.stringify([runFolder, id.query, id.sample, id.attempt]);
  return createHash('sha256').update(of).digest('hex').slice(0, 32);
}

/** The libraries of OpenAI and Anthropic, and what is built on them, need no other setting. */
function variablesOf({ id, attempt, seed, model }: AgentAttempt, url: string, key: string): Record<string, string> {
  return {
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_BASE: `${url}/v1`,
    OPENAI_API_KEY: key,
    OPENAI_MODEL: model,
    // Their traces would leave for another address, with this key.
    OPENAI_AGENTS_DISABLE_TRACING: '1',
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_SMALL_FAST_MODEL: model,
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
    EVERTURN_ATTEMPT: String(attempt),
    EVERTURN_KEY: idempotencyKey(id),
    EVERTURN_ROLLOUT_SEED: String(seed),
  };
}

function mustBe({ spec, fingerprint }: ProgramRecord, words: readonly string[]): void {
  if (commandIdentity(words) === fingerprint) return;
  throw new AgentError(`The agent ${short(spec.join(' '), 200)} is not the one of the run: its files have changed.`, {
    reason: 'agent-changed',
    fix: 'Bring the files back as they were when the run was made, and its rollouts go on; or begin a run with the new ones.',
    retryable: true,
    ofThisWorker: true,
  });
}

const notText = (line: Buffer) =>
  lastWordsInLine(line.toString('latin1').trim()) && { problem: 'has bytes that are no UTF-8' };

const notRun = (who: string, how: string, cause?: unknown): AgentError =>
  new AgentError(`The agent ${who} ${how}.`, { reason: 'agent-not-run', cause });

const broken = (message: string): AgentError => new AgentError(message, { reason: 'agent-broken' });

const tooLong = (who: string): AgentError =>
  new AgentError(`The agent ${who} wrote a line of more than ${MAX_LINE_BYTES} bytes to its standard output.`, {
    reason: 'agent-broken',
    fix: 'Write what is long to a file, or to standard error.',
  });
