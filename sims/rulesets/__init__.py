"""RULESETS, the only list of games."""

from sims.rulesets import dice_fever, pig
from sims.ruleset import Ruleset

RULESETS: dict[str, Ruleset] = {ruleset.name: ruleset for ruleset in (pig.RULESET, dice_fever.RULESET)}
