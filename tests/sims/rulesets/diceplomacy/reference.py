"""Diceplomacy told as a story: an oracle that shares nothing with the rules module.

``play`` is a generator. It yields what it needs, ("roll", seat), ("first",) or ("choose", seat, words), and is sent the die,
the seat or the word. Its table is a plain object with the words of the specification: die, V, D, out, ally, known.
"""

from types import SimpleNamespace


def play(n, variant):
    """Yield the table first, then every question; return the set of winners."""
    table = SimpleNamespace(die=[0] * n, V=[0] * n, D=[0] * n, out=[False] * n, ally=[None] * n, known=[0] * n)
    yield table
    for seat in range(n):
        yield from roll(table, seat)
    p = 0 if variant["first_player"] == "first_seat" else (yield ("first",))
    while True:
        winners = yield from turn(table, p, variant)
        if winners:
            return winners
        p = (p + 1) % n
        while table.out[p]:
            p = (p + 1) % n


def roll(table, seat):
    table.die[seat] = yield ("roll", seat)
    table.known[seat] = 0


def alive(table):
    return [seat for seat, is_out in enumerate(table.out) if not is_out]


def separate(table, seat):
    other = table.ally[seat]
    if other is not None:
        table.ally[seat] = table.ally[other] = None


def side(table, leader):
    return [leader] if table.ally[leader] is None else [leader, table.ally[leader]]


def turn(table, p, variant):
    others = [q for q in alive(table) if q != p]
    words = ["REFORM"]
    if variant["null_treaty"] or any(other is not None for other in table.ally):
        words.append("TREATY")
    words += [f"WAR{q}" for q in others]
    if len(others) >= 3:
        words += [f"PROPOSE{q}" for q in others if q != table.ally[p]]
    word = yield ("choose", p, words)
    if word == "REFORM":
        yield from roll(table, p)
    elif word == "TREATY":
        table.ally = [None] * len(table.ally)
    elif word.startswith("PROPOSE"):
        yield from proposal(table, p, int(word[-1]), variant)
    else:
        return (yield from war(table, p, int(word[-1]), variant))
    return None


def proposal(table, p, q, variant):
    if variant["refused_breaks"]:
        separate(table, p)
    if (yield ("choose", q, ["ACCEPT", "REFUSE"])) == "ACCEPT":
        separate(table, p)
        separate(table, q)
        table.ally[p], table.ally[q] = q, p


def war(table, p, q, variant):
    if table.ally[p] == q:
        separate(table, p)
    A, B = side(table, p), side(table, q)
    if len(B) < len(A):
        yield from help_wanted(table, A, B, variant)
    loser = yield from surrender(A, B, variant)
    surrendered = loser is not None
    if not surrendered:
        loser = B if sum(table.die[seat] for seat in A) > sum(table.die[seat] for seat in B) else A
    winner = B if loser is A else A
    for seat in winner:
        table.V[seat] += 1
    for seat in loser:
        table.D[seat] += 1
        if not surrendered and not variant["loser_rerolls"]:
            table.known[seat] = table.die[seat]
    arrived = [seat for seat in range(len(table.V)) if table.V[seat] >= 3]
    if not arrived or variant["tiebreak_die"] == "after":
        for seat in A + B:
            if seat in winner or surrendered or variant["loser_rerolls"]:
                yield from roll(table, seat)
    if arrived:
        best = min((table.D[seat], -table.die[seat]) for seat in arrived)
        return {seat for seat in arrived if (table.D[seat], -table.die[seat]) == best}
    for seat in loser:
        if table.D[seat] == 3:
            table.out[seat], table.die[seat], table.known[seat] = True, 0, 0
            separate(table, seat)
    if len(alive(table)) <= 3:
        table.ally = [None] * len(table.ally)
    return set(alive(table)) if len(alive(table)) == 1 else None


def help_wanted(table, A, B, variant):
    parties = {frozenset(side(table, seat)) for seat in alive(table)} - {frozenset(A), frozenset(B)}
    parties = sorted(map(sorted, parties))
    joined = 0
    if variant["help_protocol"] == "volunteers" and variant["max_helping_parties"]:
        asked, parties = parties, []
        for party in asked:
            if (yield from agrees(party, party[0], variant)):
                parties.append(party)
    while parties and joined < variant["max_helping_parties"]:
        volunteers = variant["help_protocol"] == "volunteers"
        every_member = variant["helping_pair_consent"] == "asked_one" and not volunteers
        names = sorted(seat for party in parties for seat in (party if every_member else party[:1]))
        word = yield ("choose", B[0], [*(f"ASK{seat}" for seat in names), "ALONE"])
        if word == "ALONE":
            return
        asked = int(word[-1])
        party = next(party for party in parties if asked in party)
        parties.remove(party)
        if volunteers or (yield from agrees(party, asked, variant)):
            B += sorted(party, key=lambda seat: seat != asked)
            joined += 1


def agrees(party, asked, variant):
    answers = []
    for seat in [asked, *(seat for seat in party if seat != asked)]:
        if seat == asked or variant["helping_pair_consent"] == "both":
            answers.append((yield ("choose", seat, ["JOIN", "DECLINE"])))
    return all(answer == "JOIN" for answer in answers)


def surrender(A, B, variant):
    """Return the side that surrenders, or None."""
    order = {"defenders": (B, A), "attackers": (A, B), "none": ()}[variant["surrender_order"]]
    for voters in order:
        votes = []
        for seat in voters:
            votes.append((yield ("choose", seat, ["SURRENDER", "FIGHT"])))
        if all(vote == "SURRENDER" for vote in votes):
            return voters
    return None
