"""AReaL's own ZMQJsonPuller or ZMQJsonPusher, unmodified, out of a checkout:

    areal_puller.py <checkout> pull <port>            each message that it returns is a line of JSON on stdout
    areal_puller.py <checkout> push <port> < lists    each line of stdin, a JSON list, is pushed as one message"""
import importlib.util
import json
import logging
import os
import queue
import sys
import time
import types

checkout, what, port = sys.argv[1:4]
for name in ("realhf", "realhf.base"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = []
base = sys.modules["realhf.base"]
for name in ("constants", "name_resolve", "names", "network"):
    setattr(base, name, types.ModuleType(name))
base.logging = logging
spec = importlib.util.spec_from_file_location("stream", os.path.join(checkout, "realhf/system/push_pull_stream.py"))
stream = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stream)

if what == "pull":
    with stream.ZMQJsonPuller("127.0.0.1", int(port)) as puller:
        while True:
            try:
                print(json.dumps(puller.pull(timeout_ms=1000)), flush=True)
            except queue.Empty:
                pass
else:
    pusher = stream.ZMQJsonPusher("127.0.0.1", int(port))
    for line in sys.stdin:
        pusher.push(json.loads(line))
    time.sleep(3600)  # its socket drops what it holds when it is closed
