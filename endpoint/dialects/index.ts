// The dialects of model APIs that agents speak.

import { chatDialect } from './chat.ts';
import type { Dialect } from './dialect.ts';
import { messagesDialect } from './messages.ts';
import { responsesDialect } from './responses.ts';

export const DIALECTS: readonly Dialect[] = [chatDialect, responsesDialect, messagesDialect];
