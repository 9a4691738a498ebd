"""Reads result tables: estimates with intervals, figures, tables, the report. Knows nothing of game rules.

intervals.py   arrays in, arrays out
estimates.py   results -> one row per estimate
figures.py     one function per figure: estimates -> Axes
tables.py      estimates -> display tables
chapters/      what the report says of each game
luck.py        win rates adjusted for luck
evaluation.py  exact win rates and regret as estimates
report.py      everything -> one self-contained HTML file
cli.py         the command ``dicelab``
"""
