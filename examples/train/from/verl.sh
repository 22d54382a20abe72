# Not run: verl's workers need GPUs or NPUs (its FSDP engine is registered for these alone). On a CPU, verl 0.9.1
# takes these settings and our rollouts to its advantages. In a checkout of verl-project/verl@1dda039b; the page verl.md has the rest.
set -eu
: "${EVERTURN:?the folder of an Everturn checkout}"
export EVERTURN_RUN="${EVERTURN_RUN:-/shared/runs/first}" EVERTURN_WEIGHTS="/shared/first/global_step_{version}/actor/huggingface"
export PYTHONPATH="$EVERTURN/python" TRAIN_BATCH_SIZE=32 PPO_MINI_BATCH_SIZE=32 ROLLOUT_N=8 SAVE_FREQ=1 TEST_FREQ=-1
bash examples/grpo_trainer/run_qwen3_8b_fsdp.sh \
  +actor_rollout_ref.rollout.agent.agent_loop_manager_class=everturn.integrations.verl.Manager \
  algorithm.rollout_correction.rollout_is=token \
  actor_rollout_ref.actor.checkpoint.save_contents=[model,optimizer,extra,hf_model] \
  trainer.default_local_dir=/shared/first \
  trainer.max_actor_ckpt_to_keep=2 \
  trainer.val_before_train=False
