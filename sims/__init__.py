"""Plays dice games: rulesets, policies, one loop, results. Knows nothing of statistics (that is ``analysis``).

The map, in the order in which things happen:

    rulesets/        the games: rules, policies, exact values
    ruleset.py       what a ruleset is; variants
    policy.py        what a policy is; from a spec to a policy
    streams.py       the keyed random streams
    luck.py          what of a result the dice did
    playouts.py      the one game loop
    trajectories.py  how the lead goes in a game
    simulate.py      matchup -> batches -> workers -> results
    workers.py       threads, processes or a cluster
    checkpoints.py   what a killed run goes on from
    results.py       the results table
    trace.py         one game as a transcript; scripted play
    positions.py     every position of a small game, through its rules functions
    exact.py         values of a small game, of fixed policies, of the best reply
    study.py         many matchups from a TOML file, nothing played twice
    jit.py           how everything is compiled and cached
    digest.py        what a policy does, as text to hash
    files.py         folders that can be written, files written as a whole
    errors.py        bad input
"""

from sims.errors import InputError
from sims.policy import Policy, policy
from sims.rulesets import RULESETS
from sims.simulate import IllegalAction, simulate
from sims.trace import trace

__all__ = ["RULESETS", "IllegalAction", "InputError", "Policy", "policy", "simulate", "trace"]
