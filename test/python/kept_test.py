"""everturn.kept against a sum by hand. Needs torch: skipped without it."""

import math
import unittest

from everturn.kept import kept_logprobs

try:
    import torch
except ImportError:
    torch = None


def by_hand(logits, token, kept, temperature):
    z = [logit / temperature for logit in logits]
    return z[token] - math.log(sum(math.exp(z[one]) for one in (range(len(z)) if kept is None else kept)))


@unittest.skipUnless(torch, "torch is not there")
class Kept(unittest.TestCase):
    def setUp(self):
        self.logits = torch.randn(4, 50, generator=torch.Generator().manual_seed(3), dtype=torch.float64).requires_grad_()
        self.ids = [7, 0, 49, 12]
        self.sets = {"some": [[7, 9, 30], None, [49], None], "all": [[7, 9], [0], [3, 49], [1, 2, 12]], "none": [None] * 4}

    def test_logprobs_are_over_the_kept_ids_and_over_all_where_there_is_no_set(self):
        for name, sets in self.sets.items():
            for temperature in (1.0, 0.7):
                with self.subTest(name, temperature=temperature):
                    found = kept_logprobs(self.logits, self.ids, sets, temperature).tolist()
                    rows = zip(self.logits.tolist(), self.ids, sets)
                    for one, (logits, token, kept) in zip(found, rows):
                        self.assertAlmostEqual(one, by_hand(logits, token, kept, temperature), places=4)

    def test_gradients_are_numbers_and_reach_the_kept_ids_alone(self):
        for name, sets in self.sets.items():
            with self.subTest(name):
                self.logits.grad = None
                kept_logprobs(self.logits, self.ids, sets).sum().backward()
                self.assertTrue(torch.isfinite(self.logits.grad).all())
                for row, kept in zip(self.logits.grad, sets):
                    reached = row.nonzero()[:, 0].tolist()
                    self.assertTrue(set(reached) <= set(range(50) if kept is None else kept))
                    self.assertEqual(len(reached), 50 if kept is None else len(kept) if len(kept) > 1 else 0)


if __name__ == "__main__":
    unittest.main()
