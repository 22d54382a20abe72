"""AReaL's SequenceSample out of its own file, unmodified. The file's imports of its own settings and packing need packages
for a GPU cluster; those that reading and gathering never touch are replaced by empty modules."""

import importlib.util
import logging
import os
import sys
import types


def sequence_sample(root):
    def module(name, **members):
        made = types.ModuleType(name)
        made.__dict__.update(members)
        made.__path__ = []
        sys.modules[name] = made
        return made

    for name in ("realhf", "realhf.api", "realhf.api.core", "realhf.base"):
        module(name)
    module("realhf.api.cli_args", MicroBatchSpec=type("MicroBatchSpec", (), {}))
    sys.modules["realhf.api.core"].config = module("realhf.api.core.config", DatasetAbstraction=object, ModelName=object)
    module("realhf.utils", load_hf_or_local_file=None)
    for name, members in {
        "constants": {},
        "datapack": {"flat2d": lambda lists: [item for one in lists for item in one]},
        "logging": {"getLogger": logging.getLogger},
        "seeding": {},
    }.items():
        setattr(sys.modules["realhf.base"], name, module(f"realhf.base.{name}", **members))
    spec = importlib.util.spec_from_file_location(
        "realhf.api.core.data_api", os.path.join(root, "realhf/api/core/data_api.py")
    )
    data_api = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = data_api
    spec.loader.exec_module(data_api)
    return data_api.SequenceSample
