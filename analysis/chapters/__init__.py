"""The chapters of the report, in the order of the page: what it has to say of each game.

A chapter is a module with

    TITLE                                   the question that it answers
    check(study)                            raises InputError if the study's results would not do, before anything is played
    ahead()                                 if it has one: calls without arguments that take long and keep on disk what they
                                            find; they are made in other processes before its content is wanted
    content(study, results, games, seed)    returns its figures (Axes or Figure), its tables (DataFrame) and the words and numbers
                                            that its text reads, each as a dictionary; `results` are those of the study's
                                            matchups, of `games` games from `seed`
    PAGES                                   if it has any: by their names, functions that return the words of further pages, which
                                            stand beside the report; their texts are ``reports/templates/<page>.html.j2`` and what
                                            that includes, ``<page>.*``

and two files of its name: the study ``reports/studies/<name>.toml`` and the text ``reports/templates/<name>.html.j2``.
"""

from analysis.chapters import dice_fever, dice_forge, dice_land, dicefest, diceplomacy

CHAPTERS = {
    "dice_fever": dice_fever,
    "dice_land": dice_land,
    "diceplomacy": diceplomacy,
    "dicefest": dicefest,
    "dice_forge": dice_forge,
}
