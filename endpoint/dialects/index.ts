// The dialects of model APIs that agents speak.

import { chat } from './chat.ts';
import type { Dialect } from './dialect.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

export const DIALECTS: readonly Dialect[] = [chat, responses, messages];
