"""The faces of the dice: what each is, what it gives, where it is bought (R18 to R20). Data, and the tables made of it.

A face's number is its place in ``FACES``; those of the Sanctuary come first, in the order of the pools. Amounts are rows of
gold, sun shards, moon shards and glory.
"""

import numpy as np

GOLD, SUN, MOON, GLORY = range(4)
RESOURCES = "GSMV"

SUM, CHOICE, X3, MIRROR, SHIP, SHIELD, BOAR, EMPTY = range(8)  # kinds
FACES: dict[str, tuple[int, tuple[int, int, int, int]]] = {
    "G3": (SUM, (3, 0, 0, 0)),
    "M1": (SUM, (0, 0, 1, 0)),
    "G4": (SUM, (4, 0, 0, 0)),
    "S1": (SUM, (0, 1, 0, 0)),
    "G6": (SUM, (6, 0, 0, 0)),
    "S1V1": (SUM, (0, 1, 0, 1)),
    "G2M1": (SUM, (2, 0, 1, 0)),
    "G1/S1/M1": (CHOICE, (1, 1, 1, 0)),
    "G3/V2": (CHOICE, (3, 0, 0, 2)),
    "M2": (SUM, (0, 0, 2, 0)),
    "S2": (SUM, (0, 2, 0, 0)),
    "V3": (SUM, (0, 0, 0, 3)),
    "V4": (SUM, (0, 0, 0, 4)),
    "M2V2": (SUM, (0, 0, 2, 2)),
    "G1S1M1V1": (SUM, (1, 1, 1, 1)),
    "G2/S2/M2": (CHOICE, (2, 2, 2, 0)),
    "G1": (SUM, (1, 0, 0, 0)),
    "V2": (SUM, (0, 0, 0, 2)),
    "X3": (X3, (0, 0, 0, 0)),
    "MIRROR": (MIRROR, (0, 0, 0, 0)),
    "SHIP": (SHIP, (0, 0, 0, 0)),
    "SH_S": (SHIELD, (0, 2, 0, 0)),  # the lower reward, which also tells the resource that must match
    "SH_M": (SHIELD, (0, 0, 2, 0)),
    "SH_G": (SHIELD, (3, 0, 0, 0)),
    "SH_V": (SHIELD, (0, 0, 0, 3)),
    "BOAR_r": (BOAR, (0, 1, 1, 0)),  # what who rolls it chooses from
    "BOAR_b": (BOAR, (0, 1, 1, 0)),
    "BOAR_y": (BOAR, (0, 1, 1, 0)),
    "BOAR_g": (BOAR, (0, 1, 1, 0)),
    "-": (EMPTY, (0, 0, 0, 0)),  # no face: nothing to copy, or the second face of a minor blessing
}
POOLS: tuple[tuple[int, tuple[str, ...]], ...] = (  # price, and the four faces
    (2, ("G3",) * 4),
    (2, ("M1",) * 4),
    (3, ("G4",) * 4),
    (3, ("S1",) * 4),
    (4, ("G6", "S1V1", "G2M1", "G1/S1/M1")),
    (5, ("G3/V2",) * 4),
    (6, ("M2",) * 4),
    (8, ("S2",) * 4),
    (8, ("V3",) * 4),
    (12, ("V4", "M2V2", "G1S1M1V1", "G2/S2/M2")),
)
GARDEN = {"X3": 4, "MIRROR": 4, "SHIP": 4} | dict.fromkeys([name for name in FACES if name[:3] in ("SH_", "BOA")], 1)
START = (("G1", "G1", "G1", "G1", "G1", "S1"), ("G1", "G1", "G1", "G1", "M1", "V2"))  # the light die, the dark die

SHIELD_HIT = 5  # glory
SHIP_DISCOUNT = 2  # gold
BOAR_OWNER = np.array([0, 1, 1, 3])  # what the card's owner chooses from

NAMES = list(FACES)
N_FACES = len(FACES)
NUMBER = {name: number for number, name in enumerate(FACES)}
N_BOUGHT = NUMBER["G2/S2/M2"] + 1  # faces that gold buys
X3_FACE, MIRROR_FACE, SHIP_FACE, SHIELD_0, BOAR_0, NOTHING = (
    NUMBER[name] for name in ("X3", "MIRROR", "SHIP", "SH_S", "BOAR_r", "-")
)

KIND = np.array([kind for kind, _ in FACES.values()])
AMOUNT = np.array([amounts for _, amounts in FACES.values()])
MATCH = np.array([int(np.argmax(amounts)) for _, amounts in FACES.values()])  # of a shield
START_DICE = np.array([[NUMBER[name] for name in die] for die in START])
_PRICE_OF = {name: price for price, pool in POOLS for name in pool}
PRICE = np.array([_PRICE_OF.get(name, 0) for name in FACES])
POOL_OF = np.array([next((i for i, (_, pool) in enumerate(POOLS) if name in pool), -1) for name in FACES])
_TYPES_OF = {name: sum(1 << NUMBER[other] for other in set(pool)) for _, pool in POOLS for name in pool}
POOL_TYPES = np.array([_TYPES_OF[name] for name in NAMES[:N_BOUGHT]])  # of the pool of each face, as a set
STOCK = np.array([GARDEN.get(name, sum(pool.count(name) for _, pool in POOLS)) for name in FACES])  # with 3 or 4 seats
MIXED = np.array([[NUMBER[name] for name in pool] for _, pool in POOLS if len(set(pool)) > 1])
PAIRS = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])  # of the four faces of a mixed pool
