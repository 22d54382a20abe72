// All activities, built once per worker from what they need. Workflows import only the type.

import { agentActivity, agentTurnsActivity, pauseAgentActivity } from './agent.ts';
import { readAgentEnd } from './agent-log.ts';
import { askActivity, endActivity } from './ask-environment.ts';
import { callToolActivity, replyToCalls } from './call-tool.ts';
import { cancelActivities, collectionActivities } from './collection.ts';
import type { ActivityDeps, ProgramDeps } from './deps.ts';
import { evaluateActivity } from './evaluate.ts';
import { translateFailures } from './failures.ts';
import { feedActivities } from './feed.ts';
import { finishActivity } from './finish.ts';
import { generateActivity } from './generate.ts';
import { groupActivities } from './groups.ts';
import { logActivity } from './log.ts';
import { beginActivity, openActivity } from './open.ts';
import { weightsActivities } from './weights.ts';

/** The activities whose calls reach functions of the program that made the run. */
export function programActivities(deps: ProgramDeps) {
  const activities = {
    generate: generateActivity(deps),
    begin: beginActivity(deps),
    evaluate: evaluateActivity(deps, { readAgentEnd, replyToCalls }),
    endEnvironment: endActivity(deps),
    callTool: callToolActivity(deps),
  };
  return translateFailures(activities, deps.worker);
}

export function createActivities(deps: ActivityDeps) {
  const { measure = (work) => work } = deps;
  const activities = {
    open: openActivity(deps),
    generate: measure(generateActivity(deps)),
    begin: beginActivity(deps),
    askEnvironment: askActivity(deps),
    evaluate: evaluateActivity(deps, { readAgentEnd, replyToCalls }),
    endEnvironment: endActivity(deps),
    callTool: callToolActivity(deps),
    runAgent: agentActivity(deps),
    pauseAgent: pauseAgentActivity(deps),
    agentTurns: agentTurnsActivity(deps),
    log: logActivity(deps),
    finish: finishActivity(deps),
    ...collectionActivities(deps),
    ...cancelActivities(deps),
    ...feedActivities(deps),
    ...groupActivities(deps),
    ...weightsActivities(deps),
  };
  return translateFailures(activities, deps.worker);
}

export type Activities = ReturnType<typeof createActivities>;
