import numpy as np
import pytest

from sims import RULESETS, InputError
from sims.ruleset import Field, variant_dtype

PIG, FEVER = RULESETS["pig"], RULESETS["dice-fever"]
EVERY_FIELD = [(ruleset, name) for ruleset in RULESETS.values() for name in ruleset.fields]


def values_of(field):
    """The default, the ends, and every named value of a field."""
    if isinstance(field.default, bool):
        return [False, True]
    if isinstance(field.default, tuple):
        return [field.default, field.choices[:1], field.choices, field.choices[-1:] * Field.MAX_FACES]
    if isinstance(field.default, str):
        return list(field.choices)
    return [field.default, field.low, field.high, *field.named]


@pytest.mark.parametrize("ruleset, name", EVERY_FIELD, ids=lambda x: getattr(x, "name", x))
def test_values_round_trip(ruleset, name):
    field = ruleset.fields[name]
    for value in values_of(field):
        assert field.parse(name, field.format(value)) == value
        variant = ruleset.variant(f"standard,{name}={field.format(value)}")
        assert variant.values[name] == value
        assert variant == ruleset.variant(variant.name) == ruleset.variant({name: value})
        assert variant == ruleset.variant(**{name: value})
        assert (variant.name == "standard") == (value == ruleset.variant().values[name])


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=RULESETS)
def test_values_reach_the_record(ruleset):
    for name, field in ruleset.fields.items():
        codes = set()
        for value in values_of(field):
            state, code = ruleset.new_state(ruleset.seats[0], {name: value}), field.code(value)
            if isinstance(code, list):
                assert state.variant[f"n_{name}"] == len(code)
                assert state.variant[name][: len(code)].tolist() == code
            else:
                assert state.variant[name] == code
            codes.add(str(code))
        assert len(codes) == len(set(values_of(field)))  # different values, different codes


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=RULESETS)
def test_every_preset_round_trips(ruleset):
    assert "standard" in ruleset.presets
    for preset, changes in ruleset.presets.items():
        variant = ruleset.variant(preset)
        assert variant.name == str(variant) == preset
        assert variant == ruleset.variant(variant)
        assert set(variant.values) == set(ruleset.fields)
        assert {name: variant.values[name] for name in changes} == dict(changes)


def test_default_is_standard():
    assert FEVER.variant() == FEVER.variant(None) == FEVER.variant("standard") == FEVER.variant({})


@pytest.mark.parametrize(
    "text, name",
    [
        ("standard,target=76", "standard"),
        ("standard,target=50", "standard,target=50"),
        ("standard, target = 50", "standard,target=50"),
        ("plain,risk_cards=0", "plain"),
        ("plain,risk_cards=2,target=50", "plain,target=50,risk_cards=2"),
        ("standard,risk_cards=1,target=50", "standard,target=50,risk_cards=1"),
        ("standard,bonus_die=FALSE", "standard,bonus_die=false"),
        ("standard,risk_faces=x2/duel", "standard,risk_faces=X2/DUEL"),
        ("standard,duel_stake=difference", "standard,duel_stake=difference"),
        ("standard,duel_stake=5", "standard"),
    ],
)
def test_names_are_canonical(text, name):
    assert FEVER.variant(text).name == name


def test_changes_apply_on_top_of_a_variant():
    variant = FEVER.variant(FEVER.variant("plain,target=50"), target=60, bonus_die=True)
    assert variant.name == "plain,target=60,bonus_die=true"


@pytest.mark.parametrize(
    "variant, parts",
    [
        ("publishd", ["variant of dice-fever", "'publishd'", "standard", "plain", "even_faces"]),
        ("plane", ["'plane'", "did you mean plain?"]),
        ("standard,targt=50", ["variant field of dice-fever", "'targt'", "did you mean target?", "ply_limit"]),
        ("standard,target", ["'target'", "field=value"]),
        ("standard,", ["''", "field=value"]),
        ("standard,target=0", ["target", "from 1 to 1000000", "'0'"]),
        ("standard,target=1000001", ["target", "from 1 to 1000000", "'1000001'"]),
        ("standard,target=many", ["target", "'many'"]),
        ("standard,target=7.5", ["target", "'7.5'"]),
        ("standard,target=", ["target", "''"]),
        ("standard,bonus_die=maybe", ["bonus_die", "'maybe'", "true, false"]),
        ("standard,suite_check=late", ["suite_check", "'late'", "end, immediate"]),
        ("standard,duel_stake=-1", ["duel_stake", "'-1'", "difference", "winner_die"]),
        ("standard,duel_stake=diference", ["duel_stake", "'diference'", "difference"]),
        ("standard,bonus_faces=X3/X4", ["face of bonus_faces", "'X4'", "PLUS5, DOUBLE, X3, SUITE"]),
        ("standard,bonus_faces=", ["bonus_faces", "''"]),
        ("standard,bonus_faces=" + "/".join(["X3"] * 13), ["bonus_faces", "13", "at most 12"]),
        ({"target": None}, ["target", "'None'"]),
        ({"targt": 3}, ["'targt'", "did you mean target?"]),
    ],
)
def test_bad_variants_are_refused(variant, parts):
    with pytest.raises(InputError) as caught:
        FEVER.variant(variant)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("seats", [0, 1, 11])
def test_bad_seats_are_refused(seats):
    with pytest.raises(InputError, match=f"pig is played by 2 to 10 seats, not {seats}"):
        PIG.new_state(seats)


def test_a_game_for_two_says_so():
    with pytest.raises(InputError, match="dice-land is played by 2 seats, not 3"):
        RULESETS["dice-land"].new_state(3)


def test_numbers_come_in_steps():
    field = Field(8, "", low=8, high=36, step=2)
    assert field.parse("hexes", "36") == 36
    for text in ("9", "35"):
        with pytest.raises(InputError, match=f"hexes goes from 8 to 36 in steps of 2; {text} is none of them"):
            field.parse("hexes", text)


def test_variant_dtype_has_a_column_per_field_and_the_number_of_faces():
    fields = {"die": Field(("A", "B", "A"), "", ("A", "B")), "n": Field(3, ""), "flag": Field(True, "")}
    dtype = variant_dtype(fields)
    assert dtype.names == ("die", "n_die", "n", "flag")
    assert dtype["die"].shape == (Field.MAX_FACES,)
    assert dtype["n"] == np.int32
