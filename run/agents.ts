// The agent of a run: a named one, or one that a user's environment brings. Its settings take the place of defaults, and
// each is recorded with the origin `agent`. An agent without a number of turns has no end, and is refused.

import { type Agent, AGENTS, SAMPLES_OF, type SampleOf } from '../domain/rollout/agent.ts';
import { isEnvironmentName } from '../domain/rollout/environment.ts';
import { AGENT_SETTINGS } from '../domain/rollout/settings.ts';
import { unusable } from '../domain/errors/unusable.ts';
import { short } from '../domain/text/foreign-text.ts';
import type { JsonObject } from '../domain/text/json.ts';
import { parseValue, type ResolvedOptions } from './config.ts';
import type { RunOptions } from './options.ts';

/** Agents as an environment gives them, unread. */
export interface GivenAgents {
  readonly from: string;
  readonly agents: readonly JsonObject[];
}

/** Throws UsageError for an agent that there is not, that has no end, or whose settings do not fit. */
export function withAgent(
  resolved: ResolvedOptions,
  given: readonly GivenAgents[],
): { readonly resolved: ResolvedOptions; readonly agent: Agent | undefined } {
  const { options, origins } = resolved;
  if (options.agent === null) return { resolved, agent: undefined };
  const agent = agentNamed(options.agent, given);
  const preset = Object.entries(agent.settings).filter(([key]) => origins[key as keyof RunOptions] === 'default');
  const changed = {
    options: { ...options, ...Object.fromEntries(preset) },
    origins: { ...origins, ...Object.fromEntries(preset.map(([key]) => [key, 'agent'] as const)) },
  };
  const { numTurns } = changed.options;
  if (agent.sampleOf === 'query' && numTurns !== 1) {
    const message = `The agent ${agent.name} makes one sample of a query's answers, and numTurns is ${numTurns}.`;
    throw unusable(message, 'Leave --num-turns out (it is 1), or choose math-multi-turn.');
  }
  return { resolved: changed, agent };
}

function agentNamed(name: string, given: readonly GivenAgents[]): Agent {
  const own = given.flatMap(({ from, agents }) => agents.map((agent) => parseAgent(agent, from)));
  const all = [...AGENTS, ...own];
  const twice = all.find((agent, i) => all.findIndex((other) => other.name === agent.name) < i);
  if (twice) {
    const fix = `Rename one of them; ${AGENTS.map((agent) => agent.name).join(', ')} are Everturn's.`;
    throw unusable(`Two agents are named ${JSON.stringify(twice.name)}.`, fix);
  }
  const found = all.find((agent) => agent.name === name);
  if (found) return found;
  const fix = `Choose one of: ${all.map((agent) => agent.name).join(', ')}. An environment may bring others (docs/environments.md).`;
  throw unusable(`There is no agent ${JSON.stringify(short(name, 80))}.`, fix, 'unknown-agent');
}

/** `{"name", "numTurns", …}`, as an environment describes it. */
export function parseAgent({ name, sampleOf = 'rollout', ...settings }: JsonObject, from: string): Agent {
  const refuse = (problem: string, fix: string, reason: 'bad-value' | 'agent-without-end' = 'bad-value'): never => {
    const title = typeof name === 'string' ? ` ${JSON.stringify(short(name, 80))}` : '';
    throw unusable(`The agent${title} of ${from} ${problem}.`, fix, reason);
  };
  if (typeof name !== 'string' || !isEnvironmentName(name))
    return refuse('has no `name` of a-z, 0-9 and hyphens', 'Name it, as in {"name": "patient", "numTurns": 8}.');
  if (!SAMPLES_OF.includes(sampleOf as SampleOf))
    return refuse(`has the \`sampleOf\` ${short(JSON.stringify(sampleOf), 40)}`, `It is ${SAMPLES_OF.join(' or ')}.`);
  if (typeof settings['numTurns'] !== 'number')
    return refuse('has no end', 'Give it `numTurns`: its turns at most, from 1 to 1000.', 'agent-without-end');
  const known: readonly string[] = AGENT_SETTINGS;
  const parsed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(settings)) {
    if (!known.includes(key))
      return refuse(`has the setting ${JSON.stringify(short(key, 40))}`, `It may have: ${known.join(', ')}.`);
    const setting = key as (typeof AGENT_SETTINGS)[number];
    parsed[key] = parseValue(setting, value, `the agent ${name} of ${from}, ${key}`);
  }
  return { name, settings: parsed as unknown as Agent['settings'], sampleOf: sampleOf as SampleOf };
}
