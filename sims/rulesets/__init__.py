"""RULESETS, the only list of games."""

from sims.ruleset import Ruleset
from sims.rulesets import dice_fever, diceplomacy, pig

RULESETS: dict[str, Ruleset] = {ruleset.name: ruleset for ruleset in (pig.RULESET, dice_fever.RULESET, diceplomacy.RULESET)}
