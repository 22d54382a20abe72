// The questions of the pages over HTTP: `/api/<question>?args=<its arguments, as JSON>`. Every name in it is looked up among the
// runs and their rollouts, and is never a path of the file system.

import { ASKS, type Asks, flawOfArguments } from './model/asks.ts';
import { jsonIn, Refusal } from './guard.ts';

export async function answerTo(from: Asks, { pathname, searchParams }: URL): Promise<unknown> {
  const [, root, name = '', ...rest] = pathname.split('/');
  if (root !== 'api' || rest.length > 0 || !Object.hasOwn(ASKS, name))
    throw new Refusal(404, `The viewer has nothing at ${JSON.stringify(pathname.slice(0, 100))}.`);
  const question = name as keyof Asks;
  const given = jsonIn(searchParams.get('args') ?? '[]', '`args`');
  const flaw = Array.isArray(given) ? flawOfArguments(question, given) : 'is no list';
  if (flaw !== undefined) throw new Refusal(400, `\`args\` ${flaw}.`);
  return (from[question] as (...given: unknown[]) => Promise<unknown>)(...(given as unknown[]));
}
