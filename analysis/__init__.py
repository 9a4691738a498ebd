"""Reads result tables: estimates with intervals, figures, tables, the report. Knows nothing of game rules.

intervals.py   arrays in, arrays out
estimates.py   results -> one row per estimate
ratings.py     win shares -> a rating per policy
metagame.py    payoffs -> cycles, maximal lottery, alpha-rank
figures.py     one function per figure: estimates -> Axes
tables.py      estimates -> display tables
ranking.py     a round robin of policies, who is better, ratings, metagame
best_arm.py    the best policy, with few games
chapters/      what the report says of each game
evaluation.py  exact win rates and regret as estimates
report.py      everything -> one self-contained HTML file
cli.py         the command ``dicelab``
"""
