// Updates that the server gave back unseen are sent again; any other failure is the caller's.

import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { untilSeen } from '../../client/temporal/unseen.ts';

const UNSEEN =
  "Workflow Update is rejected because it wasn't processed by worker. Probably, Workflow Update is not supported by the worker.";
const failed = (message: string) => new WorkflowUpdateFailedError('failed', ApplicationFailure.create({ message }));

async function sent(failures: readonly Error[]) {
  let times = 0;
  const update = async () => {
    const failure = failures[times++];
    if (failure) throw failure;
    return 'done';
  };
  const outcome = await untilSeen(update).catch((error: Error) => error);
  return { times, outcome };
}

describe('an Update', () => {
  test('that no task answered is sent again until one does', async () => {
    expect(await sent([failed(UNSEEN), failed(UNSEEN)])).toEqual({ times: 3, outcome: 'done' });
  });

  test('that a workflow refused is sent once', async () => {
    const refusal = failed('This line is stale.');
    expect(await sent([refusal])).toEqual({ times: 1, outcome: refusal });
  });

  test('that nobody ever answers is given up', async () => {
    const { times, outcome } = await sent(Array.from({ length: 100 }, () => failed(UNSEEN)));
    expect(times).toBe(10);
    expect(outcome).toBeInstanceOf(WorkflowUpdateFailedError);
  });
});
