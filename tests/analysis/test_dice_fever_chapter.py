"""The chapter on Dice Fever: what it says of more than two players is what the games say."""

import re

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from analysis.chapters import dice_fever
from sims import simulate
from sims.jit import INTERPRETED


def test_verdicts():
    rows = pd.DataFrame({"seats": [2, 3, 4, 5], "low": [1.01, 0.9, 0.8, 1.001], "high": [1.1, 1.1, 0.99, 1.2]})
    assert dice_fever._verdicts(rows) == {"more": "2, 5", "less": "4", "unsettled": "3"}


@pytest.mark.slow
@pytest.mark.skipif(INTERPRETED, reason="plays thousands of games")
def test_with_more_than_two_players():
    tables = [(policy, *["rule_3"] * (seats - 1)) for policy in ("rule_3", "hold_dice:3") for seats in (2, 4)]
    results = pd.concat([simulate("dice-fever", specs, 4000, 3, "plain").assign(group="many") for specs in tables])
    drawn, found, words = dice_fever._with_more(results)
    shares = found["more_than_two"].set_index(["policy", "seats"])
    assert (shares.loc["rule_3"].estimate == 1).all()  # among copies of itself a policy has its share
    assert shares.loc[("hold_dice:3", 4), "n"] == 1000
    assert (shares.loc["hold_dice:3"].high < 1).all()
    kept = {each["policy"]: each for each in words["many_kept"]}
    assert (kept["hold_dice:3"]["more"], kept["hold_dice:3"]["less"]) == ("", "2, 4")
    assert [(each["seats"], each["policies"]) for each in words["many_orders"]] == [
        (n, ["rule_3", "hold_dice:3"]) for n in (2, 4)
    ]
    (field,) = words["many"]
    assert (field["others"], [len(rows) for rows in field["rows"]]) == ("rule_3", [2, 2])
    (ax,) = drawn["many"].axes
    assert ax.get_title() == "others play rule_3"
    labels = [text.get_text() for text in drawn["many"].legends[0].get_texts()]
    assert [re.split(r"[:,]", label)[0] for label in labels] == ["rule_3", "hold_dice"]
    plt.close(drawn["many"])
