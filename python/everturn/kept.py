"""Logprobs over the tokens that the sampler had left to draw from. Where top-p, top-k or min-p leaves tokens out, a row's `logprobs`
are over the others alone: a trainer that recomputes them over the whole vocabulary gets ratios that are too small. Needs torch."""


def kept_logprobs(logits, ids, kept_ids, temperature=1.0):
    """The logprob of each of `ids` over its kept set; None in place of a set: over the whole vocabulary.

    logits: a tensor [n, vocabulary]; logits[i] are those that ids[i] was drawn from, one place before its own.
    kept_ids: as in a row, one for each id.
    -> a float32 tensor [n], with gradients"""
    import torch

    device, logits = logits.device, logits.float() / temperature
    own = logits.gather(1, torch.as_tensor(ids, device=device)[:, None])[:, 0]
    if all(kept is None for kept in kept_ids):
        return own - logits.logsumexp(-1)
    longest = max(len(kept) for kept in kept_ids if kept is not None)
    places = torch.tensor([(kept or []) + [0] * (longest - len(kept or [])) for kept in kept_ids], device=device)
    sizes = torch.tensor([len(kept or []) for kept in kept_ids], device=device)
    left_out = torch.arange(longest, device=device) >= sizes[:, None]
    kept = logits.gather(1, places).masked_fill(left_out, float("-inf"))
    whole = [at for at, one in enumerate(kept_ids) if one is None]
    if not whole:
        return own - kept.logsumexp(-1)
    # a row of -inf alone has no gradient that is a number
    kept = kept.masked_fill(sizes[:, None] == 0, 0.0)
    return own - torch.where(sizes > 0, kept.logsumexp(-1), logits.logsumexp(-1))
