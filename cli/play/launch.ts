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
import { describeWorkflow, runElsewhere, startCollection } from '../../client/temporal/runs.ts';
import { type ResolvedOptions, settingsOf } from '../../run/config.ts';
import { withAgent } from '../../run/agents.ts';
import { groupsOf } from '../../run/groups.ts';
import { givenSettings, type RunOptions } from '../../run/options.ts';
import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { createRun, nameOfRun } from '../../run/create-run.ts';
import { type DatasetSurvey, examineDataset, surveyDataset } from '../../run/survey.ts';
import { wordingOf } from '../../run/wording.ts';
import { badRowText } from '../../formats/datasets/problem.ts';
import type { UsageError } from '../../domain/errors/errors.ts';
import type { RolloutSettings } from '../../domain/run/settings.ts';
import { isSession, type ProgramRecord, programTitle } from '../../domain/agent/program.ts';
import { type ToolRecord, toolTitle } from '../../domain/tools/tool.ts';
import { createMathJudge } from '../../environments/math/math-environment.ts';
import { createSolutionReader } from '../../environments/solution-reader.ts';
import { registerRun } from '../../local/permissions/registered.ts';
import { homeOf } from '../../local/service/home.ts';
import { recordCommand } from '../../local/service/own-worker.ts';
import { mustLoadCodeFrom, putCode } from '../../records/run/code.ts';
import { mustTakeRun } from '../../records/disk/writable.ts';
import { resolvePlace } from '../../records/place.ts';
import { ensureSearchAttributes } from '../../client/temporal/search-attributes.ts';
import { type Answer, unusable } from '../command.ts';
import { type ExitCode, noneComplete } from '../exit.ts';
import { followToEnd } from './follow.ts';
import { programsOf, mustProveSandbox, mustTakeCode, mustTakeEnvironments, mustTakeQueue } from './code-sandbox.ts';
import { plural } from '../view/format.ts';
import { workersText } from '../view/servers.ts';
import { printJson, say, type Io } from '../io.ts';
import { type Link, withLink, workflowUrl } from '../find/link.ts';
import { describeProgram, sessionsText } from './agent-program.ts';
import { describeOwn } from './environments.ts';
import { checkModel, mustHonour, withAbsolutePaths } from './model.ts';
import { describeRunTools, withKnownFormat } from './tools.ts';
import {
  knownResult,
  mustBeRunName,
  placeOf,
  recordedProgress,
  type RunPlace,
  shortPath,
  typed,
} from '../find/place.ts';
import { dryRun } from './dry-run.ts';
import { showEnding } from './ending.ts';
import { makeFirstEvaluation, mustTrain, surveyHeldOut, warnIfTrainedOn } from './held-out.ts';
import { ended } from '../../domain/run/progress.ts';

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
  /** One of several runs of a command, which follows it: called once it is there. */
  readonly beside?: (place: RunPlace) => void;
}

const SHOWN_BAD_ROWS = 20;
/** Takes seconds to read. */
const LARGE_BYTES = 100_000_000;

export const launch = async (io: Io, given: Launch): ReturnType<Start> => (await prepareLaunch(io, given))();

type Start = () => Promise<Answer | ExitCode | void>;

/** Refuses what cannot be played, before anything is written; the start is left to the caller. */
export async function prepareLaunch(io: Io, given: Launch): Promise<Start> {
  if (given.name !== undefined) mustBeRunName(given.name);
  mustTrain(given.resolved);
  const described = await describeOwn(given.resolved.options.environment, io, (queue) => askQueue(io, queue));
  const { program, code, resolved: ofProgram = given.resolved } = await describeProgram(given.resolved, io);
  const { resolved, agent } = withAgent(ofProgram, described);
  const options = withAbsolutePaths(resolved.options, io.cwd);
  const wording = wordingOf(options, io.cwd);
  const dataset = resolve(io.cwd, given.dataset);
  const environments = described.map(({ record }) => record);
  const tools = await describeRunTools(options, io, program !== undefined);
  const codes = [...described.flatMap((one) => one.code ?? []), ...tools.codes, ...(code ? [code] : [])];
  const root = resolvePlace(io.cwd, given.out);
  if (codes.length > 0) mustLoadCodeFrom(root);
  if ((statSync(dataset, { throwIfNoEntry: false })?.size ?? 0) > LARGE_BYTES)
    say(io, `Reading ${oneLine(given.dataset)} …`);
  const { limit, shuffleSeed, samples, maxFailed } = options;
  const own = { ...(environments.length > 0 && { environments }), ...(program && { program }) };
  const selection = { strict: given.strict, wording, ...own };
  const offered = await surveyDataset({ dataset, limit, shuffleSeed, ...selection });
  const heldOut = await surveyHeldOut(io, options, selection);
  const groups = { ...groupsOf(options, agent, wording), ...(heldOut && { evaluation: heldOut.record }) };

  // The name is derived from everything that decides the turns, but not from speed and --max-failed.
  const asked = { ...givenSettings(options), ...own, ...(tools.settings && { tools: tools.settings }) };
  const run = given.name ?? nameOfRun(offered, asked, samples, groups);
  const place = placeOf(root, run);
  const { folder } = place.store;
  const there = (await place.store.getRun())?.record;
  const before: RolloutSettings = {
    ...settingsOf(run, options),
    ...own,
    ...(tools.settings && withKnownFormat(tools.settings, there?.settings)),
  };
  if (!there) mustHonour(io, before);
  // The rows of an existing run were read when it was made.
  const survey = there ? { ...offered, ...there.dataset } : await readSolutions(offered);
  const held = heldOut && (there ? heldOut : { ...heldOut, survey: await readSolutions(heldOut.survey) });
  const made = { run, survey, settings: before, samples, ...groups, origins: resolved.origins };
  // Refuses other data or other settings under this name; writes nothing.
  if (there) await createRun(place.store, made);
  reportRows(io, given, survey);
  if (held) reportRows(io, { ...given, dataset: options.eval! }, held.survey, 'Held out');
  if (held && !there) await warnIfTrainedOn(io, held.survey, survey);
  if (given.dryRun) {
    const count = there ? ended((await recordedProgress(place)).counts) : null;
    return () => dryRun(io, { place, survey, resolved: { ...resolved, options }, settings: before, ended: count });
  }
  if (!there) await mustTakeRun(folder);
  const found = there ? null : await checkModel(before, [...survey.openings, ...(held?.survey.openings ?? [])], io);
  const { tools: _, ...rest } = before;
  const settings = found ? { ...rest, ...(found.tools && { tools: found.tools }) } : before;

  return async () => {
    const known = there && (await knownResult(place));
    if (known) {
      given.beside?.(place);
      const next = noneComplete(known) ? ' With another --name the same command begins a new one.' : '';
      say(io, `Run "${run}" ${known.cancelled ? 'was cancelled' : 'has ended'}; it is not played again.${next}`);
      if (given.beside) return;
      const over = { place, result: known, maxFailed, url: null, local: false, tookMs: null };
      return showEnding(io, over, given.json);
    }

    const inSandbox = tools.list.filter(({ door }) => door === 'python').length;
    const isCode = [survey, held?.survey].some((all) => (all?.byTask.code ?? 0) > 0);
    const programs = isCode || inSandbox > 0 ? programsOf(isCode) : null;
    const isOwn = environments.length + tools.list.length - inSandbox > 0 || program !== undefined;
    if (programs && !namesCluster()) await mustProveSandbox(io, programs);
    return withLink(io, async (link) => {
      const { state, out } = await describeWorkflow(link.session, run);
      const attached = state === 'running';
      if (attached && out !== null && out !== place.out) throw runElsewhere(run, out);
      // Another command may have made it since.
      if (attached && !there && !(await place.store.getRun())) throw withoutFolder(run, folder);
      if (programs && !attached) await mustTakeCode(io, link, programs);
      if (isOwn && !attached) await mustTakeEnvironments(link);
      if (!link.local) await ensureSearchAttributes(link.session.client.connection, link.session.namespace);
      if (!there && held) await makeFirstEvaluation(place, held, { ...made, settings, ...found }, codes);
      if (!there) await createRun(place.store, { ...made, settings, ...found });
      for (const code of codes) await putCode(folder, code);
      // Workers of this user trust this list, and no claim of a workflow.
      registerRun(homeOf(io.env), { folder, ...settings }, { environments, tools: tools.list, ...own });
      // From here on Ctrl-C detaches, with a message; the run continues.
      if (!given.detach) io.interrupted();
      await startCollection(
        link.session,
        { run, out: place.out, maxConcurrent: options.maxConcurrent },
        `${given.dataset}: ${plural(survey.accepted, 'query', 'queries')}, ${settings.numTurns} turns, ${settings.model}`,
      );
      if (options.train) {
        const since = (await place.store.getRun())?.record.createdAt;
        await startFeed(link.session, { run, out: place.out, since });
        recordCommand(homeOf(io.env));
      }
      announce(io, { place, link, survey, options, program, tools: tools.list, attached }, given);
      const rollouts = survey.accepted * samples * options.epochs;
      const few = await workersText(link, Math.min(options.maxConcurrent, rollouts));
      if (few !== undefined) say(io, few);
      given.beside?.(place);
      if (given.detach) return;
      return followToEnd(io, link, place, { maxFailed, json: given.json, viewer: given.viewer === true });
    });
  };
}

/** The description of an environment by its own worker, which must be there. */
function askQueue(io: Io, queue: string): Promise<unknown> {
  return withLink(io, async (link) => {
    await mustTakeQueue(link, queue);
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
  { accepted, refused, badRows }: DatasetSurvey,
  title = 'Data set',
): void {
  const left = refused > 0 ? `, ${plural(refused, 'bad row')} left out` : '';
  say(io, `${title}   ${oneLine(dataset)}: ${plural(accepted, 'query', 'queries')}${left}`);
  for (const bad of badRows.slice(0, SHOWN_BAD_ROWS)) say(io, `  ${oneLine(badRowText({ ...bad, file: dataset }))}`);
  if (refused > SHOWN_BAD_ROWS)
    say(io, `  … and ${plural(refused - SHOWN_BAD_ROWS, 'more', 'more')}; --json names all of them`);
  if (json) for (const bad of badRows) printJson(io, { event: 'bad-row', ...bad, file: dataset });
}

interface Announced {
  readonly place: RunPlace;
  readonly link: Link;
  readonly survey: DatasetSurvey;
  readonly options: RunOptions;
  readonly program: ProgramRecord | undefined;
  readonly tools: readonly ToolRecord[];
  readonly attached: boolean;
}

function announce(
  io: Io,
  { place, link, survey, options, program, tools, attached }: Announced,
  { detach, json, resolved, beside }: Launch,
): void {
  const url = workflowUrl(link, place.run);
  const { numTurns, samples, epochs, maxConcurrent } = options;
  const { model } = resolved.options;
  const queries = plural(survey.accepted, 'query', 'queries');
  const again = attached ? ' (attached: it is running)' : '';
  say(io, `Run        ${place.run} in ${shortPath(io, place.store.folder)}${again}`);
  const rounds = epochs > 1 ? ` × ${epochs} epochs` : '';
  const turns = program ? '' : ` × ${plural(numTurns, 'turn')}`;
  const played = `${queries} × ${plural(samples, 'sample')}${rounds}${turns}`;
  say(io, `Playing    ${played} with ${oneLine(model)}, ${maxConcurrent} at once`);
  if (options.train) {
    const { batchGroups, maxStaleness } = options;
    const limit = plural(maxStaleness, 'version');
    const by = link.local ? 'the local service, and by ' : '';
    say(
      io,
      `Training   ${batchGroups} groups a step, at most ${limit} old, handed out by ${by}\`${typed(io, place, 'feed')}\``,
    );
  }
  if (options.eval !== null) {
    const where = shortPath(io, evaluationsFolder(place.store.folder));
    const { evalEvery: every } = options;
    say(io, `Evaluated  versions 0, ${every}, ${2 * every}, … of the weights, as runs in ${where}`);
  }
  if (program && isSession(program)) say(io, `Sessions   ${sessionsText(io, link)}`);
  else if (program)
    say(io, `Agent      ${oneLine(programTitle(program))}, at most ${plural(program.maxCalls, 'call')} a rollout`);
  else if (options.agent !== null) say(io, `Agent      ${oneLine(options.agent)}`);
  for (const tool of tools) say(io, `Tool       ${oneLine(toolTitle(tool))}`);
  for (const environment of survey.selection.environments ?? [])
    say(io, `Answered   by ${oneLine(environmentTitle(environment))}`);
  if (url) say(io, `Temporal   ${url}`);
  if (json) {
    const { address, namespace } = link.session;
    printJson(io, { event: 'started', run: place.run, folder: place.store.folder, attached, address, namespace, url });
  }
  const background = `It runs in the background: \`${typed(io, place, 'watch')}\` follows it.`;
  if (!beside) say(io, detach ? background : 'Ctrl-C detaches; the run continues.');
}

/** Another run under its name would be played by a workflow that counts the first one's rollouts. */
function withoutFolder(run: string, folder: string): UsageError {
  return unusable(
    `A run named "${run}" is running, and its folder ${folder} is gone.`,
    `Move the folder back; or end that run with \`everturn cancel ${run}\`, and repeat the command.`,
    'run-elsewhere',
  );
}
