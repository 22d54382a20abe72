"""everturn.experts: the files that a row names are one array over its tokens, from a folder and from a feed, or an error. Needs numpy."""

import gzip
import hashlib
import os
import tempfile
import unittest

from everturn.experts import checked, routing
from everturn.rows import to_slime, to_verl

try:
    import numpy
except ImportError:
    numpy = None


def part(folder, start, rows, values, kind="int32"):
    """One slice of the row, of a file that has a row more than counts."""
    data = numpy.array(values, dtype=kind).tobytes()
    sha256 = hashlib.sha256(data).hexdigest()
    path = f"experts/{sha256[:2]}/{sha256}-{len(data)}.gz"
    os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
    with gzip.open(os.path.join(folder, path), "wb") as out:
        out.write(data)
    return {"path": path, "sha256": sha256, "start": start, "rows": rows, "layers": 2, "per_token": 1, "type": kind}


class FeedOf:
    def __init__(self, folder):
        self.folder = folder

    def experts(self, one):
        with gzip.open(os.path.join(self.folder, one["path"])) as file:
            return checked(file.read(), one)


@unittest.skipUnless(numpy, "numpy is not there")
class Experts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        parts = [part(self.folder.name, 0, 2, range(6)), part(self.folder.name, 2, 2, range(10, 16))]
        self.row = {"id": "q", "prompt_ids": [1, 2], "response_ids": [3, 4, 5], "experts": parts}

    def test_the_files_are_one_array_over_all_tokens_but_the_last(self):
        for place in (self.folder.name, FeedOf(self.folder.name)):
            found = routing(self.row, place)
            self.assertEqual(found.tolist(), [[[0], [1]], [[2], [3]], [[10], [11]], [[12], [13]]])
            self.assertTrue(found.flags.writeable)
        self.assertIsNone(routing({"id": "q", "experts_missing": True}, self.folder.name))

    def test_what_is_no_array_over_the_row_is_refused(self):
        first, second = self.row["experts"]
        for name, parts in {"gap": [first, {**second, "start": 3}], "few": [first], "other": [{**first, "sha256": "0" * 64}, second]}.items():
            with self.subTest(name), self.assertRaises(ValueError):
                routing({**self.row, "experts": parts}, self.folder.name)

    def test_slime_and_verl_get_it_by_their_own_names(self):
        more = {"group": "q", "response_mask": [1] * 3, "logprobs": [0.0] * 3, "versions": [0] * 3, "turn_ids": [0] * 3, "turn_ends": [3], "turn_rewards": [1.0],
                "reward": 1.0, "finish": "stop", "version_start": 0, "version_end": 0}
        row, found = {**self.row, **more}, routing(self.row, self.folder.name)
        self.assertIs(to_slime(row, experts=found)["rollout_routed_experts"], found)
        self.assertIs(to_verl(row, found)["output"]["routed_experts"], found)
        self.assertNotIn("rollout_routed_experts", to_slime(row))
        self.assertNotIn("routed_experts", to_verl(row)["output"])


if __name__ == "__main__":
    unittest.main()
