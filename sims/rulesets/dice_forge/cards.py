"""The Heroic Feats: fifteen stacks on seven islands, each with its basic set and nine of them with another (R21 to R29).

A card's number is its place in ``CARDS``. What a card does is said in ``rules.py``.
"""

from typing import NamedTuple

import numpy as np

from sims.errors import InputError, choose
from sims.ruleset import Field


class Stack(NamedTuple):
    """A place for a set: its island, its price, and the sets that may lie there."""

    island: int
    sun: int
    moon: int
    sets: tuple[str, ...]  # the basic one first


STACKS: dict[str, Stack] = {
    "M1": Stack(1, 0, 1, ("HAMMER",)),
    "M2": Stack(1, 0, 1, ("CHEST",)),
    "M3": Stack(2, 0, 2, ("HIND", "BEAR")),
    "M4": Stack(2, 0, 3, ("SATYRS", "BOAR")),
    "M5": Stack(3, 0, 4, ("FERRYMAN", "CERBERUS")),
    "M6": Stack(3, 0, 5, ("HELMET",)),
    "M7": Stack(4, 0, 6, ("CANCER", "SENTINEL")),
    "M8": Stack(4, 5, 5, ("HYDRA", "TYPHON")),
    "F1": Stack(7, 1, 0, ("ELDER",)),
    "F2": Stack(7, 1, 0, ("SPIRITS",)),
    "F3": Stack(6, 2, 0, ("OWL", "SHIP")),
    "F4": Stack(6, 3, 0, ("MINOTAUR", "SHIELD")),
    "F5": Stack(5, 4, 0, ("GORGON", "TRITON")),
    "F6": Stack(5, 5, 0, ("MIRROR",)),
    "F7": Stack(4, 6, 0, ("SPHINX", "CYCLOPS")),
}
CARDS = {  # printed glory
    "HAMMER": 0,
    "CHEST": 2,
    "HIND": 2,
    "BEAR": 2,
    "SATYRS": 6,
    "BOAR": 4,
    "FERRYMAN": 12,
    "CERBERUS": 6,
    "HELMET": 4,
    "CANCER": 8,
    "SENTINEL": 6,
    "HYDRA": 26,
    "TYPHON": 16,
    "ELDER": 0,
    "SPIRITS": 2,
    "OWL": 4,
    "SHIP": 4,
    "MINOTAUR": 8,
    "SHIELD": 6,
    "GORGON": 14,
    "TRITON": 8,
    "MIRROR": 10,
    "SPHINX": 10,
    "CYCLOPS": 8,
}

NAMES = list(CARDS)
N_CARDS, N_STACKS = len(CARDS), len(STACKS)
STACK_NAMES = list(STACKS)
ISLAND = np.array([stack.island for stack in STACKS.values()])
COST = np.array([(0, stack.sun, stack.moon) for stack in STACKS.values()])  # gold, sun, moon
SETS = np.array([[NAMES.index(stack.sets[0]), NAMES.index(stack.sets[-1])] for stack in STACKS.values()])
PAIRED = np.array([i for i, stack in enumerate(STACKS.values()) if len(stack.sets) > 1])
PRINTED_GLORY = np.array(list(CARDS.values()))
STACK_OF = {card: name for name, stack in STACKS.items() for card in stack.sets}
(
    HAMMER,
    CHEST,
    HIND,
    BEAR,
    SATYRS,
    BOAR,
    FERRYMAN,
    CERBERUS,
    HELMET,
    CANCER,
    SENTINEL,
    HYDRA,
    TYPHON,
    ELDER,
    SPIRITS,
    OWL,
    SHIP,
    MINOTAUR,
    SHIELD,
    GORGON,
    TRITON,
    MIRROR,
    SPHINX,
    CYCLOPS,
) = range(N_CARDS)

CAPS = np.array([12, 6, 6])  # gold, sun, moon
CHEST_ROOM = np.array([4, 3, 3])
HAMMER_STEPS = 15
HAMMER_GLORY = np.array([10, 15])  # first and second pass
ELDER_GOLD, ELDER_GLORY = 3, 4
SPIRITS_GOLD, SPIRITS_MOON = 3, 3
BEAR_GLORY = 3
TRITON_GAIN = np.array([6, 2, 2])
SENTINEL_GLORY = 2  # per shard
IN_A_ROW = np.array([2, 4])  # blessings: divine (Cancer, Sentinel), minor (Sphinx, Cyclops)

ALTERNATE, RANDOM_LAYOUT = (1 << len(PAIRED)) - 1, 1 << len(PAIRED)


class LayoutField(Field):
    """The field ``layout``: a kind of layout, or the sets that replace others, ``BEAR/SHIP``; what is not named is basic."""

    def parse(self, name: str, text: str) -> str:
        """Read a kind or a list of sets; raises InputError for what is no set, or two sets of one stack."""
        if text.lower() in self.choices:
            return text.lower()
        sets = [
            choose(word.strip().upper(), NAMES, f"{name} ({', '.join(self.choices)}, or sets such as BEAR/SHIP)")
            for word in text.split("/")
        ]
        stacks = [STACK_OF[card] for card in sets]
        for card, stack in zip(sets, stacks, strict=True):
            if stacks.count(stack) > 1:
                raise InputError(f"{name} has two sets for the stack {stack}, one of them {card}")
        return "/".join(sorted(sets, key=NAMES.index))

    def code(self, value: str) -> int:
        """Return the set of pairs whose other set is used, as bits; one number more for a drawn layout."""
        kinds = {"basic": 0, "alternate": ALTERNATE, "random": RANDOM_LAYOUT}
        if value in kinds:
            return kinds[value]
        sets = value.split("/")
        return sum(1 << bit for bit, stack in enumerate(PAIRED) if NAMES[SETS[stack, 1]] in sets)
