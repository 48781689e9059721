"""What the observer did, and why it could not look somewhere, in words for the user."""

from __future__ import annotations

from gradsan.record.events import BlindSpot, Reason

ATTENTION: dict[Reason, str] = {
    "": "",
    "first": "the first iterations",
    "asked": "asked for",
    "random": "a random look",
    "late network": "a network that is about to learn for the first time",
    "unlike": "an iteration unlike the others",
    "unexpected boundary": "a boundary where none was expected",
    "new parameters": "parameters made while training",
    "odd loss": "a loss out of its history",
    "other graph": "a graph of another shape",
    "returning": "a loss that was expected back",
    "ends": "ends of episodes, of which there were few before",
}
NO_DEEP_ITERATION = "no iteration was traced deeply (use --mode deep or adaptive)"
LOST_TRACK = "a fault of gradsan's own: nothing was judged after it"
NOT_FOLLOWED = "what the environment said was not met again in a loss (changed on the way, or pictures)"
BLIND: dict[BlindSpot, str] = {
    "transforms": "values inside torch.func transforms",
    "compiled": "code inside torch.compile (with TORCH_COMPILE_DISABLE=1 it runs eagerly, and is looked at)",
    "compiled values": "what the values inside torch.compile are (with TORCH_COMPILE_DISABLE=1 it runs eagerly)",
    "subclass": "tensors of a class that answers by code of its own (DTensor, jagged, masked, a wrapper)",
    "deep graph": "backward through a graph of more than 15,000 operations in a row",
    "packed": "tensors that saved-tensor hooks keep for backward (checkpointing, offloading)",
}
# The rules that a blind spot concerns; all that look deeply, where it is not named here.
CONCERNS: dict[BlindSpot, tuple[str, ...]] = {
    "packed": ("GS101", "GS104"),
    "compiled values": (
        "GS101",
        "GS104",
        "GS208",
        "GS211",
        "GS503",
        "GS602",
        "GS803",
        "GS804",
        "GS806",
        "GS807",
    ),
}
