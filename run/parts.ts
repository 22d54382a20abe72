// The user's own code of a run: its environments, its agent and its tools, each asked once what it is, so that one that does not
// load is refused before anything is started. The options come back as they hold with it.

import { describeOnQueue } from '../client/temporal/describe-environment.ts';
import { unusable } from '../domain/errors/unusable.ts';
import type { Agent } from '../domain/rollout/agent.ts';
import type { EnvironmentRecord } from '../domain/rollout/environment.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { ModuleCode } from '../environments/processes/bundle.ts';
import type { Benchmark } from '../formats/benchmarks/find-rows.ts';
import { withLink } from '../local/service/link.ts';
import { describeProgram } from './agent-program.ts';
import { withAgent } from './agents.ts';
import { type Caller, linkOptionsOf } from './caller.ts';
import type { ResolvedOptions } from './config.ts';
import { describeOwn } from './environments.ts';
import { withAbsolutePaths } from './model.ts';
import { requireWorker } from './require-worker.ts';
import { describeRunTools } from './tools.ts';

export interface DescribedParts extends ResolvedOptions {
  readonly agent: Agent | undefined;
  /** As the settings of rollouts have them. */
  readonly settings: Pick<RolloutSettings, 'environments' | 'program' | 'tools'>;
  /** The code of modules and functions, which the run's folder holds. */
  readonly codes: readonly Pick<ModuleCode, 'sha256' | 'code'>[];
  /** Tries what a model has to answer for: a rubric. */
  tryOut(ask: (attempt: () => Promise<void>) => Promise<void>): Promise<void>;
}

/** `benchmark`: the one that is played. `dataset`: as the caller names it. */
export async function describeParts(
  given: ResolvedOptions,
  caller: Caller,
  benchmark?: Benchmark,
  dataset?: string,
): Promise<DescribedParts> {
  const ask = (queue: string) => askQueue(caller, queue);
  const described = await describeOwn(given.options.environment, caller, ask, benchmark);
  const { resolved: ofProgram, program, code } = await describeProgram(given, caller.cwd, dataset);
  const { resolved, agent } = withAgent(ofProgram, described);
  // As it was named, also where it is a program.
  const options = withAbsolutePaths({ ...resolved.options, agent: given.options.agent }, caller.cwd);
  const tools = await describeRunTools(options, caller, program !== undefined);
  const own = caller.functions?.environment;
  const environments = [...(own ? [own.record] : []), ...described.map(({ record }) => record)];
  mustHaveParts(environments, program !== undefined);
  return {
    ...{ options, origins: resolved.origins, agent },
    settings: {
      ...(environments.length > 0 && { environments }),
      ...(program && { program }),
      ...(tools.settings && { tools: tools.settings }),
    },
    codes: [...described.flatMap((one) => one.code ?? []), ...tools.codes, ...(code ? [code] : [])],
    async tryOut(ask) {
      for (const { tryOut } of described) if (tryOut) await ask(tryOut);
    },
  };
}

function mustHaveParts(environments: readonly EnvironmentRecord[], hasProgram: boolean): void {
  const one = hasProgram && environments.find(({ credits }) => credits);
  if (!one) return;
  const problem = `The environment ${one.name} says \`credits\`: rewards and masks of parts of an answer, which an agent's rollout does not take.`;
  throw unusable(problem, 'Leave `credits` out of its hello, or play it without --agent.', 'bad-arguments');
}

/** The description of an environment by its own worker, which must be there. */
const askQueue = (caller: Caller, queue: string): Promise<unknown> =>
  withLink(linkOptionsOf(caller), async (link) => {
    await requireWorker(caller.env, link, queue);
    return describeOnQueue(link.session, queue);
  });
