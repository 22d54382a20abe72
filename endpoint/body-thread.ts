// A thread of body.ts: parses large bodies.

import { answerQuestions } from '../local/machine/threads.ts';
import { type BodyBytes, readBytes, type ReadBody } from './body.ts';

answerQuestions<BodyBytes, ReadBody>(async (asked) => readBytes(asked));
