"use strict";
/* The page round the adviser. `asked` is the position as the command's --json gives it under "inputs", a hand that was never
   touched being null (all cards that can be left). Every change goes through ask(), which draws everything anew. */

const START = { track: [1, 4, 5], shields: 0, bonus: "none", tripled: 0, double_score: false, scores: [40, 52], cards: null,
  their_cards: null, seat: 1, last_turn: false, relance: false, my_relance: false };
const FLAGS = ["double_score", "last_turn", "relance", "my_relance"], HANDS = ["cards", "their_cards"];
const NUMBERS = ["shields", "tripled", "seat"], SCORES = ["mine", "theirs"];
const form = document.getElementById("position");
const all = (selector) => [...document.querySelectorAll(selector)];
const range = (n) => [...Array(n).keys()];
const byId = (id) => document.getElementById(id);
let adviser, asked, earlier = [], addressLater;

/* --- the position as text: words of the command line, in the address and to be typed --- */

function words(position) {
  const given = [["track", position.track], ["scores", position.scores]];
  for (const name of ["shields", "bonus", "tripled", "cards", "their_cards", "seat"]) {
    if (String(position[name]) !== String(START[name])) given.push([name, position[name]]);
  }
  const flags = FLAGS.filter((name) => position[name]).map((name) => [name]);
  return [...given, ...flags].map(([name, ...value]) => [name.replaceAll("_", "-"), ...value]);
}

/** The position of an address; what is missing or makes no sense is as at the start. */
function read(hash) {
  const { facts } = adviser, given = new URLSearchParams(hash.slice(1)), position = { ...START };
  const numbers = (name) => (/^-?\d+(,-?\d+)*$/.test(given.get(name)) ? given.get(name).split(",").map(Number) : []);
  if (given.has("track")) position.track = [1, 2, 3, 4, 5, 6].filter((value) => numbers("track").includes(value));
  if (numbers("scores").length === 2) position.scores = numbers("scores");
  for (const name of HANDS) {
    const hand = numbers(name.replaceAll("_", "-"));
    if (hand.length === 2) position[name] = hand;
  }
  for (const name of FLAGS) position[name] = given.has(name.replaceAll("_", "-"));
  if (numbers("shields")[0] >= 0) position.shields = Math.min(numbers("shields")[0], facts.cards[0]);
  if (numbers("seat")[0] === 2) position.seat = 2;
  const status = facts.bonuses.find(([name, value]) => name === given.get("bonus") && value === (numbers("tripled")[0] ?? 0));
  if (status) [position.bonus, position.tripled] = status;
  return position;
}

/* --- changes --- */

/** Ask for another position; undo leads back. */
function ask(position) {
  if (asked) earlier.push(asked);
  asked = position;
  draw();
}

function change(part) {
  const position = { ...asked, ...part };
  if (!position.track.includes(position.tripled) || position.bonus !== "x3-used") position.tripled = 0;
  if (!isPossible(position, "shields") && isPossible({ ...position, bonus: "none" }, "shields")) {
    [position.bonus, position.tripled] = ["none", 0]; // a die was taken away, and with it the BONUS throw
  }
  const most = mostCards(adviser.facts, position);
  for (const name of HANDS) {
    const hand = (position[name] ?? most[name]).map((left, kind) => Math.max(0, Math.min(left, most[name][kind])));
    position[name] = String(hand) === String(most[name]) ? null : hand;
  }
  ask(position);
}

/** Is there such a turn, with some number of shields or some die tripled where these are free? */
function isPossible(position, ...free) {
  const { facts } = adviser;
  const shields = free.includes("shields") ? range(facts.cards[0] + 1) : [position.shields];
  const tripled = position.bonus !== "x3-used" ? [0] : free.includes("tripled") ? range(7) : [position.tripled];
  const ways = shields.flatMap((shields) => tripled.map((tripled) => ({ ...position, shields, tripled })));
  return ways.some((way) => facts.positions.refused[placeOf(facts, way)] < 0);
}

function toggle(value) {
  const { track } = asked;
  change({ track: track.includes(value) ? track.filter((each) => each !== value) : [...track, value].sort() });
}

function setScore(name, score) {
  change({ scores: asked.scores.map((each, i) => (SCORES[i] === name ? score : each)) });
}

function addTo(name, step) {
  setScore(name, asked.scores[SCORES.indexOf(name)] + step);
}

/** Go on to the next possible choice of a group, after the last one to the first. */
function next(name) {
  const radios = all(`input[name="${name}"]`), at = radios.findIndex((radio) => radio.checked);
  const following = [...radios.slice(at + 1), ...radios.slice(0, at)].find((radio) => !radio.disabled);
  if (following) change({ [name]: valueOf(following) });
}

function valueOf(radio) {
  return NUMBERS.includes(radio.name) ? Number(radio.value) : radio.value;
}

function undo() {
  if (!earlier.length) return;
  asked = earlier.pop();
  draw();
}

/* --- drawing --- */

function draw() {
  clearTimeout(addressLater);
  addressLater = setTimeout(writeAddress, 300); // some browsers refuse more than 100 in half a minute
  drawChoices();
  drawHands();
  for (const [i, name] of SCORES.entries()) {
    if (byId(name).valueAsNumber !== asked.scores[i]) byId(name).value = asked.scores[i]; // what is being typed stays as it is
  }
  byId("undo").disabled = !earlier.length;
  const options = words(asked).map(([name, value]) => ` --${name}` + (value === undefined ? "" : ` ${value}`));
  byId("command").textContent = `dicelab stop${options.join("")}`;
  try {
    drawAdvice(adviser.advise(asked));
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    say("unsure", "?", error.message);
    byId("rules").textContent = "";
    byId("details").replaceChildren();
  }
}

function writeAddress() {
  history.replaceState(null, "", "#" + words(asked).map((word) => word.join("=")).join("&"));
}

function drawChoices() {
  for (const die of all("[data-die]")) die.setAttribute("aria-pressed", asked.track.includes(Number(die.dataset.die)));
  for (const name of FLAGS) form.elements[name].checked = asked[name];
  for (const radio of all("#position input[type=radio]")) radio.checked = valueOf(radio) === asked[radio.name];
  const hasBonus = isPossible(asked, "shields", "tripled");
  const isOpen = {
    shields: (shields) => !hasBonus || isPossible({ ...asked, shields }),
    bonus: (bonus) => isPossible({ ...asked, bonus }, "shields", "tripled"),
    tripled: (tripled) => isPossible({ ...asked, tripled }, "shields"),
  };
  for (const [name, test] of Object.entries(isOpen)) {
    for (const radio of all(`input[name="${name}"]`)) radio.disabled = !radio.checked && !test(valueOf(radio));
  }
  byId("bonus").classList.toggle("asks", asked.track.length > 0 && !hasBonus);
  const hasChoice = all('input[name="tripled"]').some((radio) => !radio.checked && !radio.disabled);
  byId("tripled").hidden = asked.bonus !== "x3-used" || !hasChoice;
  form.elements.last_turn.disabled = asked.seat === 1 && !asked.last_turn;
}

function drawHands() {
  const most = mostCards(adviser.facts, asked);
  for (const select of all("[data-hand]")) {
    const { hand, kind } = select.dataset;
    for (const option of select.options) option.disabled = Number(option.value) > most[hand][kind];
    select.value = (asked[hand] ?? most[hand])[kind];
  }
}

function drawAdvice(said) {
  const other = said.advice === "STOP" ? "THROW" : "STOP", lost = 100 * said.regret_win;
  let cost = `${other} would cost ${lost.toFixed(1)} percentage points.`;
  if (lost < 0.05) cost = `A toss-up: ${other} costs next to nothing.`;
  const { inputs: { scores: [mine] }, stop, throw: thrown } = said;
  const why = stop.out ? ` STOP would be OUT: ${mine} + ${stop.points} points reach ${adviser.facts.target} without a 6.` : "";
  say(said.advice.toLowerCase(), said.advice, cost + why);
  for (const [id, { win }] of [["stop", stop], ["throw", thrown]]) {
    byId(id).querySelector("i").style.width = `${100 * win}%`;
    byId(id).querySelector("b").textContent = `${(100 * win).toFixed(1)} %`;
  }
  const saying = (advice) => Object.keys(said.rules).filter((name) => said.rules[name] === advice);
  const sides = ["STOP", "THROW"].filter((advice) => saying(advice).length);
  byId("rules").textContent = sides.map((advice) => `${saying(advice).join(", ")}: ${advice}`).join("; ");
  const forPoints = `${said.for_points}: now ${stop.points}, by throwing ${thrown.points.toFixed(2)} on average`;
  byId("details").replaceChildren(
    row("Chance of OUT on the next throw", `${(100 * said.p_out).toFixed(1)} %`),
    row("For the most points of this turn, the scores apart", forPoints),
  );
}

function say(kind, advice, message) {
  byId("verdict").className = kind;
  byId("advice").textContent = advice;
  byId("message").textContent = message;
}

function row(term, text) {
  const made = (tag, content) => Object.assign(document.createElement(tag), content);
  const group = made("div");
  group.append(made("dt", { textContent: term }), made("dd", { textContent: text }));
  return group;
}

/* --- what the player does --- */

function listen() {
  for (const die of all("[data-die]")) die.addEventListener("click", () => toggle(Number(die.dataset.die)));
  for (const button of all("[data-score]")) {
    button.addEventListener("click", () => addTo(button.dataset.score, Number(button.dataset.step)));
  }
  byId("undo").addEventListener("click", undo);
  byId("reset").addEventListener("click", () => ask(START));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", ({ target }) => {
    if (target.type === "radio") change({ [target.name]: valueOf(target) });
    else if (target.type === "checkbox") change({ [target.name]: target.checked });
    else if (target.dataset.hand) changeHand(target.dataset);
    else if (Number.isInteger(target.valueAsNumber)) setScore(target.id, target.valueAsNumber);
  });
  window.addEventListener("hashchange", () => ask(read(location.hash)));
  window.addEventListener("keydown", press);
}

function changeHand({ hand }) {
  change({ [hand]: all(`[data-hand="${hand}"]`).map((select) => Number(select.value)) });
}

const KEYS = {
  p: () => next("shields"),
  b: () => next("bonus"),
  x: () => change({ double_score: !asked.double_score }),
  u: undo,
  r: () => ask(START),
  ArrowLeft: () => addTo("mine", -1),
  ArrowRight: () => addTo("mine", 1),
  ArrowDown: () => addTo("theirs", -1),
  ArrowUp: () => addTo("theirs", 1),
};
for (const value of [1, 2, 3, 4, 5, 6]) KEYS[value] = () => toggle(value);

/** A key of the list, unless it means something where the focus is: a number, a choice in a group. */
function press(event) {
  const { target, key } = event, act = KEYS[key.length === 1 ? key.toLowerCase() : key];
  const isTaken = target.matches(`input[type=number], select${key.startsWith("Arrow") ? ", input[type=radio]" : ""}`);
  if (!act || isTaken || event.ctrlKey || event.altKey || event.metaKey || !byId("keys").checked) return;
  event.preventDefault();
  act();
}

async function main() {
  if (typeof DecompressionStream === "undefined") {
    say("unsure", "?", "This browser is too old to unpack the solved game (it lacks DecompressionStream).");
    return;
  }
  adviser = await openAdviser(byId("facts").textContent, byId("table").textContent);
  ask(read(location.hash));
  listen();
}

main();
