"use strict";
/* What `dicelab stop --scores --json` says of a position, from the data that sims/rulesets/dice_fever/compact.py makes: the same
   questions, answers and complaints by the same names. The game itself is data: the graph of a turn, what it is worth to begin
   one, and which positions there are. Only what no table of a bearable size could say is written here once more: what follows
   the end of a turn (worthOfEnd), which scores and hands go together (check), what a rule on a card reads off them (ruleSays).
   tests/analysis/test_stop_page.py compares all of it with the command. No document is needed here. */

const FIRST = 0, SECOND = 1, LAST = 2; // starts of turns: seat 1, seat 2, seat 2 for the last time
const DECIDES = 0, OWNER_DECIDES = 1; // kinds of nodes; the others are left to chance
const OUT = 0; // the leaf of an OUT
const STOP = 0, THROW = 1; // the actions of a decision, in this order

class InputError extends Error {}

async function inflate(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Return advise(position) for the page's data, both parts compressed and in base64. */
async function openAdviser(packedFacts, packedTable) {
  const facts = JSON.parse(new TextDecoder().decode(await inflate(packedFacts)));
  const winAtStart = readTable(facts, await inflate(packedTable));
  const points = sweep(facts.graph, facts.graph.points);
  return { facts, advise: (asked) => advise(facts, winAtStart, points, asked) };
}

/** Undo compact.pack: return the mover's chance at the start of a turn as a function. */
function readTable(facts, bytes) {
  const size = bytes.length / 2, steps = new Uint16Array(size), blocks = new Map();
  let at = 0;
  for (const [start, token, hand, otherHand, lowRow, lowColumn, rows, columns] of facts.blocks) {
    blocks.set([start, token, hand, otherHand].join(), { at, lowRow, lowColumn, columns });
    for (let row = 0; row < rows; row++) {
      let rise = 0;
      for (const end = at + columns; at < end; at++) {
        const code = bytes[at] + 256 * bytes[at + size];
        rise += code % 2 ? -(code + 1) / 2 : code / 2;
        steps[at] = rise + (row ? steps[at - columns] : 0);
      }
    }
  }
  return (start, token, hand, otherHand, score, otherScore) => {
    const block = blocks.get([start, Number(token), hand, otherHand].join());
    return facts.step * steps[block.at + (otherScore - block.lowRow) * block.columns + score - block.lowColumn];
  };
}

/* --- the graph of a turn --- */

function worthOfAction(graph, values, action) {
  let sum = 0;
  for (let edge = graph.edges[action]; edge < graph.edges[action + 1]; edge++) {
    sum += graph.weights[graph.weight[edge]] * values[graph.child[edge]];
  }
  return sum;
}

/** The action that is worth most, or least where the owner of a Relance token decides; the first of equals. */
function bestAction(graph, values, node) {
  const sign = graph.kinds[node] === OWNER_DECIDES ? -1 : 1;
  let best = graph.rows[node], bestWorth = -Infinity;
  for (let action = best; action < graph.rows[node + 1]; action++) {
    const worth = sign * worthOfAction(graph, values, action);
    if (worth > bestWorth) [best, bestWorth] = [action, worth];
  }
  return best;
}

/** The value of every leaf and node, if the ends of the turn are worth so much. Children come before their parents. */
function sweep(graph, ends) {
  const values = new Float64Array(ends.length + graph.kinds.length);
  values.set(ends);
  for (let node = 0; node < graph.kinds.length; node++) {
    values[ends.length + node] = worthOfAction(graph, values, bestAction(graph, values, node));
  }
  return values;
}

/** The chance that a throw ends the turn OUT before the next decision, a Relance against it played by these values. */
function chanceOfOut(graph, values, thrown) {
  const outs = new Float64Array(values.length);
  outs[OUT] = 1;
  for (let node = 0; node < graph.kinds.length; node++) {
    if (graph.kinds[node] !== DECIDES) {
      outs[graph.points.length + node] = worthOfAction(graph, outs, bestAction(graph, values, node));
    }
  }
  return worthOfAction(graph, outs, thrown);
}

/* --- the game round the turn --- */

/** My chance to win after my turn ended with so many points. */
function worthOfEnd(facts, winAtStart, game, leaf) {
  const { scores: [mine, theirs], seat, last_turn, my_relance } = game;
  const total = mine + facts.graph.points[leaf];
  const isOut = leaf === OUT || lacksSix(facts, total, facts.graph.with_six[leaf]);
  const score = isOut ? mine : total, validated = !isOut && score >= facts.target;
  if (seat === 2) {
    const leads = last_turn && isInTheRunning(facts, theirs);
    if (validated) return !leads || score > theirs ? 1 : score === theirs ? facts.tie : 0;
    if (leads) return 0;
  }
  const next = seat === 2 ? FIRST : validated ? LAST : SECOND;
  return 1 - winAtStart(next, my_relance, handOf(facts, game.their_cards), handOf(facts, game.cards), theirs, score);
}

function lacksSix(facts, total, withSix) {
  return total >= facts.target && !withSix;
}

/** Has a validated player still enough points to win, after a Duel? */
function isInTheRunning(facts, score) {
  return !facts.is_strict || score >= facts.target;
}

function handOf(facts, [parade, risk]) {
  return parade * (facts.counted_risk + 1) + Math.min(risk, facts.counted_risk);
}

/** What a rule that fits on a card says of a STOP worth so many points; see readable.py. */
function ruleSays(facts, rule, game, points, withSix) {
  const [mine, theirs] = game.scores, total = mine + points;
  const toBeat = game.last_turn && theirs >= facts.target ? theirs : 0;
  if (lacksSix(facts, total, withSix) || total < toBeat) return "THROW";
  if (total >= facts.target && ((game.seat === 2 && total > toBeat) || rule.goal)) return "STOP";
  const dice = game.track.reduce((sum, value) => sum + value, 0) + 2 * game.tripled;
  const measure = { worth: dice, points, dice: game.track.length }[rule.by];
  let enough = rule.stop;
  if (rule.relance && game.relance) enough = rule.relance;
  else if (rule.chase && rule.chase <= theirs && mine < theirs) enough = rule.chase_stop;
  else if (rule.lead && mine >= theirs + rule.lead) enough = rule.lead_stop;
  const isEnough = measure >= enough || (rule.dice && game.track.length >= rule.dice);
  return game.shields === 0 && isEnough ? "STOP" : "THROW";
}

/* --- what no game can show --- */

/** Where a position of a turn stands in facts.positions. */
function placeOf(facts, { track, shields, bonus, tripled, double_score }) {
  const mask = track.reduce((bits, value) => bits | (1 << (value - 1)), 0);
  const status = facts.bonuses.findIndex(([name, value]) => name === bonus && value === tripled);
  return ((64 * double_score + mask) * facts.bonuses.length + status) * (facts.cards[0] + 1) + shields;
}

/** Return the cards that can be left in both hands at most. */
function mostCards(facts, asked) {
  const { spent, used_risk } = facts.positions, place = placeOf(facts, asked), [parade, risk] = facts.cards;
  const usedRisk = used_risk[place] || asked.my_relance ? 1 : 0;
  return { cards: [parade - asked.shields - spent[place], risk - usedRisk], their_cards: [parade, risk - asked.relance] };
}

/** Return the position with both hands filled in; throws InputError in the words of adviser.py if no game comes to it. */
function check(facts, asked) {
  const { positions, target, stake, variant } = facts, place = placeOf(facts, asked);
  if (positions.refused[place] >= 0) throw new InputError(positions.messages[positions.refused[place]]);
  if (asked.my_relance && positions.used_risk[place]) {
    throw new InputError("my-relance is impossible here: the RISK card of this turn has shown another face");
  }
  if (asked.last_turn && asked.seat === 1) {
    throw new InputError("last-turn needs seat 2: who starts the rounds plays no turn after a validation");
  }
  const most = mostCards(facts, asked);
  const cards = checkHand("cards", asked.cards, most.cards, "what this turn has used");
  const their_cards = checkHand("their-cards", asked.their_cards, most.their_cards, "the Relance");
  const myDuels = most.cards[1] - cards[1], duels = myDuels + most.their_cards[1] - their_cards[1];
  const low = -stake * duels, high = target - 1 + stake * duels, [mine, theirs] = asked.scores;
  const why = `the target is ${target}` + (stake ? `, and ${duels} Duels may have moved ${stake} each` : "");
  if (mine < low || mine > high) {
    throw new InputError(`my score must be from ${low} to ${high} with these hands (${why}), not ${mine}`);
  }
  if (asked.last_turn) {
    const usedRisk = positions.used_risk[place] || asked.my_relance;
    const least = target - (myDuels && !usedRisk ? stake : 0), top = high + Math.max(...facts.graph.points);
    if (theirs < least) throw new InputError(`their score must be ${least} or more in the last turn, not ${theirs}`);
    checkNode(facts, asked, place);
    if (theirs > top) throw new InputError(`their score must be ${top} or less with these hands, not ${theirs}`);
  } else if (theirs < low || theirs > high) {
    const hint = theirs >= target && asked.seat === 2 ? "; last-turn says that they have validated" : "";
    throw new InputError(`their score must be from ${low} to ${high} with these hands (${why}), not ${theirs}${hint}`);
  }
  checkNode(facts, asked, place);
  return { ...asked, cards, their_cards };
}

function checkHand(name, cards, most, usedBy) {
  if (Math.min(...most) < 0) throw new InputError(`${name}: there are not enough cards for ${usedBy}`);
  if (cards === null) return most;
  if (cards.some((left, kind) => left < 0 || left > most[kind])) {
    throw new InputError(`${name} must be from 0,0 to ${most} (PARADE,RISK; less ${usedBy}), not ${cards}`);
  }
  return cards;
}

function nodeAt(facts, asked, place) {
  return facts.positions[asked.relance ? "node_under_relance" : "node"][place];
}

function checkNode(facts, asked, place) {
  if (nodeAt(facts, asked, place) < 0) {
    const under = asked.relance ? " under a Relance" : "";
    throw new InputError(`no turn${under} of ${facts.variant} comes to this track, bonus and shields`);
  }
}

/* --- the advice --- */

function advise(facts, winAtStart, points, asked) {
  const { graph, positions } = facts, game = check(facts, asked), place = placeOf(facts, game);
  const wins = sweep(graph, graph.points.map((_, leaf) => worthOfEnd(facts, winAtStart, game, leaf)));
  const action = graph.rows[nodeAt(facts, game, place)], pointsAction = graph.rows[positions.node[place]];
  const leaf = graph.child[graph.edges[action + STOP]];
  const [stop, thrown] = [STOP, THROW].map((each) => ({
    points: worthOfAction(graph, points, pointsAction + each),
    win: worthOfAction(graph, wins, action + each),
  }));
  const says = (rule) => ruleSays(facts, rule, game, stop.points, graph.with_six[leaf]);
  return {
    advice: thrown.win > stop.win ? "THROW" : "STOP",
    p_out: chanceOfOut(graph, wins, action + THROW),
    stop: { ...stop, out: lacksSix(facts, game.scores[0] + stop.points, graph.with_six[leaf]) },
    throw: thrown,
    regret: Math.abs(thrown.points - stop.points),
    regret_win: Math.abs(thrown.win - stop.win),
    for_points: thrown.points > stop.points ? "THROW" : "STOP",
    rules: Object.fromEntries(Object.entries(facts.rules).map(([name, rule]) => [name, says(rule)])),
    inputs: game,
  };
}
