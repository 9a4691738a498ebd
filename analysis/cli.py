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


jobs_option = click.option("--jobs", type=int, default=-1, show_default=True, help="Workers; -1 for all cores.")


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


@cli.command("list")
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


@cli.command("trace")
@click.argument("ruleset")
@click.argument("policies", nargs=-1, required=True)
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


@cli.command("stop")
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


@cli.command("solve")
@click.argument("ruleset")
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


@cli.command("evaluate")
@click.argument("ruleset")
@click.argument("policies", nargs=-1, required=True)
@variant_option
@set_option
@json_option
def evaluate_command(ruleset: str, policies: tuple[str, ...], variant: str, settings: tuple[str, ...], as_json: bool) -> None:
    """Print how often POLICIES, one per seat, win against each other in every rotation: exactly, for games small enough."""
    from analysis.evaluation import win_rates

    data, text = win_rates(ruleset, policies, full_variant(variant, settings))
    say(data, text, as_json)


@cli.command("regret")
@click.argument("ruleset")
@click.argument("policy")
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


@cli.command("simulate")
@click.argument("ruleset")
@click.argument("policies", nargs=-1, required=True)
@click.option("--games", type=click.IntRange(1), default=100_000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@jobs_option
@variant_option
@set_option
@click.option("--rows", type=click.Path(), help="Stream raw rows to parquet files in this empty folder.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals, between 0 and 1.")
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

    check_level(level)
    folder, rules = False if rows is None else rows, full_variant(variant, settings)
    adjusted = luck_adjusted(ruleset, policies, games, seed, rules, jobs, level, interpreted) if luck else None
    results = simulate(ruleset, policies, games, seed, rules, jobs, folder, interpreted)
    table = estimates(results, level)
    if adjusted is not None:
        table = concat([table[ROW], adjusted[adjusted.quantity != "win_rate"]], ignore_index=True)
    head: dict[str, Any] = {
        key: value.item() if hasattr(value := results[key].iloc[0], "item") else value
        for key in ("ruleset", "version", "variant", "seed", "games", "truncated")
    }
    if as_json:
        print_json({**head, "estimates": records(table)})
    else:
        click.echo("  ".join(f"{key} {value}" for key, value in head.items()))
        click.echo(text_table(table))


@cli.command("report")
@click.option("--games", type=click.IntRange(1), help="Games per matchup, instead of the study's own number.")
@click.option("--seed", type=click.IntRange(0), help="Instead of the study's own seed.")
@jobs_option
@click.option("--reports", "folder", type=click.Path(path_type=Path), default="reports", show_default=True)
@json_option
def report_command(games: int | None, seed: int | None, jobs: int, folder: Path, as_json: bool) -> None:
    """Play the studies that are not up to date, and write the report: one HTML file in reports/build."""
    from analysis.report import write_report
    from sims import InputError

    if jobs == 0:
        raise InputError("jobs must not be 0; choose a number of workers, or -1 for all cores")
    page = write_report(folder, games, seed, jobs)
    say({"report": str(page)}, str(page), as_json)


def main(args: list[str] | None = None) -> None:
    """Run a command and exit: 0, 2 for bad input, 1 for a policy that broke the rules, 130 after Ctrl-C."""
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

        if not isinstance(error, (InputError, IllegalAction)):
            raise
        _fail(str(error), 2 if isinstance(error, InputError) else 1)


def _fail(message: str, status: int) -> None:
    click.echo("dicelab: " + " ".join(message.split()), err=True)
    sys.exit(status)
