// What happens while a run is planned and made, as sentences on stderr; with --json each bad row is an event on stdout.

import { flagOf } from '../../domain/errors/unusable.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { badRowText } from '../../formats/datasets/row-fault.ts';
import { printProgress } from '../../local/machine/progress.ts';
import type { Caller, RunEvent } from '../../run/caller.ts';
import { shortPath } from '../../library/command-line.ts';
import { count, lines, plural } from '../format.ts';
import { type Io, printJson, say } from '../io.ts';

const SHOWN_BAD_ROWS = 20;
const SHOWN_QUERIES = 5;

/** `isLeft`: the command ends once the run goes on, and Ctrl-C ends it until then. */
export function callerOf(io: Io, { json = false, isLeft = true } = {}): Caller {
  const onProgress = printProgress(io.err);
  return {
    ...{ cwd: io.cwd, env: io.env, now: io.now },
    onEvent(event) {
      if (event.type === 'service') onProgress(event.progress);
      else if (event.type === 'rows') sayRows(io, event, json);
      else if (event.type !== 'made') say(io, sentenceOf(io, event));
      // From here on Ctrl-C detaches, with a message.
      else if (!isLeft) io.interrupted();
    },
  };
}

function sentenceOf(io: Io, event: Exclude<RunEvent, { readonly type: 'service' | 'rows' | 'made' }>): string {
  switch (event.type) {
    case 'log':
      return oneLine(event.text);
    case 'benchmark': {
      const notes = [...event.notes, ...(event.verified ? [] : ['not verified'])];
      const known = notes.length > 0 ? ` (${notes.join('; ')})` : '';
      return oneLine(`Benchmark  ${event.name}: ${event.title}${known}`);
    }
    case 'reading':
      return `Reading ${oneLine(event.dataset)} …`;
    case 'not-honoured':
      return `Note: ${event.model} does not honour ${flagOf(event.setting)}: ${event.why}.`;
    case 'variables-unknown': {
      const names = event.names.map((name) => oneLine(name)).join(', ');
      return `Warning: the chat template of ${oneLine(event.model)} does not name ${names}, and shows the same without.`;
    }
    case 'answers-kept':
      return `Note: the chat template of ${oneLine(event.model)} shows earlier answers otherwise: ${oneLine(event.otherwise)}. A rollout keeps the ids that were sampled, thoughts included, in its later turns; a server that is sent messages would not.`;
    case 'asked-again':
      return `${event.why}. It is asked again in ${Math.ceil(event.inMs / 1000)} s.`;
    case 'tools-not-shown':
      return 'The model is not told of its tools: its chat template does not show them. Describe them in the messages of each row.';
    case 'set-aside': {
      const reasons = event.reasons.join(', ');
      const folder = shortPath(io, event.folder);
      return `Again      every rollout of run "${event.run}" failed (${reasons}); the records of then are in ${folder}`;
    }
    case 'trained-on': {
      const { length } = event.queries;
      const problems = plural(length, 'held-out problem is', 'held-out problems are');
      const some = event.queries.slice(0, SHOWN_QUERIES).map((id) => oneLine(id));
      const more = length > SHOWN_QUERIES ? ', …' : '';
      return `Warning: ${problems} trained on too, and will look better than new ones: ${some.join(', ')}${more}`;
    }
  }
}

function sayRows(
  io: Io,
  { isHeldOut, dataset, rows: { dataset: counts, badRows, inWords } }: RunEvent & { readonly type: 'rows' },
  json: boolean,
): void {
  const { accepted, refused, hub, pageSize: size } = counts;
  const left = refused > 0 ? `, ${plural(refused, 'bad row')} left out` : '';
  const title = isHeldOut ? 'Held out' : 'Data set';
  const at = hub ? ` at ${hub.commit.slice(0, 12)}` : '';
  say(io, `${title}   ${oneLine(dataset)}${at}: ${plural(accepted, 'query', 'queries')}${left}`);
  if (size)
    say(
      io,
      `Warning: the page says ${plural(size.said, 'row')}, and its data have ${count(size.rows)}: is this its split?`,
    );
  for (const bad of badRows.slice(0, SHOWN_BAD_ROWS)) say(io, `  ${oneLine(badRowText({ ...bad, file: dataset }))}`);
  if (refused > SHOWN_BAD_ROWS)
    say(io, `  … and ${plural(refused - SHOWN_BAD_ROWS, 'more', 'more')}; --json names all of them`);
  if (inWords && inWords.compared + inWords.leftOut > 0) say(io, inWordsText(inWords, accepted + inWords.leftOut));
  if (json) for (const bad of badRows) printJson(io, { event: 'bad-row', ...bad, file: dataset });
}

/** Names or sentences are answers that mathematics cannot compare. */
function inWordsText(
  { compared, leftOut }: { readonly compared: number; readonly leftOut: number },
  of: number,
): string {
  const how = lines(
    compared > 0 && `${count(compared)} compared as texts`,
    leftOut > 0 && `${count(leftOut)} left out`,
  );
  return `  ${count(compared + leftOut)} of ${count(of)} reference answers are names or sentences, ${how.join(', ')}: \`--environment rubric:./rubric.json\` has a model judge them (docs/environments.md)`;
}
