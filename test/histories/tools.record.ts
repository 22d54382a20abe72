// A rollout whose model calls tools: several at once, one after the other, one in the sandbox, and one that cannot be run.
// One history, since all of them together have a limit.

import { afterAll, beforeAll } from 'vitest';
import { callText } from '../support/tool-chat.ts';
import { recorder, RIGHT, TOOLS } from './recorder.ts';

const { open, close, rollout } = recorder();
beforeAll(open);
afterAll(close);

const call = (name: string) => callText(name, {});
const says = [call('look') + call('look') + call('send'), call('run') + call('none'), RIGHT];

rollout('rollout-tools', { settings: { numTurns: 1, tools: TOOLS } }, { answer: ({ turn }) => says[turn - 1]! });
