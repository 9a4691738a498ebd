"""RULESETS, the only list of games."""

from sims.ruleset import Ruleset
from sims.rulesets import dice_fever, dice_forge, dice_land, dicefest, diceplomacy, pig

GAMES = (pig.RULESET, dice_fever.RULESET, dice_land.RULESET, diceplomacy.RULESET, dicefest.RULESET, dice_forge.RULESET)
RULESETS: dict[str, Ruleset] = {ruleset.name: ruleset for ruleset in GAMES}
