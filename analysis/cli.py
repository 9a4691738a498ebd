"""The command ``dicelab``. Output on stdout is data only; what goes wrong is one line on stderr and exit status 2.

Nothing but click is imported here before a command runs: the packages load numba and pandas, and help should not wait.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
variant_option = click.option("--variant", default="standard", show_default=True, help="A preset of the ruleset.")
set_option = click.option("--set", "settings", multiple=True, metavar="FIELD=VALUE", help="Change one field of the variant.")


def full_variant(variant: str, settings: tuple[str, ...]) -> str:
    """Join a preset and the ``--set`` options to one variant."""
    return ",".join([variant, *settings])


def print_json(data: Any) -> None:
    """Print an object as JSON."""
    click.echo(json.dumps(data, indent=2, allow_nan=False))


def say(data: dict[str, Any], text: str, as_json: bool) -> None:
    """Print a result, as JSON or as text."""
    if as_json:
        print_json(data)
    else:
        click.echo(text)


def _ruleset_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the rulesets that a word on the command line may become, for the shell's completion."""
    from sims.rulesets import RULESETS

    return [name for name in RULESETS if name.startswith(incomplete)]


def _policy_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the policies of the ruleset before it that a word may become, for the shell's completion."""
    from sims.rulesets import RULESETS

    ruleset = RULESETS.get(ctx.params.get("ruleset") or "")
    return [] if ruleset is None else [name for name in ruleset.policies if name.startswith(incomplete)]


ruleset_argument = click.argument("ruleset", shell_complete=_ruleset_names)
policy_argument = click.argument("policy", shell_complete=_policy_names)
policies_argument = click.argument("policies", nargs=-1, required=True, shell_complete=_policy_names)


def _checked_jobs(ctx: click.Context, param: click.Parameter, jobs: int) -> int:
    """Refuse a number of workers that is none."""
    if jobs == 0:
        raise click.UsageError("jobs must not be 0; choose a number of workers, or -1 for all cores")
    return jobs


param_option = click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUES",
    help="A parameter's values, LOW:HIGH:STEP or A,B,C. Repeat for a grid.",
)
against_option = click.option(
    "--against",
    multiple=True,
    metavar="POLICY",
    shell_complete=_policy_names,
    help="The other seats: one policy for all, or repeat. [default: POLICY as given]",
)
level_option = click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals, between 0 and 1.")
jobs_option = click.option(
    "--jobs", type=int, default=-1, show_default=True, callback=_checked_jobs, help="Workers; -1 for all cores."
)
out_option = click.option(
    "--out",
    type=click.Path(),
    metavar="DIR",
    help="Keep what is played here: a run that was stopped, even killed, goes on from there.",
)
batch_option = click.option(
    "--batch",
    type=click.IntRange(1),
    help="Games at a time; fewer if they take long: checkpoints count in batches. [default: 10000]",
)
engine_option = click.option(
    "--engine", default="threads", show_default=True, metavar="threads|processes|dask", help="What the workers are."
)
scheduler_option = click.option("--scheduler", metavar="ADDRESS", help="Of the Dask cluster, for --engine dask.")


class Numbers(click.ParamType):
    """Whole numbers joined by commas: ``1,4,5``; exactly `count` of them, if it is given."""

    name = "values"

    def __init__(self, example: str, count: int | None = None) -> None:
        self.example, self.count = example, count

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        """Turn the text into a tuple of whole numbers."""
        try:
            numbers = tuple(int(part) for part in value.split(","))
        except ValueError:
            numbers = ()
        if not numbers or self.count not in (None, len(numbers)):
            self.fail(f"{value!r} is not a list of values such as {self.example}", param, ctx)
        return numbers


class Commands(click.Group):
    """The commands; an unknown one is refused with the valid ones."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command that the arguments name."""
        if self.get_command(ctx, args[0]) is None:
            from sims.errors import choose

            choose(args[0], self.list_commands(ctx), "command")
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dicelab")
def cli() -> None:
    """Monte Carlo strategy analysis for dice games, and exact advice on when to say STOP."""


@cli.command("list", epilog="Example: dicelab list --json")
@json_option
def list_command(as_json: bool) -> None:
    """List the rulesets: seats, variants, fields, policies."""
    from sims.policy import installed_policies
    from sims.rulesets import RULESETS

    plug_ins = installed_policies()
    data: dict[str, Any] = {
        "rulesets": [
            {
                "name": r.name,
                "title": r.title,
                "version": r.version,
                "seats": list(r.seats),
                "variants": list(r.presets),
                "fields": {name: f.format(f.default) for name, f in r.fields.items()},
                "policies": list(r.policies),
                "settings": list(r.named_policies),
            }
            for r in RULESETS.values()
        ],
        "installed_policies": plug_ins,
    }
    if as_json:
        print_json(data)
        return
    for r in data["rulesets"]:
        seats = " to ".join(map(str, dict.fromkeys(r["seats"])))
        click.echo(f"{r['name']} (version {r['version']}): {seats} seats")
        click.echo(f"  variants  {', '.join(r['variants'])}")
        click.echo(f"  policies  {', '.join(r['policies'])}")
        click.echo(f"  settings  {'  '.join(r['settings'])}")
        click.echo("  fields    " + "  ".join(f"{name}={value}" for name, value in r["fields"].items()))
    for name, status in plug_ins.items():
        click.echo(f"installed policy {name}: {status}")


@cli.command("trace", epilog="Example: dicelab trace dice-fever hold_dice:3 race:2 --seed 7 --deal 3 --rotation 1")
@ruleset_argument
@policies_argument
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--deal", type=click.IntRange(0), default=0, show_default=True)
@click.option("--rotation", type=click.IntRange(0), default=0, show_default=True)
@variant_option
@set_option
@click.option("--interpreted", is_flag=True, help="Do not compile the policies.")
@json_option
def trace_command(
    ruleset: str,
    policies: tuple[str, ...],
    seed: int,
    deal: int,
    rotation: int,
    variant: str,
    settings: tuple[str, ...],
    interpreted: bool,
    as_json: bool,
) -> None:
    """Print one game of a run as a readable transcript."""
    from sims.trace import trace

    text = trace(ruleset, policies, seed, deal, rotation, full_variant(variant, settings), interpreted)
    if as_json:
        print_json({"ruleset": ruleset, "seed": seed, "deal": deal, "rotation": rotation, "lines": text.splitlines()})
    else:
        click.echo(text, nl=False)


@cli.command("stop", epilog="Example: dicelab stop --track 1,4,5 --shields 1 --scores 40,52")
@click.option("--track", type=Numbers("1,4,5"), metavar="1,4,5", help="The values laid (needed unless --interactive).")
@click.option("--shields", type=int, default=0, show_default=True, help="PARADE cards committed and not used.")
@click.option("--bonus", default="none", show_default=True, help="What the BONUS die did: its face, or FACE-used.")
@click.option("--tripled", type=int, default=0, help="The value that counts triple (with --bonus x3-used).")
@click.option("--double-score", is_flag=True, help="The RISK die shows Score x2.")
@click.option("--scores", type=Numbers("40,52", 2), metavar="MINE,THEIRS", help="Advise to win this game between two.")
@click.option(
    "--cards",
    type=Numbers("2,1", 2),
    metavar="P,R",
    help="PARADE and RISK cards left in my hand. [default: all but those that this turn must have used]",
)
@click.option(
    "--their-cards",
    type=Numbers("3,2", 2),
    metavar="P,R",
    help="PARADE and RISK cards left in theirs. [default: all, less a RISK card with --relance]",
)
@click.option("--seat", type=int, default=1, show_default=True, help="1 if I start the rounds, 2 if they do.")
@click.option("--last-turn", is_flag=True, help="They have validated: this is my last turn (seat 2).")
@click.option("--relance", is_flag=True, help="They hold a Relance against this turn.")
@click.option("--my-relance", is_flag=True, help="My RISK die has shown Relance in this turn.")
@click.option("--interactive", is_flag=True, help="Follow a game between two at the table, with advice and undo.")
@variant_option
@set_option
@json_option
@click.pass_context
def stop_command(
    ctx: click.Context, interactive: bool, variant: str, settings: tuple[str, ...], as_json: bool, **position: Any
) -> None:
    """Say STOP or THROW in Dice Fever, exactly: for the most points of this turn, or with --scores to win."""
    given = [name for name in position if ctx.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE]
    _check_stop_options(interactive, position, given)
    from analysis import advice

    name = full_variant(variant, settings)
    if interactive:
        from analysis.at_table import follow_game

        data, text = follow_game(name)
    elif position["scores"] is None:
        data, text = advice.for_points(name, **{key: position[key] for key in TURN_OPTIONS})
    else:
        data, text = advice.to_win(name, **position)
    say(data, text, as_json)


TURN_OPTIONS = ("track", "shields", "bonus", "tripled", "double_score")


def _check_stop_options(interactive: bool, position: dict[str, Any], given: list[str]) -> None:
    """Refuse options of ``stop`` that do not go together."""
    if interactive and given:
        raise click.UsageError(f"{_flag(given[0])} does not go with --interactive, which takes --variant, --set and --json")
    if not interactive and position["track"] is None:
        raise click.UsageError("Missing option '--track' (or '--interactive').")
    lonely = [name for name in given if name not in TURN_OPTIONS]
    if lonely and position["scores"] is None:
        raise click.UsageError(f"{_flag(lonely[0])} needs --scores MINE,THEIRS: advice for points does not depend on it")


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


@cli.command("solve", epilog="Example: dicelab solve pig --set goal=50")
@ruleset_argument
@variant_option
@set_option
@json_option
def solve_command(ruleset: str, variant: str, settings: tuple[str, ...], as_json: bool) -> None:
    """Solve a game of two seats: the first seat's win probability when both play best, exactly."""
    from sims.exact import solve
    from sims.simulate import find_ruleset

    game = find_ruleset(ruleset)
    rules = game.variant(full_variant(variant, settings))
    solution = solve(game, rules) if game.solver is None else game.solver(game, rules)
    if as_json:
        path = None if solution.path is None else str(solution.path)
        head = {"ruleset": game.name, "version": game.version, "variant": rules.name}
        value = {"first_seat_win": solution.first_seat_win, "states": solution.states, "seconds": solution.seconds}
        print_json({**head, **value, "path": path})
        return
    click.echo(f"first seat wins {solution.first_seat_win:.6f}  (exact, both play best; {game.name} {rules.name})")
    click.echo(f"{solution.states:,} positions with a decision, in {solution.seconds:.1f} s")
    if solution.path is not None:
        click.echo(f"kept in {solution.path}")


@cli.command("evaluate", epilog="Example: dicelab evaluate dice-fever race:2 hold_pot:7")
@ruleset_argument
@policies_argument
@variant_option
@set_option
@json_option
def evaluate_command(ruleset: str, policies: tuple[str, ...], variant: str, settings: tuple[str, ...], as_json: bool) -> None:
    """Print how often POLICIES, one per seat, win against each other in every rotation: exactly, for games small enough."""
    from analysis.evaluation import win_rates

    data, text = win_rates(ruleset, policies, full_variant(variant, settings))
    say(data, text, as_json)


@cli.command("regret", epilog="Example: dicelab regret dice-fever uniform --games 10000 --seed 7")
@ruleset_argument
@policy_argument
@click.option("--games", type=click.IntRange(1), help="Estimate it from so many games, for any policy. [default: exactly]")
@click.option("--seed", type=click.IntRange(0), help="Of the games. [default: 0]")
@variant_option
@set_option
@json_option
def regret_command(
    ruleset: str,
    policy: str,
    games: int | None,
    seed: int | None,
    variant: str,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print what POLICY gives away against best play: by kind of decision, and where it loses most."""
    from analysis.evaluation import regret

    if seed is not None and games is None:
        raise click.UsageError("--seed needs --games: without them regret is exact")
    data, text = regret(ruleset, policy, full_variant(variant, settings), games, seed or 0)
    say(data, text, as_json)


@cli.command("rules", epilog="Example: dicelab rules --variant plain --lines 1,3")
@click.option(
    "--lines", type=Numbers("1,3,7"), default="1,3,7", show_default=True, metavar="N,...", help="How many at most, 1 to 9."
)
@variant_option
@set_option
@json_option
def rules_command(lines: tuple[int, ...], variant: str, settings: tuple[str, ...], as_json: bool) -> None:
    """Search the best rules for Dice Fever that fit on a card: their lines, the policy, and what it gives away, exactly.

    Between two, against best play; the costs are remembered, so that a search that was stopped goes on. `standard` takes an hour
    or more, a small game a minute.
    """
    from analysis.evaluation import rules

    say(*rules(full_variant(variant, settings), lines), as_json)


def heading(table: Any) -> dict[str, Any]:
    """Return what the first row of results or estimates says of the games played."""
    keys = ("ruleset", "version", "variant", "seed", "games", "truncated")
    return {key: value.item() if hasattr(value := table[key].iloc[0], "item") else value for key in keys}


@cli.command("simulate", epilog="Example: dicelab simulate dice-fever hold_dice:3 race:2 --games 1000000 --seed 7 --json")
@ruleset_argument
@policies_argument
@click.option("--games", type=click.IntRange(1), default=100_000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@jobs_option
@variant_option
@set_option
@out_option
@batch_option
@engine_option
@scheduler_option
@click.option("--rows", type=click.Path(), help="Stream raw rows to parquet files in this empty folder.")
@level_option
@click.option("--interpreted", is_flag=True, help="Do not compile the policies (slow, same games).")
@click.option("--luck", is_flag=True, help="Play the games once more, and adjust win rates for luck too.")
@json_option
def simulate_command(
    ruleset: str,
    policies: tuple[str, ...],
    games: int,
    seed: int,
    jobs: int,
    variant: str,
    settings: tuple[str, ...],
    out: str | None,
    batch: int | None,
    engine: str,
    scheduler: str | None,
    rows: str | None,
    level: float,
    interpreted: bool,
    luck: bool,
    as_json: bool,
) -> None:
    """Play POLICIES against each other, one per seat, in every rotation, and print estimates with intervals."""
    from pandas import concat

    from analysis.estimates import ROW, estimates
    from analysis.intervals import check_level
    from analysis.luck import luck_adjusted
    from analysis.tables import records, text_table
    from sims.simulate import simulate
    from sims.workers import workers

    check_level(level)
    options: dict[str, Any] = {"rows": False if rows is None else rows, "interpreted": interpreted, "out": out, "batch": batch}
    rules = full_variant(variant, settings)
    with workers(engine, scheduler):
        adjusted = luck_adjusted(ruleset, policies, games, seed, rules, jobs, level, interpreted) if luck else None
        results = simulate(ruleset, policies, games, seed, rules, jobs, **options)
    table = estimates(results, level)
    head = heading(results)
    if adjusted is not None:
        table = concat([table[ROW], adjusted[adjusted.quantity != "win_rate"]], ignore_index=True)
    if as_json:
        print_json({**head, "estimates": records(table)})
    else:
        click.echo("  ".join(f"{key} {value}" for key, value in head.items()))
        click.echo(text_table(table))


@cli.command("compare", epilog="Example: dicelab compare pig hold_at:20 hold_at:25 --margin 0.01")
@ruleset_argument
@click.argument("a", shell_complete=_policy_names)
@click.argument("b", shell_complete=_policy_names)
@click.option(
    "--against",
    multiple=True,
    shell_complete=_policy_names,
    metavar="C",
    help="Another one at the table, of A and then of B; once for each.",
)
@click.option("--margin", type=float, default=0.005, show_default=True, help="Smaller differences of win shares do not matter.")
@click.option("--until", type=float, metavar="W", help="Play on until the interval is the estimate -W to +W, or narrower.")
@click.option("--budget", type=click.IntRange(1), default=10_000_000, show_default=True, help="Games at most.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@jobs_option
@variant_option
@set_option
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals; 1 - the chance of a wrong verdict.")
@click.option("--luck", is_flag=True, help="Adjust win shares for luck: fewer games, where exact values are known.")
@click.option("--interpreted", is_flag=True, help="Do not compile the policies (slow, same games).")
@json_option
def compare_command(
    ruleset: str, a: str, b: str, jobs: int, variant: str, settings: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """Say whether A is better than B: both play the same deals, until it is known or the budget is spent.

    Without --against they meet each other, two at a table. The verdict is a_better, b_better, equivalent (within the margin),
    budget_spent or interrupted; its intervals (method anytime) hold however often one looks, with --luck too.
    """
    from analysis.comparisons import compare, described

    found = compare(ruleset, a, b, variant=full_variant(variant, settings), n_jobs=jobs, **options)
    say(*described(found), as_json)


@cli.command("rank", epilog="Example: dicelab rank dice-fever --all --games 20000 --seed 7")
@ruleset_argument
@click.argument("policies", nargs=-1, shell_complete=_policy_names)
@click.option("--all", "every", is_flag=True, help="Rank all settings of the ruleset that `dicelab list` shows.")
@click.option("--games", type=click.IntRange(1), help="Per matchup. [default: 20000]")
@click.option("--seats", type=int, default=2, show_default=True, help="At every table.")
@click.option("--budget", type=click.IntRange(1), help="Look for the best policy only, with so many games in all.")
@click.option("--field", multiple=True, metavar="POLICY", help="Whom they play, with --budget. [default: each other]")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@jobs_option
@variant_option
@set_option
@level_option
@out_option
@engine_option
@scheduler_option
@json_option
def rank_command(
    ruleset: str,
    policies: tuple[str, ...],
    every: bool,
    games: int | None,
    seats: int,
    budget: int | None,
    field: tuple[str, ...],
    seed: int,
    jobs: int,
    variant: str,
    settings: tuple[str, ...],
    level: float,
    out: str | None,
    engine: str,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Rank POLICIES by a round robin: win rates, ratings, cycles, the best mixture. With --budget: find the best of them."""
    from analysis import best_arm, ranking
    from sims.simulate import find_ruleset
    from sims.workers import workers

    game = find_ruleset(ruleset)
    named = game.named_policies if every else ()
    if not policies and not every:
        raise click.UsageError("Missing argument 'POLICIES...' (or '--all').")
    if budget is None and field:
        raise click.UsageError("--field needs --budget: in a round robin all play each other")
    if budget is not None and (games is not None or out is not None):
        raise click.UsageError(f"{'--games' if games is not None else '--out'} does not go with --budget")
    entrants = list(dict.fromkeys([*named, *policies]))
    rules = full_variant(variant, settings)
    with workers(engine, scheduler):
        if budget is None:
            found = ranking.rank(game, entrants, games or ranking.GAMES, seats, seed, rules, level, jobs, out)
            say(found.data(), ranking.text(found), as_json)
        else:
            best = best_arm.best_arm(game, entrants, budget, seats, seed, rules, level, jobs, field or None)
            say(best.data(), best_arm.text(best), as_json)


@cli.command("sweep", epilog="Example: dicelab sweep pig hold_at --param at=15:30:1 --against hold_at:20")
@ruleset_argument
@policy_argument
@param_option
@click.option("--field", "fields", multiple=True, metavar="NAME=VALUES", help="Values of a field of the rules, in the same way.")
@against_option
@click.option("--games", type=click.IntRange(1), default=20_000, show_default=True, help="At each point.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@jobs_option
@variant_option
@set_option
@level_option
@out_option
@engine_option
@scheduler_option
@json_option
def sweep_command(
    ruleset: str,
    policy: str,
    params: tuple[str, ...],
    fields: tuple[str, ...],
    against: tuple[str, ...],
    games: int,
    seed: int,
    jobs: int,
    variant: str,
    settings: tuple[str, ...],
    level: float,
    out: str | None,
    engine: str,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Play POLICY over a grid of its parameters and of rule fields, the same deals at every point; print curves with bands."""
    from analysis.estimates import ROW
    from analysis.sweeps import BAND, read_settings, sweep
    from analysis.tables import records, text_table
    from sims.workers import workers

    swept, changed = read_settings(params, "--param"), read_settings(fields, "--field")
    rules, keys = full_variant(variant, settings), [*swept, *changed]
    with workers(engine, scheduler):
        table = sweep(ruleset, policy, swept, changed, against, games, seed, rules, level, jobs, out)
    points = table[table.quantity == table.quantity.iloc[0]]
    head = {
        **_played(points, seed),
        "games": int(points.games.sum()),
        "truncated": int(points.truncated.sum()),
        "points": len(points),
    }
    data = {**head, "swept": keys, "estimates": records(table, [*keys, *PER_POINT, *ROW, *BAND])}
    say(data, "\n".join([_line(head), text_table(table, keys)]), as_json)


PER_POINT = ("variant", "games", "truncated")


def _played(estimates: Any, seed: int) -> dict[str, Any]:
    """Return what is the same at all points of a grid."""
    first = estimates.iloc[0]
    return {"ruleset": first.ruleset, "version": first.version, "against": first.matchup.split(" v ")[1:], "seed": seed}


def _line(head: dict[str, Any]) -> str:
    return "  ".join(f"{key} {', '.join(value) if isinstance(value, list) else value}" for key, value in head.items())


@cli.command("tune", epilog="Example: dicelab tune pig hold_at --param at=10:40:1 --against hold_at:20")
@ruleset_argument
@policy_argument
@param_option
@against_option
@click.option("--budget", type=click.IntRange(1), default=1_000_000, show_default=True, help="Games at most, in all.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@jobs_option
@variant_option
@set_option
@level_option
@json_option
def tune_command(
    ruleset: str,
    policy: str,
    params: tuple[str, ...],
    against: tuple[str, ...],
    budget: int,
    seed: int,
    jobs: int,
    variant: str,
    settings: tuple[str, ...],
    level: float,
    as_json: bool,
) -> None:
    """Find the best parameters of POLICY on a grid, and confirm them on a fresh seed.

    Up to three parameters the grid is halved again and again; with more it is searched. The last eight play again on the fresh
    seed: simple_regret says how far the best of them is above the winner.
    """
    from analysis.estimates import ROW
    from analysis.sweeps import BAND, read_settings
    from analysis.tables import records, text_table
    from analysis.tuning import tune

    swept, rules = read_settings(params, "--param"), full_variant(variant, settings)
    found = tune(ruleset, policy, swept, against, budget, seed, rules, level, jobs)
    head = {**_played(found.estimates, seed), "fresh_seed": int(found.estimates.seed.iloc[0])}
    head |= {"games": found.games, "truncated": found.truncated, "points": found.tried, "winner": found.winner}
    keys = list(swept)
    data = {**head, "swept": keys, "estimates": records(found.estimates, [*keys, *PER_POINT, *ROW, *BAND[:2]])}
    data |= {"search": records(found.search, [*keys, "round", *PER_POINT, *ROW])}
    say(data, "\n".join([_line(head), text_table(found.estimates, keys)]), as_json)


@cli.command("balance", epilog="Example: dicelab balance dice-land --games 5000 --seed 7")
@ruleset_argument
@click.option("--policies", multiple=True, metavar="SPEC", help="Whose games are watched: one for all seats, or one per seat.")
@click.option("--seats", type=int, help="[default: as few as the game has]")
@click.option("--sensitivity", is_flag=True, help="Instead: do the conclusions hold whatever the rules leave open?")
@click.option("--games", type=click.IntRange(1), default=20_000, show_default=True, help="Of each matchup.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@jobs_option
@variant_option
@set_option
@level_option
@json_option
def balance_command(
    ruleset: str,
    policies: tuple[str, ...],
    seats: int | None,
    sensitivity: bool,
    games: int,
    seed: int,
    jobs: int,
    variant: str,
    settings: tuple[str, ...],
    level: float,
    as_json: bool,
) -> None:
    """Print the scorecard of RULESET: seats, draws, length, how the lead goes, decisions, skill, luck, what cards are worth.

    The formula and the source of every line are in analysis/README.md.
    """
    from analysis import balance
    from analysis.estimates import ROW
    from analysis.tables import records, text_table

    function = balance.sensitivity if sensitivity else balance.balance
    more = ["what", "field", "value", "verdict"] if sensitivity else ["what"]
    table = function(ruleset, policies, full_variant(variant, settings), seats, games=games, seed=seed, level=level, n_jobs=jobs)
    head = heading(table)
    if as_json:
        print_json({**head, "estimates": records(table, ["variant", "matchup", "games", "truncated", *more, *ROW])})
    else:
        click.echo("  ".join(f"{key} {value}" for key, value in head.items()))
        click.echo(balance.sensitivity_text(table) if sensitivity else text_table(table, more=more))


@cli.command("scorecard", epilog="Example: dicelab scorecard --games 10000 --seed 2026")
@click.option("--games", type=click.IntRange(1), default=10_000, show_default=True, help="Of each matchup.")
@click.option("--seed", type=click.IntRange(0), default=2026, show_default=True)
@jobs_option
@click.option("--reports", "folder", type=click.Path(path_type=Path), default="reports", show_default=True)
@json_option
def scorecard_command(games: int, seed: int, jobs: int, folder: Path, as_json: bool) -> None:
    """Measure the balance of all games anew, for the report's front page and the README: minutes."""
    from analysis.estimates import ROW
    from analysis.scorecard import TABLE, headlines, publish
    from analysis.tables import records

    balances = publish(folder, games, seed, jobs)
    rows = records(balances, ["ruleset", "version", "variant", "matchup", "games", "truncated", "what", *ROW])
    say({"table": str(folder / TABLE), "seed": seed, "estimates": rows}, headlines(balances), as_json)


@cli.command("report", epilog="Example: dicelab report --games 20000 --jobs 2")
@click.option("--games", type=click.IntRange(1), help="Games per matchup, instead of the study's own number.")
@click.option("--seed", type=click.IntRange(0), help="Instead of the study's own seed.")
@jobs_option
@click.option("--reports", "folder", type=click.Path(path_type=Path), default="reports", show_default=True)
@json_option
def report_command(games: int | None, seed: int | None, jobs: int, folder: Path, as_json: bool) -> None:
    """Play the studies that are not up to date, and write the report: the pages in reports/build."""
    from analysis.report import write_report

    page = write_report(folder, games, seed, jobs)
    say({"report": str(page)}, str(page), as_json)


def main(args: list[str] | None = None) -> None:
    """Run a command and exit: 0, 2 for bad input, 1 for a policy that broke the rules or a lost cluster, 130 after Ctrl-C."""
    try:
        cli.main(args=args, standalone_mode=False, prog_name="dicelab")
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help())
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted", 130)
    except BrokenPipeError:  # `dicelab ... | head` ends without a traceback
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except (ValueError, RuntimeError) as error:
        from sims import IllegalAction, InputError
        from sims.workers import LostBatch

        if not isinstance(error, (InputError, IllegalAction, LostBatch)):
            raise
        _fail(str(error), 2 if isinstance(error, InputError) else 1)


def _fail(message: str, status: int) -> None:
    click.echo("dicelab: " + " ".join(message.split()), err=True)
    sys.exit(status)
