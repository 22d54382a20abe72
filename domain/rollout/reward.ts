// Rewards of the seed: r_t = ((success_t − 0.5)·2 − bias)·scaling, and the discounted return
// G_T = r_T, G_t = r_t + γ·G_{t+1}, computed backwards. Doubles; float32 only in an export.

export interface RewardSettings {
  readonly rewardScaling: number;
  readonly rewardBias: number;
  readonly turnDiscount: number;
}

export function turnReward(success: boolean, settings: RewardSettings): number {
  return (((success ? 1 : 0) - 0.5) * 2 - settings.rewardBias) * settings.rewardScaling;
}

/**
 * r_t of each judged turn; a turn that was not judged (null) has none. `own`: by turn, the reward that an environment
 * gave, which stands as it is.
 */
export function turnRewards(
  success: readonly (0 | 1 | null)[],
  settings: RewardSettings,
  own: readonly (number | undefined)[] = [],
): number[] {
  return success.flatMap((one, i) => own[i] ?? (one === null ? [] : turnReward(one === 1, settings)));
}

/** One return per turn, in turn order. `called`: by turn, true if it called tools, and has the return of its answer. */
export function discountedReturns(
  rewards: readonly number[],
  turnDiscount: number,
  called: readonly boolean[] = [],
): number[] {
  const returns = [...rewards];
  for (let t = returns.length - 2; t >= 0; t--)
    returns[t] = returns[t]! + (called[t] === true ? 1 : turnDiscount) * returns[t + 1]!;
  return returns;
}

/**
 * The reason why an export could not represent the rewards of these settings; null if it can. Trainers use float32: a
 * larger return would be Infinity, a small one 0, and right and wrong of the same value could not be distinguished.
 */
export function unfitRewards(settings: RewardSettings, numTurns: number): string | null {
  const [right, wrong] = [turnReward(true, settings), turnReward(false, settings)];
  for (const reward of [right, wrong]) {
    const returns = discountedReturns(Array<number>(numTurns).fill(reward), settings.turnDiscount);
    const over = returns.find((value) => !Number.isFinite(Math.fround(value)));
    if (over !== undefined) return `make a return of ${over}, and float32 ends at 3.4e38`;
    if (reward !== 0 && Math.fround(reward) === 0) return `make a reward of ${reward}, which float32 holds as 0`;
  }
  if (settings.rewardScaling !== 0 && Math.fround(right) === Math.fround(wrong)) {
    return `make ${right} of right and ${wrong} of wrong, which float32 cannot tell apart`;
  }
  return null;
}
