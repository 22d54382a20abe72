"""Each drop-in class by its path, called twice over a real run by the framework's own code, which then makes of its rollouts what its
trainer trains on: `classes.py <run> <framework>` prints it. Exit code 2: the framework is not here. Inference servers, which these packages
import and our rollouts never ask, are empty modules."""
import ast
import asyncio
import importlib.abc
import importlib.machinery
import importlib.metadata
import json
import os
import re
import sys
import types
import typing

from everturn import Feed, integrations
from everturn.rows import token_rewards

RUN, FRAMEWORK = sys.argv[1:]
GROUPS, SAMPLES = 2, 2
COUNT = GROUPS * SAMPLES
HERE = os.path.dirname(os.path.abspath(__file__))
TINY = os.path.join(HERE, "../../../models/tiny")
# compiling takes minutes, and is not what is tried
os.environ.update(EVERTURN_RUN=RUN, EVERTURN_GROUPS=str(GROUPS), EVERTURN_SAMPLES=str(SAMPLES), TORCHDYNAMO_DISABLE="1")
sys.path.append(os.path.join(os.environ.get("EVERTURN_TRAINERS_SOURCES", ""), "slime"))


ABSENT = ("sglang", "sglang_router", "swanlab", "tensorboardX", "trackio", "vllm")


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of inference servers and of trackers: each name in them is a class that nobody makes."""

    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split(".")[0] in ABSENT else None

    def exec_module(self, module):
        module.__getattr__ = self.member

    @staticmethod
    def member(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


sys.meta_path.append(Absent())


class Taken(list):
    """The rows of the last step, as the feed gave them."""

    def __init__(self):
        take = integrations.Steps.take
        integrations.Steps.take = lambda steps, *size: self.keep(take(steps, *size))

    def keep(self, rows):
        self[:] = rows
        return rows


def bare(of):
    """Without the constructor, which starts servers and workers."""
    return of.__new__(of)


def slime():
    from slime.ray import rollout
    from slime.utils.misc import load_function

    args = types.SimpleNamespace(rollout_batch_size=GROUPS, n_samples_per_prompt=SAMPLES, load_debug_rollout_data=None, advantage_estimator="grpo",
                                 rewards_normalization=True, grpo_std_normalization=True, reward_key=None)
    manager = bare(rollout.RolloutManager.__ray_metadata__.modified_class)
    manager.args, manager.data_source = args, None
    manager.custom_reward_post_process_func = manager.custom_convert_samples_to_train_data_func = None
    manager.generate_rollout = load_function("everturn.integrations.slime.rollouts")
    for rollout_id in range(3):
        if rollout_id == 2:  # started again from the checkpoint of the second step, which nobody acknowledged
            from everturn.integrations.slime import _steps

            _steps.clear()
        samples, _ = manager._get_rollout_data(rollout_id)
        data = manager._convert_samples_to_train_data(samples)
    return {"trained_tokens": sum(map(sum, data["loss_masks"])), "rows": len(data["rollout_log_probs"])}


def skyrl():
    if sys.version_info < (3, 12):
        import typing_extensions

        typing.TypedDict = typing_extensions.TypedDict  # pydantic asks for it
    from everturn.integrations.skyrl import Generator
    from skyrl.train.config import SkyRLTrainConfig
    from skyrl.train.generators.base import BatchMetadata, GeneratorInput, TrajectoryID
    from skyrl.train.trainer import RayPPOTrainer

    trainer = bare(RayPPOTrainer)
    trainer.cfg, trainer.all_metrics = SkyRLTrainConfig(), {}
    trainer.tokenizer = types.SimpleNamespace(pad_token_id=0)
    trainer.cfg.generator.n_samples_per_prompt, trainer.cfg.trainer.train_batch_size, trainer.cfg.trainer.policy_mini_batch_size = SAMPLES, GROUPS, GROUPS
    trainer.dispatch = types.SimpleNamespace(get_lcm_dp_size=lambda: 1)
    with Feed(RUN) as feed:
        trainer.generator = Generator(feed, samples=SAMPLES)
        ids = [TrajectoryID(instance_id=str(at // SAMPLES), repetition_id=at % SAMPLES) for at in range(COUNT)]
        for step in range(1, 3):
            asked = GeneratorInput(prompts=[[{"role": "user", "content": "?"}]] * COUNT, env_classes=["none"] * COUNT, env_extras=None,
                                   sampling_params=None, trajectory_ids=ids, batch_metadata=BatchMetadata(step, "train"))
            made = asyncio.run(trainer.generate(asked))
            made, uids = trainer.postprocess_generator_output(made, [one.instance_id for one in ids])
            data = trainer.convert_to_training_input(made, uids)
            data["values"] = None  # no critic
            data = trainer.compute_advantages_and_returns(data)
    return {"trained_tokens": int(data["loss_mask"].sum()), "rows": len(data["advantages"])}


def openrlhf():
    from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator
    from openrlhf.trainer.ray import vllm_engine

    actor, generator = bare(vllm_engine.RolloutRayActor.__ray_metadata__.modified_class), bare(SamplesGenerator)
    actor.executor = vllm_engine._load_agent_executor(integrations.__path__[0] + "/openrlhf.py")

    async def step(prompts):
        asked = [actor.generate_responses(prompt, "label", None, 512, None, num_samples=SAMPLES) for prompt in prompts]
        return [generator._process_response_into_experience(one, max_len=512) for group in await asyncio.gather(*asked) for one in group]

    for prompts in ("ab", "cd"):
        made = asyncio.run(step(prompts))
    return {"trained_tokens": int(sum(one.action_mask.sum() for one in made)), "rows": len(made)}


def areal():
    from areal.api.cli_args import InferenceEngineConfig
    from areal.infra.remote_inf_engine import RemoteInfEngine

    config = InferenceEngineConfig(experiment_name="e", trial_name="t", consumer_batch_size=GROUPS, max_head_offpolicyness=0, check_trajectory_format=True)
    engine = RemoteInfEngine(config, backend=None)
    engine.check_health = lambda url: True
    engine.initialize(addr="127.0.0.1:1", train_data_parallel_size=1)
    for version in range(2):
        engine.set_version(version)
        for _ in range(GROUPS):  # as its RolloutController does
            engine.submit({"question": "?"}, workflow="everturn.integrations.areal.Workflow", workflow_kwargs={"run": RUN, "groups": GROUPS, "samples": SAMPLES})
        made = engine.wait(GROUPS)
    engine.destroy()
    v2_refuses("everturn.integrations.areal.Workflow")
    said = {"trained_tokens": int(sum(one["loss_mask"].sum() for one in made)), "rows": sum(len(one["input_ids"]) for one in made)}
    assert sorted(float(one) for group in made for one in group["rewards"]) == sorted(row["reward"] for row in taken)
    areal_step(made)
    return said


def areal_step(batch):
    """As AReaL's PPOTrainer does: its FSDP actor takes an optimiser step, here on a CPU, from logprobs that are the sampler's."""
    import torch
    from areal.api.cli_args import MicroBatchSpec, NormConfig, OptimizerConfig, PPOActorConfig
    from areal.api.io_struct import FinetuneSpec
    from areal.engine.fsdp_engine import FSDPPPOActor
    from areal.utils.network import find_free_ports

    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(find_free_ports(1)[0]))
    actor = FSDPPPOActor(PPOActorConfig(
        experiment_name="e", trial_name="t", backend="fsdp:d1p1t1", path=TINY, dtype="float32", attn_impl="sdpa", gradient_checkpointing=False,
        mb_spec=MicroBatchSpec(max_tokens_per_mb=4096), optimizer=OptimizerConfig(lr=1e-4, warmup_steps_proportion=0.0), ppo_n_minibatches=1,
        reward_norm=NormConfig(mean_level="group", std_level="group", group_size=SAMPLES), kl_ctl=0.0, use_decoupled_loss=True))
    actor.create_process_group()
    actor.initialize(None, FinetuneSpec(total_train_epochs=1, dataset_size=COUNT, train_batch_size=COUNT))
    # AReaL gives its masks as Qwen takes them, and all are None: samples end where their positions begin again
    actor.model.register_forward_pre_hook(lambda model, given, named: (given, {**named, "attention_mask": None}), with_kwargs=True)
    for trajectory, logprobs in zip(batch, actor.compute_logp(batch)):
        trajectory["prox_logp"] = logprobs
        # AReaL's own stand one place earlier
        apart = (logprobs.roll(1, -1) - trajectory["logprobs"]).abs() * trajectory["loss_mask"]
        assert apart.max() < 0.05, apart.max()
    before = [value.detach().clone() for value in actor.model.parameters()]
    learnt = actor.compute_advantages(batch)
    actor.ppo_update(learnt)
    moved = any(not torch.equal(*pair) for pair in zip(before, actor.model.parameters()))
    assert moved or not any((one["advantages"] * one["loss_mask"]).any() for one in learnt)
    assert {int(state["step"]) for state in actor.optimizer.state.values()} == {1}
    actor.destroy()


def v2_refuses(workflow):
    """AReaL's controller of version 2 (areal-project/AReaL@cbff54d6, which no package has) takes no workflow: it must refuse ours by name."""
    root = os.path.join(os.environ.get("EVERTURN_TRAINERS_SOURCES", ""), "areal-now")
    path = os.path.join(root, "areal/v2/inference_service/controller/controller.py")
    if not os.path.exists(path):
        print("AReaL's controller v2 is not here: its refusal is not tried", file=sys.stderr)
        return
    with open(path, encoding="utf-8") as file:
        [controller] = [node for node in ast.parse(file.read()).body if isinstance(node, ast.ClassDef) and node.name == "RolloutControllerV2"]
    [own] = [node for node in controller.body if isinstance(node, ast.FunctionDef) and node.name == "_resolve_workflow"]
    found = {}
    exec(compile(ast.Module([own], []), path, "exec"), found)
    try:
        found["_resolve_workflow"](types.SimpleNamespace(external_mode=False), workflow)
    except TypeError as refusal:
        assert "RolloutWorkflow" in str(refusal), refusal
    else:
        raise AssertionError("AReaL's controller v2 takes a workflow now: say so in examples/train/from/areal.md")


def verl():
    import ray
    import transfer_queue
    import verl as package
    from hydra import compose, initialize_config_dir
    from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync
    from verl.utils.import_utils import load_class_from_fqn

    data = os.path.abspath("verl-prompts.jsonl")
    with open(data, "w", encoding="utf-8") as file:
        file.write('{"data_source": "everturn", "prompt": [{"role": "user", "content": "?"}]}\n' * COUNT)
    with initialize_config_dir(os.path.join(package.__path__[0], "trainer/config"), version_base=None):
        config = compose("ppo_trainer", [
            f"data.train_files={data}", f"data.val_files={data}", f"data.train_batch_size={GROUPS}", "data.dataloader_num_workers=0",
            f"actor_rollout_ref.model.path={TINY}", f"actor_rollout_ref.rollout.n={SAMPLES}", "actor_rollout_ref.rollout.name=vllm",
            *verl_settings(), "algorithm.adv_estimator=grpo",
            "++algorithm.rollout_correction.bypass_mode=True", "trainer.v1.trainer_mode=sync",
        ])
    ray.init(num_cpus=16, include_dashboard=False, log_to_driver=False)
    transfer_queue.init(config.transfer_queue)
    trainer = PPOTrainerSync(config)
    trainer._init_tokenizer()
    trainer._init_dataloader()
    manager = load_class_from_fqn(config.actor_rollout_ref.rollout.agent.agent_loop_manager_class, "AgentLoopManager")
    trainer.agent_loop_manager = manager.create(config=config, llm_client=None, teacher_client=None, reward_loop_worker_handles=None)
    for trainer.global_steps in range(1, 3):
        trainer.prepare_step()
        batch, metrics = trainer.replay_buffer.sample(global_steps=trainer.global_steps, partition_id="train", batch_size=GROUPS)
        batch = trainer._compute_advantage(trainer._compute_old_log_prob(batch, metrics), metrics)
        made = transfer_queue.kv_batch_get(keys=batch.keys, partition_id="train", select_fields=["advantages", "response_mask", "rm_scores"])
        transfer_queue.kv_clear(keys=batch.keys, partition_id="train")
    transfer_queue.close()
    ray.shutdown()
    scores = [[float(score) for score in one] for one in made["rm_scores"].unbind()]
    assert sorted(scores) == sorted(token_rewards(row) for row in taken), scores
    return {"trained_tokens": int(sum(one.sum() for one in made["response_mask"].unbind())), "rows": len(made["advantages"].unbind())}


def verl_settings():
    """Those that examples/train/from/verl.sh gives to verl's own script."""
    with open(os.path.join(HERE, "../../../examples/train/from/verl.sh"), encoding="utf-8") as script:
        found = re.findall(r"^  (\S+=\S+)", script.read(), re.MULTILINE)
    assert len(found) > 3, found
    return found


if __name__ == "__main__":
    taken = Taken()
    try:
        said = globals()[FRAMEWORK]()
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    assert said == {"trained_tokens": sum(sum(row["response_mask"]) for row in taken), "rows": COUNT}, said
    version = "624b824a" if FRAMEWORK == "slime" else importlib.metadata.version(FRAMEWORK)
    print(json.dumps({"framework": FRAMEWORK, "version": version, **said}), flush=True)
