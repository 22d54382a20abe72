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

/** One return per turn, in turn order. */
export function discountedReturns(rewards: readonly number[], turnDiscount: number): number[] {
  const returns = [...rewards];
  for (let t = returns.length - 2; t >= 0; t--) returns[t] = returns[t]! + turnDiscount * returns[t + 1]!;
  return returns;
}
