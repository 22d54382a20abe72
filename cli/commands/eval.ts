// `everturn eval <benchmarks…>`: benchmarks × models × what is varied, each as a run, and one table. The same command attaches to
// what it started, and plays again what failed.

import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type EverturnError, explain, UsageError } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { type Baseline, findBaseline, whyWorse } from '../../library/evaluate/baseline.ts';
import type { Cell, RefusedCell } from '../../library/evaluate/cells.ts';
import { isRefused, orRefused } from '../../library/evaluate/cells.ts';
import { variantsOf, type Varied } from '../../library/evaluate/matrix.ts';
import { type EvaluationPlan, planCells } from '../../library/evaluate/plan.ts';
import { mustReadEvaluation, readEvaluation } from '../../records/run/evaluation-record.ts';
import { startEvaluation, type StartedEvaluation } from '../../library/evaluate/start-evaluation.ts';
import { evaluationTable } from '../../library/evaluate/table.ts';
import { resolvePlace } from '../../records/place.ts';
import type { Caller } from '../../run/caller.ts';
import { optionNamed } from '../../run/config.ts';
import { FIELDS } from '../../run/options.ts';
import { knownResult, runPlace, type RunPlace } from '../../run/place.ts';
import { prepareRun } from '../../run/prepare-run.ts';
import { type Answer, choiceFlag, command, flag, listFlag, number, text, unusable, wholeFlag } from '../command.ts';
import { EXIT, type ExitCode, exitCodeOf, exitCodeOfResult } from '../exit.ts';
import { costBy, PRICE_FLAGS } from '../find/prices.ts';
import { OUT } from '../flags.ts';
import { plural } from '../format.ts';
import { type Io, printJson, say } from '../io.ts';
import { causeOf } from '../play/ending.ts';
import { dryRun } from '../play/dry-run.ts';
import { followCells } from '../play/follow-cells.ts';
import { callerOf } from '../play/say-event.ts';
import { resolveRunFlags, type RunFlags, runFlags } from '../run-flags.ts';
import {
  evaluationMarkdown,
  evaluationText,
  type Judged,
  junitXml,
  refusedText,
  rowsOf,
} from '../view/evaluation-text.ts';
import { damageLines } from '../view/left-out.ts';

const { model: ofModel, samples: _samples, train: _train, eval: _eval, ...FLAGS } = runFlags({ numTurns: 1 });
const { group = '' } = ofModel;

const evaluation = command({
  args: {
    '[benchmarks...]':
      'names (everturn benchmarks), pages (./my.yaml), files of problems, hf:<org>/<name>[@revision][/config/split]; none with --name: that evaluation, as it is',
  },
  flags: {
    out: OUT,
    name: text('<name>', 'of the evaluation: its runs are <name>-<benchmark>-<model> (default: derived)'),
    repeats: wholeFlag('<n>', 'rollouts of each problem, for avg@n and pass@n (default: as the page says, or 1)', 1),
    failUnder: number(
      '<share>',
      'exit with code 10 unless each accuracy is at least this share (0 to 1), what was left out as wrong',
      1,
      'It takes a share from 0 to 1: 0.8 is 80 %.',
    ),
    baseline: text('<run>', 'exit with code 10 where a paired test says worse than this run, or evaluation'),
    format: choiceFlag('<format>', ['md'], 'the table as Markdown on stdout'),
    junit: text('<file>', 'write the cells and their gates as JUnit XML'),
    detach: flag('return as soon as all runs have started'),
    dryRun: flag('say what would be played and what it takes at most; start and write nothing'),
    strict: flag('refuse a data set with a bad row'),
    json: flag('events as JSON lines on stdout, everything else on stderr'),
    ...PRICE_FLAGS,
    model: { ...listFlag('<model>', `${FIELDS.model.help}; several: each plays every benchmark`), group },
    vary: listFlag('<name=v1,v2>', 'a run for each of these values of an option, as in temperature=0,1'),
    ...FLAGS,
  },
  help: `One turn, unless --num-turns says otherwise. The same command attaches to its runs, and plays again what failed;
Ctrl-C detaches: they continue. A cell that cannot be played is refused by itself, and the others go on.

Exit codes: 0 all ended; 10 --fail-under or --baseline; others as of \`everturn run\`.

Examples:
  everturn eval gsm8k mine.csv --model openai:<url>#a --model vllm:<url> --limit 50
  everturn eval aime25 --repeats 32 --vary temperature=0.6,1 --name aime
  everturn eval --name aime --format md`,
  async run(io, given) {
    const { benchmarks, model = [], vary = [], repeats, name, out, strict, json, detach } = given;
    if (benchmarks.length === 0) return shown(io, given, await recorded(io, name, out));
    const plan = {
      ...{ benchmarks, name, out, strict, cwd: io.cwd },
      variants: variantsOf(model.length > 0 ? model : [], vary.map(axisOf)),
      resolve: (own: object, below: object) =>
        resolveRunFlags({ ...given, samples: repeats, ...own, ...mustBeOne(given, own) }, io, below),
    };
    const baseline =
      given.baseline === undefined ? undefined : await findBaseline(given.baseline, { cwd: io.cwd, out });
    const caller = callerOf(io, { json, isLeft: detach });
    if (given.dryRun) {
      return planned(io, plan, caller);
    }
    const started = await startEvaluation(plan, caller);
    sayStarted(io, started, json);
    if (detach) return started.refused.length > 0 ? exitCodeOf(started.refused[0]!.refused) : EXIT.ok;
    return shown(io, given, started, baseline);
  },
});
export { evaluation as eval };

/** Each cell as its run would be; one that is refused leaves the others, and is told by the exit code. */
async function planned(io: Io, plan: EvaluationPlan, caller: Caller): Promise<ExitCode> {
  const refused: EverturnError[] = [];
  const known =
    plan.name === undefined ? undefined : (await readEvaluation(resolvePlace(io.cwd, plan.out), plan.name))?.cells;
  for (const cell of planCells({ ...plan, known })) {
    say(io, `\n${oneLine(`${cell.benchmark} ${cell.label}`)}`);
    const shown = isRefused(cell)
      ? cell
      : await orRefused(cell, async () => dryRun(io, await prepareRun(cell.wish, caller)));
    if ('refused' in shown) refused.push(shown.refused);
    say(io, 'refused' in shown ? refusedText(shown) : shown.text);
  }
  return refused[0] ? exitCodeOf(refused[0]) : EXIT.ok;
}

/** `temperature=0,0.7`. */
function axisOf(given: string): Varied[number] {
  const at = given.indexOf('=');
  const values = given.slice(at + 1).split(',');
  const key = optionNamed(at < 0 ? given : given.slice(0, at), '--vary');
  if (at < 0 || values.includes(''))
    throw unusable(`--vary ${JSON.stringify(given)} names no values.`, 'Write --vary temperature=0,0.7,1.');
  return [key, values];
}

function mustBeOne(flags: Readonly<Record<string, unknown>>, own: object): object {
  const twice = Object.keys(own).find((key) => key !== 'model' && (flags[key] ?? undefined) !== undefined);
  if (twice === undefined) return {};
  throw unusable(`${twice} is given, and varied.`, `Leave one of them out.`);
}

function sayStarted(io: Io, { name, cells, refused }: StartedEvaluation, json: boolean): void {
  const found = (what: Cell['found']) => cells.filter((cell) => cell.found === what).length;
  const [attached, ended, retried] = [found('attached'), found('ended'), found('retried')];
  const known = [
    ...(attached > 0 ? [`${attached} running already`] : []),
    ...(ended > 0 ? [`${ended} ended before`] : []),
    ...(retried > 0 ? [`${retried} with failed rollouts, which are played again`] : []),
  ];
  const also = known.length > 0 ? ` (${known.join(', ')})` : '';
  for (const cell of refused) say(io, `Not played ${refusedText(cell)}`);
  say(io, `Evaluation ${name}: ${plural(cells.length, 'run')}${also}. Ctrl-C detaches; they continue.`);
  if (!json) return;
  const runs = cells.map(({ benchmark, label, place, found: how }) => {
    return { benchmark, label, run: place.run, folder: place.store.folder, found: how };
  });
  printJson(io, { event: 'started', evaluation: name, cells: runs, refused: refused.map(refusedFacts) });
}

const refusedFacts = ({ benchmark, label, refused: { reason, message, fix } }: RefusedCell) => ({
  ...{ benchmark, label, reason, message, fix: fix ?? null },
});

async function recorded(io: Io, name: string | undefined, under: string): Promise<StartedEvaluation> {
  if (name === undefined)
    throw unusable(
      'There is no benchmark.',
      'Name one, as in `everturn eval gsm8k`; `everturn benchmarks` lists them.',
    );
  const out = resolvePlace(io.cwd, under);
  const { cells: all } = await mustReadEvaluation(out, name);
  const cells: Cell[] = [];
  const refused: RefusedCell[] = [];
  for (const { run, ...cell } of all) {
    const place = runPlace(out, run);
    if (await place.store.exists())
      cells.push({ ...cell, place, limit: undefined, found: 'attached', retried: Promise.resolve() });
    else refused.push({ ...cell, refused: goneRun(place) });
  }
  if (cells.length === 0 && refused[0]) throw refused[0].refused;
  return { name, out, cells, refused };
}

const goneRun = ({ out, run }: RunPlace): UsageError =>
  new UsageError(`its run ${run} is not in ${out}`, {
    reason: 'no-such-run',
    fix: 'Move it back, or repeat the command that began it.',
  });

type Given = RunFlags &
  Parameters<typeof costBy>[1] & {
    readonly failUnder: number | undefined;
    readonly format: 'md' | undefined;
    readonly junit: string | undefined;
    readonly json: boolean;
  };

/** Follows what is open, and shows the table. */
async function shown(
  io: Io,
  given: Given,
  { name, cells, refused }: StartedEvaluation,
  baseline?: Baseline,
): Promise<Answer | ExitCode> {
  if ((await followCells(io, cells, given.json)) === 'detached') {
    say(io, `Detached. The runs continue; the same command attaches again, and \`everturn eval --name ${name}\`.`);
    return EXIT.detached;
  }
  const { maxFailed } = resolveRunFlags({ ...given, model: undefined }, io).options;
  const table = await evaluationTable(cells, costBy(io, given));
  const ends = await Promise.all(cells.map((cell) => endOf(cell, maxFailed)));
  const judged: Judged[] = refused.map((cell) => ({ ...cell, seconds: null, fault: refusedText(cell) }));
  for (const row of rowsOf(table)) {
    const { benchmark, label, tookSeconds: seconds } = row;
    const i = cells.findIndex((cell) => cell.place.run === row.run);
    const { place } = cells[i]!;
    const under = given.failUnder === undefined ? null : whyUnder(row, given.failUnder);
    const worse = baseline === undefined ? null : await whyWorse(baseline.placeFor(row), place);
    judged.push({
      benchmark,
      label,
      seconds,
      fault: [ends[i]!.cause, under, worse].filter((one) => one !== null).join('; ') || null,
    });
  }
  const error = given.junit === undefined ? undefined : await notWritten(io, given.junit, junitXml(name, judged));
  // Those that were refused are told above.
  const gates = judged.slice(refused.length).filter(({ fault }) => fault !== null);
  const code =
    ends.find((end) => end.code !== EXIT.ok)?.code ?? (refused[0] ? exitCodeOf(refused[0].refused) : EXIT.ok);
  return {
    json: { event: 'evaluated', evaluation: name, ...table, refused: refused.map(refusedFacts) },
    text: given.format === 'md' ? evaluationMarkdown(table, refused) : evaluationText(io, table, refused),
    notes: [
      ...table.benchmarks.flatMap(({ broken }) => broken.flatMap((of) => damageLines(of))),
      ...gates.map(({ benchmark, label, fault }) => `everturn: ${oneLine(`${benchmark} ${label}`)}: ${fault}`),
    ],
    code: code === EXIT.ok && gates.length > 0 ? EXIT.below : code,
    // The table is printed all the same.
    ...(error && { error }),
  };
}

const notWritten = (io: Io, file: string, text: string): Promise<Error | undefined> =>
  writeFile(resolve(io.cwd, file), text).then(
    () => undefined,
    (cause: unknown) =>
      unusable(
        `--junit ${file} cannot be written: ${explain(cause)}`,
        'Name a file in a folder that is there.',
        'bad-value',
        cause,
      ),
  );

function whyUnder(row: ReturnType<typeof rowsOf>[number], least: number): string | null {
  const { accuracy, leftOutWrong } = row.atTurns.at(-1)!;
  const { value } = leftOutWrong ?? accuracy;
  if (value !== null && value >= least) return null;
  return `--fail-under ${least}: ${value === null ? 'no answer was judged' : value.toFixed(4)}`;
}

async function endOf(
  { place }: Cell,
  maxFailed: number,
): Promise<{ readonly code: ExitCode; readonly cause: string | null }> {
  const result = await knownResult(place);
  if (!result) return { code: EXIT.failed, cause: 'it has not ended' };
  const code = exitCodeOfResult(result, maxFailed);
  return { code, cause: code === EXIT.ok ? null : await causeOf({ place, result, maxFailed }) };
}
