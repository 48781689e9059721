"""Custom functions that give log-probabilities and entropies are known by what they compute, not by their names."""

from __future__ import annotations

import pytest
import torch

from gradsan.observe.ops.fused_scores import tags_of

HIDDEN, VOCABULARY = 6, 9


def parts(*lead: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(1)
    hidden, weight = torch.randn(*lead, HIDDEN), torch.randn(VOCABULARY, HIDDEN)
    return hidden, weight, torch.randn(VOCABULARY), torch.randint(VOCABULARY, lead)


def scored(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    return logits.log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)


@pytest.mark.parametrize("temperature", [1.0, 0.7])
@pytest.mark.parametrize("lead", [(12,), (3, 5)])
def test_a_last_layer_with_its_softmax_and_choice_is_a_log_prob(lead, temperature):
    hidden, weight, bias, tokens = parts(*lead)
    out = scored((hidden @ weight.t() + bias) / temperature, tokens)
    assert tags_of((temperature,), [hidden, weight, bias, tokens], [out]) == {0: ("log_prob",)}


def test_logits_may_be_given_and_the_entropy_may_come_along():
    hidden, weight, _, tokens = parts(12)
    logits = hidden @ weight.t()
    entropy = torch.distributions.Categorical(logits=logits).entropy()
    found = tags_of((), [logits, tokens], [scored(logits, tokens), entropy, logits.mean(-1)])
    assert found == {0: ("log_prob",), 1: ("entropy",)}


def test_half_precision_is_compared_with_its_own_precision():
    hidden, weight, _, tokens = parts(12)
    hidden, weight = hidden.bfloat16(), weight.bfloat16()
    out = scored((hidden @ weight.t()).float(), tokens)
    assert tags_of((), [hidden, weight, tokens], [out]) == {0: ("log_prob",)}


def test_what_only_looks_alike_is_not_named():
    hidden, weight, bias, tokens = parts(12)
    logits = hidden @ weight.t()
    chosen = logits.gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    others = [
        chosen,
        -scored(logits, tokens),
        scored(logits, (tokens + 1) % VOCABULARY),
        logits.logsumexp(-1),
    ]
    for out in others:
        assert tags_of((0.5,), [hidden, weight, bias, tokens], [out]) == {}
    assert tags_of((), [hidden, weight], [scored(logits, tokens)]) == {}  # nothing was chosen
    assert tags_of((), [hidden, weight, tokens * 100], [chosen]) == {}  # no places of these logits
