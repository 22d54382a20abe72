// The door `function`: an environment that is code of the program that made the run, and is called in that program. Its calls
// are activities on the program's own queue, so that they wait for it while it is not there. State none or value: a call whose
// program was killed comes again.

import {
  type BeginParams,
  type EndParams,
  type EnvironmentRecord,
  MAX_REPLY_BYTES,
  type RespondParams,
} from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { sha256Hex } from '../../domain/text/sha256.ts';
import type { Environment } from '../environment.ts';
import { brokenError, reportedError, tooLarge } from '../processes/envelope.ts';
import { withinSeconds } from '../../local/machine/aborted-wait.ts';
import { failureOf, lateBy } from '../processes/function-call.ts';
import { statelessEnvironment } from './calls.ts';
import { parseHello } from './reply.ts';

interface InProgram {
  /** Aborts when the call's time is over, or when the rollout is cancelled. */
  readonly signal: AbortSignal;
}

/** A result is what docs/environment-messages.md says of the message of that name; fields of a reply may be left out. */
export interface EnvironmentFunctions {
  /** Lower-case letters, digits and hyphens; default: the function's name, or `function`. */
  readonly name?: string;
  /** The author's; it stands in the run's record. Default: `1`. */
  readonly version?: string;
  /** `value`: `state` of each result comes back with the next call. Default: `none`. */
  readonly state?: 'none' | 'value';
  /** The time limit of one call. Default: 60 s. */
  readonly timeoutSeconds?: number;
  /** Its replies may have `credit` and `train`. Default: false. */
  readonly credits?: boolean;
  readonly begin?: (params: BeginParams & InProgram) => unknown;
  readonly respond: (params: RespondParams & InProgram) => unknown;
  readonly end?: (params: EndParams & InProgram) => unknown;
}

/**
 * Judges an answer to a row of the data set: true or false is the verdict, a number the reward, and an object a whole reply
 * (`{ reward, verdict, messages, metrics, done }`, docs/environment-messages.md).
 */
export type EnvironmentFunction = (row: JsonObject, answer: string, call: RespondParams & InProgram) => unknown;

export interface ProgramEnvironment {
  readonly record: EnvironmentRecord;
  readonly environment: Environment;
}

const FIELDS: readonly string[] = ['name', 'version', 'state', 'timeoutSeconds', 'credits', 'begin', 'respond', 'end'];

/** Throws EnvironmentError for a name, a version or a limit that is none. */
export function programEnvironment(given: EnvironmentFunction | EnvironmentFunctions): ProgramEnvironment {
  const functions: Partial<EnvironmentFunctions> = typeof given === 'function' ? judging(given) : (given ?? {});
  const { name = 'function', version = '1', state = 'none', timeoutSeconds, credits, begin, respond, end } = functions;
  // An object of a class has fields of its own.
  const isPlain = Object.getPrototypeOf(functions) === Object.prototype;
  const alien = isPlain ? Object.keys(functions).find((field) => !FIELDS.includes(field)) : undefined;
  if (alien !== undefined)
    throw brokenError(name, 'hello', `it has the unknown field ${alien}`, `It may have ${FIELDS.join(', ')}.`);
  if (typeof respond !== 'function') {
    const fix = 'Give a function of row and answer, an object with `respond`, or what --environment takes.';
    throw brokenError(name, 'hello', 'it is no function, and has no function `respond`', fix);
  }
  const hello = parseHello(name, {
    ...{ protocol: 1, name, version, state, begins: begin !== undefined, ends: end !== undefined },
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    ...(credits !== undefined && { credits }),
  });
  if (hello.state !== 'none' && hello.state !== 'value') {
    throw brokenError(
      name,
      'hello',
      `its state is "${hello.state}"`,
      'A function of a program has the state none or value.',
    );
  }
  const source = [begin, typeof given === 'function' ? given : respond, end].map((step) => step?.toString() ?? null);
  const fingerprint = sha256Hex(JSON.stringify([name, version, state, typeof given, source]));
  const record: EnvironmentRecord = { ...hello, door: 'function', spec: [name], fingerprint };
  const environment = statelessEnvironment(record, async (method, params, { signal }) => {
    try {
      const call = async (limited: AbortSignal) =>
        functions[method]?.({ ...params, signal: limited } as RespondParams & InProgram);
      const reply = (await withinSeconds(record.timeoutSeconds, signal, lateBy(record.timeoutSeconds), call)) ?? {};
      if (JSON.stringify(reply).length > MAX_REPLY_BYTES) throw tooLarge(name);
      return reply;
    } catch (error) {
      if (signal.aborted || error instanceof EnvironmentError) throw error;
      throw reportedError(name, method, failureOf(error));
    }
  });
  return { record, environment };
}

function judging(judge: EnvironmentFunction): EnvironmentFunctions {
  return {
    name: nameOf(judge),
    async respond(call) {
      const judged = await judge(call.episode.row, call.answer, call);
      if (typeof judged === 'boolean') return { verdict: judged ? 'right' : 'wrong' };
      return typeof judged === 'number' ? { reward: judged } : judged;
    },
  };
}

/** `checkAnswer` becomes `check-answer`. */
function nameOf({ name }: EnvironmentFunction): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  const joined = words.replaceAll(/[^a-z0-9]+/g, '-').slice(0, 64);
  return joined.replaceAll(/^-+|-+$/g, '') || 'function';
}
