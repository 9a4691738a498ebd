"""Reads result tables: estimates with intervals, figures, tables, the report. Knows nothing of game rules.

intervals.py    arrays in, arrays out
estimates.py    results -> one row per estimate
ratings.py      win shares -> a rating per policy
metagame.py     payoffs -> cycles, maximal lottery, alpha-rank
figures.py      one function per figure: estimates -> Axes
tables.py       estimates -> display tables
ranking.py      a round robin of policies, who is better, ratings, metagame
halving.py      the best of several arms, dropping the worse half again and again
best_arm.py     the best policy, with few games
sweeps.py       parameters and rule fields over a grid, on common deals
tuning.py       the best parameters of a policy
chapters/       what the report says of each game
balance.py      the scorecard of a game, and which conclusions hold whatever the rules leave open
scorecard.py    the balance of all games, published
luck.py         win rates adjusted for luck
evaluation.py   exact win rates and regret as estimates
comparisons.py  is A better than B, by a test that may stop at any time
sequential.py   intervals that hold however often one looks
report.py       everything -> the pages of the report
cli.py          the command ``dicelab``
"""
