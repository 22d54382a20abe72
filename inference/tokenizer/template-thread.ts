// A thread of chat-renderer.ts: shows the long calls of agents.

import { workerData } from 'node:worker_threads';
import type { CallToShow } from '../../domain/context/call-text.ts';
import { answerQuestions } from '../../local/machine/threads.ts';
import { showInThread, chatRenderer, type ShownOrNot, type TemplateFiles } from './chat-renderer.ts';

const renderer = chatRenderer(workerData as TemplateFiles);
answerQuestions<CallToShow, ShownOrNot>(async (call) => showInThread(call, renderer));
