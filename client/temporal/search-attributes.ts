// Ensures that a cluster has Everturn's search attributes: a workflow that sets an unknown one does not start. Adds the
// missing ones; without permission, the error contains the exact command for an administrator.

import type { Connection } from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { TemporalError } from '../../domain/errors/errors.ts';
import { SEARCH_ATTRIBUTES, type SearchAttributeType } from '../../domain/names/search-attributes.ts';

type Connected = Pick<Connection, 'operatorService'>;

/** temporal.api.enums.v1.IndexedValueType */
const WIRE_TYPES = { Keyword: 2, Int: 3, Double: 4 } as const satisfies Record<SearchAttributeType, number>;
const ALREADY_EXISTS = 6;
const VISIBLE_WITHIN_MS = 30_000;

/** Resolves to the names that had to be added. */
export async function ensureSearchAttributes(
  connection: Connected,
  namespace: string,
  wanted: Readonly<Record<string, SearchAttributeType>> = SEARCH_ATTRIBUTES,
): Promise<readonly string[]> {
  const missing = await missingOf(connection, namespace, wanted);
  if (missing.length === 0) return [];
  const searchAttributes = Object.fromEntries(missing.map(([name, type]) => [name, WIRE_TYPES[type]]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    // Another process added one meanwhile: the wait below checks whether all exist.
    if (codeOf(error) !== ALREADY_EXISTS) throw cannot('add', missing, namespace, error);
  }
  const deadline = Date.now() + VISIBLE_WITHIN_MS;
  while ((await missingOf(connection, namespace, wanted)).length > 0) {
    if (Date.now() > deadline)
      throw cannot('see', await missingOf(connection, namespace, wanted), namespace, new Error('they do not appear'));
    await sleep(250);
  }
  return missing.map(([name]) => name);
}

/** The names that are not there yet; changes nothing. */
export async function missingSearchAttributes(connection: Connected, namespace: string): Promise<readonly string[]> {
  return (await missingOf(connection, namespace, SEARCH_ATTRIBUTES)).map(([name]) => name);
}

type Attribute = readonly [name: string, type: SearchAttributeType];

async function missingOf(
  connection: Connected,
  namespace: string,
  wanted: Readonly<Record<string, SearchAttributeType>>,
): Promise<readonly Attribute[]> {
  const all = Object.entries(wanted);
  let known: Readonly<Record<string, number>>;
  try {
    known = (await connection.operatorService.listSearchAttributes({ namespace })).customAttributes ?? {};
  } catch (error) {
    throw cannot('list', all, namespace, error);
  }
  for (const [name, type] of all) {
    if (known[name] !== undefined && known[name] !== WIRE_TYPES[type])
      throw new TemporalError(
        `Search attribute ${name} exists in namespace ${namespace} with another type than ${type}.`,
        {
          reason: 'search-attribute-type',
          fix: `Use another namespace, or remove it: temporal operator search-attribute remove --namespace ${namespace} --name ${name}`,
        },
      );
  }
  return all.filter(([name]) => known[name] === undefined);
}

function cannot(
  verb: 'add' | 'list' | 'see',
  which: readonly Attribute[],
  namespace: string,
  cause: unknown,
): TemporalError {
  const flags = which.map(([name, type]) => ` --name ${name} --type ${type}`).join('');
  return new TemporalError(`Could not ${verb} the search attributes of namespace ${namespace}.`, {
    reason: 'search-attributes',
    fix:
      `An administrator of the cluster can add them: temporal operator search-attribute create --namespace ${namespace}${flags} ` +
      `(on Temporal Cloud: \`tcld namespace search-attributes add\`, or the namespace's page).`,
    cause,
  });
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
