"""RULESETS, the only list of games."""

from sims.ruleset import Ruleset
from sims.rulesets import dice_fever, dice_land, dicefest, diceplomacy, pig

GAMES = (pig.RULESET, dice_fever.RULESET, dice_land.RULESET, diceplomacy.RULESET, dicefest.RULESET)
RULESETS: dict[str, Ruleset] = {ruleset.name: ruleset for ruleset in GAMES}
