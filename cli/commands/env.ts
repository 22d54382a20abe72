// `everturn env new <name>`: an environment and a data set to begin with. `everturn env test <what> <rows>`: plays the rows
// with made-up answers, without a model or Temporal, and says what breaks the contract.

import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type EnvironmentReply,
  environmentTitle,
  isEnvironmentName,
  verdictOf,
} from '../../domain/rollout/environment.ts';
import { oneLine, short } from '../../domain/text/foreign-text.ts';
import { TASKS, type Query } from '../../domain/query/query.ts';
import { packageRoot } from '../../local/machine/package-root.ts';
import { mustBeOutsideRuns } from '../../records/run/outside-runs.ts';
import { openDataset } from '../../formats/datasets/index.ts';
import { findDataset } from '../../formats/hub/find-dataset.ts';
import { badRowText } from '../../formats/datasets/row-fault.ts';
import { tryRow } from '../../environments/own/try-row.ts';
import { command, commands, flag, unusable, wholeFlag, withDefault, type Answer, type Values } from '../command.ts';
import { type Io, print, typable } from '../io.ts';
import { EXIT } from '../exit.ts';
import { plural } from '../format.ts';
import { unpacked } from '../../run/environments.ts';
import { callerOf } from '../play/say-event.ts';

const OF_TEST = {
  limit: withDefault(wholeFlag('<n>', 'rows to play', 1), 5),
  turns: withDefault(wholeFlag('<n>', 'turns of each', 1), 3),
  json: flag('one JSON object on stdout'),
};

export const env = commands({
  new: command({
    description: 'Write an environment, and rows to try it with, into this folder.',
    args: { '<name>': 'its name: a-z, 0-9 and hyphens' },
    flags: { python: flag('in Python (default: TypeScript)') },
    run: (io, { name, python }) => newEnvironment(io, name, python),
  }),
  test: command({
    description: 'Play rows of a data set with made-up answers, and say what breaks the contract.',
    args: {
      '<environment>': 'a module, a command or an address, as for `everturn run --environment`',
      '<dataset>': 'a file of rows',
    },
    flags: OF_TEST,
    help:
      'Each row is played twice, the second time with all processes ended between two turns: both must give the same\n' +
      'replies. `end` is called twice.\n\nExit codes: 0 nothing broke; 1 a breach; 2 it does not load; 6 the data set.\n\n' +
      'Example:\n  everturn env new countdown --python && everturn env test ./countdown.py countdown.jsonl',
    run: testEnvironment,
  }),
});

async function newEnvironment(io: Io, name: string, python: boolean): Promise<Answer> {
  if (!isEnvironmentName(name) || (TASKS as readonly string[]).includes(name)) {
    const fix = `Use a-z, 0-9 and hyphens, at most 64 of them, as in countdown; ${TASKS.join(', ')} are taken.`;
    throw unusable(`${JSON.stringify(name)} cannot name an environment.`, fix);
  }
  const template = (file: string) => readFileSync(join(packageRoot(), 'examples/new-environment', file), 'utf8');
  const ending = python ? 'py' : 'ts';
  const [code, rows] = [`${name}.${ending}`, `${name}.jsonl`];
  await write(io, code, template(`environment.${ending}`).replace('my-environment', name));
  await write(io, rows, template('rows.jsonl'));
  const next = `  everturn env test ./${code} ${rows}\n  everturn run ${rows} --environment ./${code}\n`;
  return { text: typable(io, `Wrote ${code} and ${rows}. Then:\n\n${next}`) };
}

async function write(io: Io, file: string, text: string): Promise<void> {
  await mustBeOutsideRuns(resolve(io.cwd, file));
  await writeFile(resolve(io.cwd, file), text, { flag: 'wx' }).catch((cause: unknown) => {
    const fix = 'If it exists, give another name, or remove it.';
    throw unusable(`${oneLine(file)} cannot be written here.`, fix, 'file-exists', cause);
  });
}

type EnvTest = Values<typeof OF_TEST> & { readonly environment: string; readonly dataset: string };

async function testEnvironment(io: Io, { environment, dataset, limit, turns, json }: EnvTest): Promise<Answer> {
  const { record, open, remove } = await unpacked(environment, callerOf(io));
  if (!json) print(io, `Environment ${oneLine(environmentTitle(record))}, state ${record.state}`);
  const breaches: string[] = [];
  let [rows, replies] = [0, 0];
  try {
    const source = await findDataset(dataset, io);
    for await (const row of openDataset(source, { environments: [record] }).rows()) {
      if (!row.ok) {
        breaches.push(badRowText({ ...row.bad, file: dataset }));
        continue;
      }
      if (rows === limit) break;
      rows++;
      const found = await tryRow(row.query, { record, turns, open });
      replies += found.replies.length;
      breaches.push(...found.breaches.map((breach) => `${row.query.queryId}: ${breach}`));
      if (!json) print(io, rowText(row.query, found.replies));
    }
  } finally {
    await remove();
  }
  const found = breaches.length === 0 ? 'nothing broke' : plural(breaches.length, 'breach', 'breaches');
  return {
    json: { environment: record, rows, replies, breaches },
    text: [
      ...breaches.map((breach) => `✗ ${oneLine(breach)}`),
      `${plural(rows, 'row')}, ${plural(replies, 'reply', 'replies')}: ${found}.`,
    ].join('\n'),
    code: breaches.length === 0 ? EXIT.ok : EXIT.breach,
  };
}

function rowText({ queryId }: Query, replies: readonly EnvironmentReply[]): string {
  const turns = replies.map((reply, i) => {
    const { reason, verdict } = verdictOf(reply);
    const parts = [
      `${verdict} (${reason})`,
      ...(reply.reward === undefined ? [] : [`reward ${reply.reward}`]),
      ...(reply.messages ?? []).map(({ content }) => JSON.stringify(short(content, 80))),
      ...(reply.done ? ['done'] : []),
    ];
    return `  turn ${i + 1}  ${oneLine(parts.join(' · '))}`;
  });
  return [oneLine(queryId), ...turns].join('\n');
}
