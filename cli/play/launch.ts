// From a data set to a running run: accept the rows, check the model, make the run's folder,
// start its collection, follow it. Idempotent: a second call attaches, and no finished turn is generated again.

import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { environmentTitle } from '../../domain/rollout/environment.ts';
import { evaluationsFolder } from '../../domain/run/evaluation.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { describeOnQueue } from '../../client/temporal/describe-environment.ts';
import { startFeed } from '../../client/temporal/feed.ts';
import { type ResolvedOptions, settingsOf } from '../../run/config.ts';
import { withAgent } from '../../run/agents.ts';
import { runPartsOf } from '../../run/run-parts.ts';
import { givenSettings, type RunOptions } from '../../run/options.ts';
import { createRun, nameOfRun } from '../../run/create-run.ts';
import { type DatasetSurvey, examineDataset, surveyDataset } from '../../run/survey.ts';
import { wordingOf } from '../../run/wording.ts';
import { badRowText } from '../../formats/datasets/problem.ts';
import type { UsageError } from '../../domain/errors/errors.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import { isSession, type ProgramRecord, programTitle } from '../../domain/agent/program.ts';
import { type ToolRecord, toolTitle } from '../../domain/tools/tool.ts';
import { createMathJudge } from '../../environments/math-environment.ts';
import { createSolutionReader } from '../../environments/solution-reader.ts';
import { registerRun } from '../../local/permissions/registered.ts';
import { homeOf } from '../../local/service/home.ts';
import { recordCommand } from '../../local/service/worker-process.ts';
import { mustLoadCodeFrom, putCode } from '../../records/run/code.ts';
import { mustTakeRun } from '../../records/disk/writable.ts';
import { resolvePlace } from '../../records/place.ts';
import { type Answer, unusable } from '../command.ts';
import type { ExitCode } from '../exit.ts';
import { count, lines, plural } from '../format.ts';
import { workersText } from '../view/servers.ts';
import { printJson, say, type Io } from '../io.ts';
import { withLink } from '../find/link.ts';
import type { Link } from '../../local/service/link.ts';
import { describeProgram, sessionsText } from './agent-program.ts';
import { describeOwn } from './environments.ts';
import { checkModel, mustHonour, patiently, withAbsolutePaths } from './model.ts';
import { describeRunTools, withKnownFormat } from './tools.ts';
import {
  knownResult,
  mustBeRunName,
  runPlace,
  recordedProgress,
  type RunPlace,
  shortPath,
  commandLine,
} from '../find/place.ts';
import { againIfAllFailed } from './again.ts';
import { dryRun } from './dry-run.ts';
import { requireWorker } from '../../run/require-worker.ts';
import { sayEnded, showEnded, startRun } from './start.ts';
import { makeFirstEvaluation, mustTrain, surveyHeldOut, warnIfTrainedOn } from './held-out.ts';
import { countEnded } from '../../domain/run/progress.ts';

export interface Launch {
  /** As the user typed it. */
  readonly dataset: string;
  readonly out: string;
  /** Undefined: derived from data and settings, so that the same command finds the same run. */
  readonly name: string | undefined;
  readonly resolved: ResolvedOptions;
  readonly strict: boolean;
  readonly detach: boolean;
  /** Says what would be played, and ends. */
  readonly dryRun?: boolean;
  /** Starts the viewer beside the local service, on a terminal. */
  readonly viewer?: boolean;
  readonly json: boolean;
  /** One of several runs of a command, which follows and shows them together. */
  readonly beside?: boolean;
}

const SHOWN_BAD_ROWS = 20;
/** Takes seconds to read. */
const LARGE_BYTES = 100_000_000;

export const launch = async (io: Io, given: Launch) => (await prepareLaunch(io, given)).start();

interface Prepared {
  readonly place: RunPlace;
  start(): Promise<Answer | ExitCode | void>;
}

/** Refuses what cannot be played, before anything is written; the start is left to the caller. */
export async function prepareLaunch(io: Io, given: Launch): Promise<Prepared> {
  if (given.name !== undefined) mustBeRunName(given.name);
  mustTrain(given.resolved);
  const { resolved, agent, options, described, environments, program, tools, codes } = await describeParts(io, given);
  const wording = wordingOf(options, io.cwd);
  const dataset = resolve(io.cwd, given.dataset);
  const root = resolvePlace(io.cwd, given.out);
  if (codes.length > 0) mustLoadCodeFrom(root);
  if ((statSync(dataset, { throwIfNoEntry: false })?.size ?? 0) > LARGE_BYTES)
    say(io, `Reading ${oneLine(given.dataset)} …`);
  const { limit, shuffleSeed, samples, maxFailed } = options;
  const own = { ...(environments.length > 0 && { environments }), ...(program && { program }) };
  const selection = { strict: given.strict, wording, ...own };
  const offered = await surveyDataset({ dataset, limit, shuffleSeed, ...selection });
  const heldOut = await surveyHeldOut(io, options, selection);
  const parts = { ...runPartsOf(options, agent, wording), ...(heldOut && { evaluation: heldOut.record }) };

  // The name is derived from everything that decides the turns, but not from speed and --max-failed.
  const asked = { ...givenSettings(options), ...own, ...(tools.settings && { tools: tools.settings }) };
  const run = given.name ?? nameOfRun(offered, asked, samples, parts);
  const recorded = (await runPlace(root, run).store.getRun())?.record;
  const again = recorded && (await againIfAllFailed(io, runPlace(root, run), recorded));
  // A place of its own: the one before has read records that may be set aside.
  const place = runPlace(root, run);
  const { folder } = place.store;
  const there = again ? undefined : recorded;
  const before: RolloutSettings = {
    ...settingsOf(run, options),
    ...own,
    ...(tools.settings && withKnownFormat(tools.settings, recorded?.settings)),
  };
  if (!there) mustHonour(io, before);
  // The rows of an existing run were read when it was made.
  const survey = there ? { ...offered, ...there.dataset } : await readSolutions(offered);
  const held = heldOut && (there ? heldOut : { ...heldOut, survey: await readSolutions(heldOut.survey) });
  const made = { run, survey, settings: before, samples, ...parts, origins: resolved.origins };
  // Refuses other data or other settings under this name; writes nothing.
  if (recorded) await createRun(runPlace(root, run).store, made);
  reportRows(io, given, survey);
  if (held) reportRows(io, { ...given, dataset: options.eval! }, held.survey, 'Held out');
  if (held && !there) await warnIfTrainedOn(io, held.survey, survey);
  if (given.dryRun) {
    const count = there ? countEnded((await recordedProgress(place)).counts) : null;
    const plan = { place, survey, resolved: { ...resolved, options }, settings: before, ended: count };
    return { place, start: () => dryRun(io, plan) };
  }
  if (!there) await mustTakeRun(folder);
  for (const { tryOut } of there ? [] : described) if (tryOut) await patiently(io, tryOut);
  const found = there ? null : await checkModel(before, [...survey.openings, ...(held?.survey.openings ?? [])], io);
  const { tools: _, ...rest } = before;
  const settings = found ? { ...rest, ...(found.tools && { tools: found.tools }) } : before;

  const inSandbox = tools.list.filter(({ door }) => door === 'python').length;
  const isCode = [survey, held?.survey].some((all) => (all?.byTask.code ?? 0) > 0);
  const start = async () => {
    const known = there && (await knownResult(place));
    if (known && given.beside) return sayEnded(io, place, known);
    if (known) return showEnded(io, place, known, { maxFailed, json: given.json });
    return startRun(io, {
      ...{ place, maxFailed, maxConcurrent: options.maxConcurrent, beside: given.beside },
      ...{ detach: given.detach, json: given.json, viewer: given.viewer === true },
      keys: [settings.apiKeyEnv, ...environments.map(({ judge }) => judge?.apiKeyEnv)],
      title: `${given.dataset}: ${plural(survey.accepted, 'query', 'queries')}, ${settings.numTurns} turns, ${settings.model}`,
      programs: isCode || inSandbox > 0,
      own: environments.length + tools.list.length - inSandbox > 0 || program !== undefined,
      async make(attached) {
        // Another command may have made it since.
        if (attached && !there && !(await place.store.getRun())) throw withoutFolder(run, folder);
        if (!attached) await again?.begin();
        if (!there && held) await makeFirstEvaluation(place, held, { ...made, settings, ...found }, codes);
        if (!there) await createRun(place.store, { ...made, settings, ...found });
        for (const code of codes) await putCode(folder, code);
        // Workers of this user trust this list, and no claim of a workflow.
        registerRun(homeOf(io.env), { folder, ...settings }, { environments, tools: tools.list, ...own });
      },
      async begun(link) {
        if (options.train) await feedRun(io, link, place);
        const atOnce = Math.min(options.maxConcurrent, survey.accepted * samples * options.epochs);
        const few = await workersText(link, atOnce);
        return { lines: lines(...playedLines(io, link, place, { survey, options, program, tools: tools.list }), few) };
      },
    });
  };
  return { place, start };
}

/** The user's own code of a run: its environments, its agent and its tools, each asked what it is. */
async function describeParts(io: Io, given: Launch) {
  const described = await describeOwn(given.resolved.options.environment, io, (queue) => askQueue(io, queue));
  const { program, code, resolved: ofProgram = given.resolved } = await describeProgram(given.resolved, io);
  const { resolved, agent } = withAgent(ofProgram, described);
  const options = withAbsolutePaths(resolved.options, io.cwd);
  const tools = await describeRunTools(options, io, program !== undefined);
  const codes = [...described.flatMap((one) => one.code ?? []), ...tools.codes, ...(code ? [code] : [])];
  const environments = described.map(({ record }) => record);
  return { resolved, agent, options, described, environments, program, tools, codes };
}

/** Begins the feed that hands the run's groups out. */
async function feedRun(io: Io, link: Link, { run, out, store }: RunPlace): Promise<void> {
  const since = (await store.getRun())?.record.createdAt;
  await startFeed(link.session, { run, out, since });
  recordCommand(homeOf(io.env));
}

/** The description of an environment by its own worker, which must be there. */
function askQueue(io: Io, queue: string): Promise<unknown> {
  return withLink(io, async (link) => {
    await requireWorker(io.env, link, queue);
    return describeOnQueue(link.session, queue);
  });
}

async function readSolutions(offered: DatasetSurvey): Promise<DatasetSurvey> {
  const judge = createMathJudge({ children: availableParallelism() });
  try {
    return await examineDataset(offered, createSolutionReader(judge));
  } finally {
    judge.close();
  }
}

/** With --json each bad row is an event; otherwise the first ones are listed. */
function reportRows(
  io: Io,
  { dataset, json }: Launch,
  { accepted, refused, badRows, inWords }: DatasetSurvey,
  title = 'Data set',
): void {
  const left = refused > 0 ? `, ${plural(refused, 'bad row')} left out` : '';
  say(io, `${title}   ${oneLine(dataset)}: ${plural(accepted, 'query', 'queries')}${left}`);
  for (const bad of badRows.slice(0, SHOWN_BAD_ROWS)) say(io, `  ${oneLine(badRowText({ ...bad, file: dataset }))}`);
  if (refused > SHOWN_BAD_ROWS)
    say(io, `  … and ${plural(refused - SHOWN_BAD_ROWS, 'more', 'more')}; --json names all of them`);
  if (inWords) sayInWords(io, inWords, accepted + inWords.leftOut);
  if (json) for (const bad of badRows) printJson(io, { event: 'bad-row', ...bad, file: dataset });
}

/** Names or sentences are answers that mathematics cannot compare. */
function sayInWords(io: Io, { compared, leftOut }: NonNullable<DatasetSurvey['inWords']>, of: number): void {
  if (compared + leftOut === 0) return;
  const how = lines(
    compared > 0 && `${count(compared)} compared as texts`,
    leftOut > 0 && `${count(leftOut)} left out`,
  );
  say(
    io,
    `  ${count(compared + leftOut)} of ${count(of)} reference answers are names or sentences, ${how.join(', ')}: \`--environment rubric:./rubric.json\` has a model judge them (docs/environments.md)`,
  );
}

interface Played {
  readonly survey: DatasetSurvey;
  readonly options: RunOptions;
  readonly program: ProgramRecord | undefined;
  readonly tools: readonly ToolRecord[];
}

function playedLines(io: Io, link: Link, place: RunPlace, { survey, options, program, tools }: Played): string[] {
  const { numTurns, samples, epochs, maxConcurrent, batchGroups, maxStaleness, evalEvery: every, agent } = options;
  const queries = plural(survey.accepted, 'query', 'queries');
  const rounds = epochs > 1 ? ` × ${epochs} epochs` : '';
  const turns = program ? '' : ` × ${plural(numTurns, 'turn')}`;
  const by = `${link.local ? 'the local service, and by ' : ''}\`${commandLine(io, place, 'feed')}\``;
  return lines(
    `Playing    ${queries} × ${plural(samples, 'sample')}${rounds}${turns} with ${oneLine(options.model)}, ${maxConcurrent} at once`,
    options.train &&
      `Training   ${batchGroups} groups a step, at most ${plural(maxStaleness, 'version')} old, handed out by ${by}`,
    options.eval !== null &&
      `Evaluated  versions 0, ${every}, ${2 * every}, … of the weights, as runs in ${shortPath(io, evaluationsFolder(place.store.folder))}`,
    program
      ? isSession(program)
        ? `Sessions   ${sessionsText(io, link)}`
        : `Agent      ${oneLine(programTitle(program))}, at most ${plural(program.maxCalls, 'call')} a rollout`
      : agent !== null && `Agent      ${oneLine(agent)}`,
    tools.map((tool) => `Tool       ${oneLine(toolTitle(tool))}`),
    (survey.selection.environments ?? []).map((one) => `Answered   by ${oneLine(environmentTitle(one))}`),
  );
}

/** Another run under its name would be played by a workflow that counts the first one's rollouts. */
function withoutFolder(run: string, folder: string): UsageError {
  return unusable(
    `A run named "${run}" is running, and its folder ${folder} is gone.`,
    `Move the folder back; or end that run with \`everturn cancel ${run}\`, and repeat the command.`,
    'run-elsewhere',
  );
}
