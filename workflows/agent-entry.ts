// The entry of an agent's bundle: its function, from a module that is loaded when it is played. A module that throws while it
// loads fails its rollout by its own message; thrown at the top of a bundle, it would be tried again for ever.

import { ApplicationFailure } from '@temporalio/workflow';
import type { FunctionInput, FunctionOutput } from '../domain/agent/index.ts';
import { provideGlobals } from './sandbox-globals.ts';

type Play = (input: FunctionInput) => Promise<FunctionOutput>;

export async function agent(input: FunctionInput): Promise<FunctionOutput> {
  return (await played())(input);
}

async function played(): Promise<Play> {
  let ownModule: { readonly default?: unknown };
  provideGlobals();
  try {
    // @ts-expect-error -- a name that the bundle gives to the user's module
    // oxlint-disable-next-line house/rooms -- it is no room
    ownModule = (await import(/* webpackMode: "eager" */ 'everturn/own-agent')) as typeof ownModule;
  } catch (error) {
    const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
    const places = stack.split('\n').filter((line, i) => i === 0 || line.includes('agent:///'));
    throw ApplicationFailure.nonRetryable(message, 'agent-unloadable', `It does not load: ${places.join('\n')}`);
  }
  if (typeof ownModule.default === 'function') return ownModule.default as Play;
  throw ApplicationFailure.nonRetryable('Its module exports no function as its default.', 'agent-unloadable');
}
