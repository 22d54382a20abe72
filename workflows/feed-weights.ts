// New weights, as a trainer publishes them through the feed: the saga gives them to every server before the clock of
// admission moves. A part of the servers is enough: one that lacks the version gets it before it makes a token.

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { executeChild, ParentClosePolicy } from '@temporalio/workflow';
import type { FeedInput } from '../domain/feed/messages.ts';
import { lineLabel } from '../domain/feed/line.ts';
import type { FeedState } from '../domain/feed/state.ts';
import { TASK_QUEUE } from '../domain/names/queues.ts';
import { refusal } from './feed-steps.ts';
import { RUN_ATTRIBUTE } from './search-attributes.ts';

/** The part of the saga's result that the feed reads. */
interface WeightsEnd {
  readonly state: string;
  readonly servers: readonly { readonly error: string | null }[];
}

/** The saga, by its type: it gives the weights to every server, and always lets them go on. */
export async function loadWeights(
  { run, out }: Pick<FeedInput, 'run' | 'out'>,
  state: FeedState,
  number: number,
  { weights, ...kind }: { readonly weights: string; readonly adapter?: true },
): Promise<void> {
  // On the servers a version that goes back is a rewind, which must be declared.
  const goesBack = number <= state.loaded;
  // Published again from another folder, it needs another label than before: the saga makes one.
  const isAgain = number === state.version && state.weights !== null;
  const label = !isAgain ? { label: lineLabel(state.line, number) } : {};
  state.settled = false;
  try {
    const ended = await executeChild<(input: object) => Promise<WeightsEnd>>('updateWeights', {
      workflowId: `${run}/${goesBack ? 'rewind' : 'weights'}-${number}`,
      taskQueue: TASK_QUEUE,
      // It always lets its servers go on, also after the end of the feed.
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [{ run, out, version: number, weights, ...kind, ...label, ...(goesBack ? { rewind: true } : {}) }],
      staticSummary: `version ${number} from ${weights}`.slice(0, 180),
      memo: { out, weights },
      typedSearchAttributes: [{ key: RUN_ATTRIBUTE, value: run }],
    });
    // A server that lacks it gets it before it makes a token.
    if (ended.state === 'whole' || ended.state === 'partial') {
      // Also where a rewind comes before it is published.
      state.loaded = number;
      return;
    }
    const why = ended.servers.find(({ error }) => error !== null)?.error;
    throw new Error(`the update ended as \`${ended.state}\`${why ? `: ${why}` : ''}`);
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) {
      throw refusal({
        reason: 'update-in-progress',
        message: `The weights of version ${number} are being loaded.`,
        fix: 'Ask again when that has ended.',
      });
    }
    throw refusal({
      reason: 'weights-not-loaded',
      message: `The weights of version ${number} were not loaded: ${rootOf(error as Error).message.replace(/\.$/, '')}.`,
      fix: 'The version is not published: mend that and publish it again.',
    });
  }
}

/** The failure that the others only wrap. */
function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}
