"""What two faces do, a second time: slow and obvious, from the names of the faces alone, by listing every way to choose.

An outcome is what the roller gains, how many rewards the owner of each boar may take, and the discounts of the ships that are
offered: ``(gold, sun, moon, glory), triggers, ships``.
"""

import re
from collections import Counter
from itertools import product

RESOURCES = "GSMV"
LOWER = {"SH_S": "S2", "SH_M": "M2", "SH_G": "G3", "SH_V": "V3"}
NO_GAIN = (0, 0, 0, 0)


def amounts(word):
    """``G2M1`` as (2, 0, 1, 0)."""
    found = {letter: int(number) for letter, number in re.findall(r"([GSMV])(\d)", word)}
    return tuple(found.get(letter, 0) for letter in RESOURCES)


def gains(face):
    """All that a face that is no shield may give."""
    if face.startswith("BOAR"):
        return [amounts("S1"), amounts("M1")]
    if face in ("X3", "SHIP", "-", "MIRROR"):
        return [NO_GAIN]
    return [amounts(word) for word in face.split("/")]


def times(n, row):
    return tuple(n * number for number in row)


def plus(*rows):
    return tuple(map(sum, zip(*rows, strict=True)))


def converted(mode, face, row):
    """A face's gain as it is, or as glory where the card allows it."""
    gold, sun, moon, glory = row
    if mode == "sentinel" and sun + moon:
        return [row, (gold, 0, 0, glory + 2 * (sun + moon))]
    if mode == "cyclops" and gold:
        return [row, (0, sun, moon, glory + gold)]
    return [row]


def copies(face, sight, own_other):
    """What a face may become: itself, or for a mirror any face in sight."""
    if face != "MIRROR":
        return {face}
    seen = {other for other in sight if other != "MIRROR"}
    if "MIRROR" in sight and own_other not in (None, "MIRROR"):
        seen.add(own_other)
    return seen or {"-"}


def outcomes(pair, sight, own, mode="plain"):
    """Every outcome of two faces; for a minor blessing the second one is ``-``.

    ``sight`` are the faces that opponents show; ``own`` the faces on top of the own dice, or (None, None) for Satyrs.
    """
    found = set()
    seen = [copies(face, sight, None) for face in pair]
    for i, face in enumerate(pair):
        if face == "MIRROR":
            for other in own:
                seen[i] = seen[i] | (copies("MIRROR", sight, other) - {"-"})
            if len(seen[i]) > 1:
                seen[i] = seen[i] - {"-"}
    for one, two in product(*seen):
        found |= two_faces(one, two, mode)
    return found


def two_faces(one, two, mode):
    if one == two == "X3":
        return {(NO_GAIN, (), ())}
    factor = 3 if "X3" in (one, two) else 1
    found = set()
    lists = [[None] if face.startswith("SH_") else gains(face) for face in (one, two)]
    for rows in product(*lists):
        parts = []
        for i, face in enumerate((one, two)):
            if face.startswith("SH_"):
                resource = RESOURCES.index(face[-1])
                other = rows[1 - i]
                hit = other is not None and other[resource] > 0
                parts.append(amounts("V5") if hit else times(factor, amounts(LOWER[face])))
            else:
                parts.append(times(factor, rows[i]))
        boars = Counter({face: factor for face in (one, two) if face.startswith("BOAR")})
        if one == two:
            boars += boars
        triggers = tuple(sorted(boars.items()))
        ships = () if mode == "minotaur" else tuple(2 * factor for face in (one, two) if face == "SHIP")
        for chosen in product(*(converted(mode, face, part) for face, part in zip((one, two), parts, strict=True))):
            total = plus(*chosen)
            found.add((times(-1, total) if mode == "minotaur" else total, triggers, ships))
    return found
