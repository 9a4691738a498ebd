"""Measure luck adjustment: how many times fewer games it needs, how much longer they take, and the factor net of that.

Plain and adjusted games of the same deals alternate in one process, in processor time; the least of several rounds counts.

    python tests/bench/luck.py --deals 20000
"""

import time

import click
import numpy as np

from sims.simulate import adjusted_shares, deal_shares, set_table

TABLES = (
    ("pig", "standard", "hold_at:20", "hold_at:21"),
    ("pig", "standard", "hold_at:20", "hold_at:25"),
    ("pig", "standard", "hold_at:20", "keep_pace:21"),
    ("dice-fever", "plain", "hold_pot:12", "hold_pot:13"),
    ("dice-fever", "plain", "race:2", "race:3"),
    ("dice-fever", "plain", "race:2", "rule_1"),
    ("dice-fever", "standard", "rule_1", "rule_3"),
    ("dice-fever", "standard", "race:2", "race:2,parade=asap"),
    ("dice-fever", "standard", "race:2,parade=near,risk=near", "race:3,parade=near,risk=near"),
    ("dice-land", "standard", "greedy:3", "cautious:100"),
)
ROUNDS = 3


def measure(name, variant, policies, deals):
    """Return variances of the first policy's win share of a deal, plain and adjusted, and the processor times of both."""
    table, seconds = set_table(name, policies, variant), np.full((ROUNDS, 2), np.inf)
    for play in (deal_shares, adjusted_shares):
        play(table, 1, 0, 1, 1)  # compiles
    for row in seconds:
        for kind, play in enumerate((deal_shares, adjusted_shares)):
            started = time.process_time()
            played = play(table, 1, 0, deals, 1)
            row[kind] = time.process_time() - started
    return played.shares[:, 0].var(), played.adjusted[:, 0].var(), *seconds.min(axis=0), table.luck_pays


@click.command()
@click.option("--deals", type=click.IntRange(2), default=5_000, show_default=True)
@click.argument("rulesets", nargs=-1)
def main(deals, rulesets):
    """Print a line per matchup, of all rulesets or some."""
    click.echo("ruleset variant policies: variance plain, adjusted; times fewer games; cost; net; is it switched on?")
    for name, variant, *policies in TABLES:
        if not rulesets or name in rulesets:
            plain, adjusted, fast, slow, pays = measure(name, variant, policies, deals)
            factor, cost = plain / adjusted, slow / fast
            numbers = f"{plain:.4f} {adjusted:.6f}  x{factor:.1f}  cost {cost:.1f}  net x{factor / cost:.1f}  {pays}"
            click.echo(f"{name} {variant} {' v '.join(policies)}: {numbers}")


if __name__ == "__main__":
    main()
