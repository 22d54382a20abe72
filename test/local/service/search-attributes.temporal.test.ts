import { Connection } from '@temporalio/client';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { TemporalError } from '../../../domain/errors/errors.ts';
import { SEARCH_ATTRIBUTES } from '../../../domain/names/search-attributes.ts';
import { ensureSearchAttributes } from '../../../client/temporal/search-attributes.ts';
import { until } from '../../support/until.ts';

type Connected = Parameters<typeof ensureSearchAttributes>[0];

async function connected(): Promise<Connection> {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  onTestFinished(() => connection.close());
  return connection;
}

/** An operator service that answers from a script. */
function scripted(known: Record<string, number>, add: () => Promise<unknown>): Connected {
  const operatorService = {
    listSearchAttributes: async () => ({ customAttributes: known }),
    addSearchAttributes: add,
  };
  return { operatorService } as unknown as Connected;
}

const denied = () =>
  Promise.reject(Object.assign(new Error('7 PERMISSION_DENIED: Request unauthorized.'), { code: 7 }));

describe('search attributes', () => {
  test('adds to a namespace what is missing, once', async () => {
    const connection = await connected();
    const namespace = `attributes-${process.pid}-${Date.now()}`;
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
    const added = await until('the namespace', () =>
      ensureSearchAttributes(connection, namespace).catch(() => undefined),
    );
    expect([...added].sort()).toEqual(Object.keys(SEARCH_ATTRIBUTES).sort());
    expect(await ensureSearchAttributes(connection, namespace)).toEqual([]);
  });

  test('finds them all on the server that Everturn starts', async () => {
    expect(await ensureSearchAttributes(await connected(), 'default')).toEqual([]);
  });

  test('hands an administrator the exact command where adding is not permitted', async () => {
    const known = { EverturnRun: 2, EverturnQuery: 2, EverturnOutcome: 2, EverturnTurns: 3 };
    const error = await ensureSearchAttributes(scripted(known, denied), 'prod.x1').catch((e: unknown) => e);
    expect(error).toBeInstanceOf(TemporalError);
    expect((error as TemporalError).fix).toContain(
      'temporal operator search-attribute create --namespace prod.x1 --name EverturnReward --type Double --name EverturnVersion --type Int',
    );
  });

  test('asks for nothing where all are known, also without the right to add', async () => {
    const known = {
      EverturnRun: 2,
      EverturnQuery: 2,
      EverturnOutcome: 2,
      EverturnTurns: 3,
      EverturnReward: 4,
      EverturnVersion: 3,
    };
    expect(await ensureSearchAttributes(scripted(known, denied), 'default')).toEqual([]);
  });

  test('does not mind that somebody else added them first', async () => {
    const known: Record<string, number> = {};
    const add = () => {
      Object.assign(known, { A: 2 });
      return Promise.reject(Object.assign(new Error('6 ALREADY_EXISTS'), { code: 6 }));
    };
    expect(await ensureSearchAttributes(scripted(known, add), 'default', { A: 'Keyword' })).toEqual(['A']);
  });

  test('refuses an attribute of that name with another type', async () => {
    const known = { EverturnTurns: 2 };
    await expect(ensureSearchAttributes(scripted(known, denied), 'default')).rejects.toThrow(
      /EverturnTurns exists in namespace default with another type than Int/,
    );
  });
});
