"use strict";

const CROWD = 8;

/** Returns text number `at`: each entry holds what it shares with the one before, and the rest. */
function textOf(texts, at) {
  let text = "";
  let missing = Infinity;
  for (let i = texts.places[at]; missing > 0; i--) {
    const [shared, rest] = texts.entries[i];
    if (shared < missing) {
      text = rest.slice(0, missing - shared) + text;
      missing = shared;
    }
  }
  return text;
}

/** Indexes one search for drawing; thoughts arrive in the order of their creation. */
function indexed(run) {
  const byId = new Map(run.thoughts.map((thought) => [thought.id, thought]));
  const children = d3.group(run.thoughts, (thought) => thought.parent);
  const search = { ...run, byId, childrenOf: (id) => children.get(id) ?? [] };
  search.chosenPath = new Set(pathIds(search, run.chosen));
  search.crowds = crowdsOf(run.thoughts);
  search.heat = heatOf(run.thoughts);
  search.youngest = run.thoughts.length - 1;
  search.steps = stepsOf(run.thoughts);
  search.last = search.steps.length - 1;
  search.raises = raisesOf(search.steps);
  search.passed = passedBy(search.steps);
  return search;
}

/**
 * The steps of the replay: each thought as it is made, and each propagation of a failed call's cost,
 * which comes after the youngest thought there was then. `born` is that thought's number.
 */
function stepsOf(thoughts) {
  const failed = thoughts.filter(({ propagation }) => propagation?.raised.length);
  const after = d3.group(failed, ({ propagation }) => propagation.last);
  return thoughts.flatMap(({ id }) => [
    { id, born: Number(id), raised: [] },
    ...(after.get(id) ?? []).map((source) => ({ id: source.id, born: Number(id), raised: source.propagation.raised })),
  ]);
}

/** Maps each thought that became dearer to when, by whom, and from what cost to what. */
function raisesOf(steps) {
  const all = steps.flatMap(({ id, raised }, at) => raised.map((raise) => ({ ...raise, at, by: id })));
  return d3.group(all, (raise) => raise.thought);
}

/** Maps each thought to the first step that passed its cost on to the thought above it. */
function passedBy(steps) {
  const passed = new Map();
  for (const [at, { id, raised }] of steps.entries()) {
    for (const below of carriersOf(id, raised)) if (!passed.has(below)) passed.set(below, at);
  }
  return passed;
}

/** The thoughts from which a propagation went one up: the failed one, and all raised but the last. */
function carriersOf(id, raised) {
  return raised.map((_, i) => (i ? raised[i - 1].thought : id));
}

/** What a thought costs, and its priority, at a step: later propagations have not happened yet. */
function costAt(search, thought, step) {
  const raises = search.raises.get(thought.id) ?? [];
  const later = raises.find(({ at }) => at > step);
  if (!later) return thought;
  const { before } = later;
  const unknown = thought.parent == null && later === raises[0];
  // f of the root is 0 by definition until its V counts.
  return { ...thought, cost: before, priority: unknown ? 0 : thought.priority - (thought.cost - before) };
}

/** Whether failed calls below a thought had made it dearer at a step (D* Lite). */
function isRaised(search, id, step) {
  return search.raises.get(id)?.[0].at <= step;
}

/** Returns the ids from a thought up to the root, both included. */
function pathIds(search, id) {
  const ids = [];
  for (let at = id; search.byId.has(at); at = search.byId.get(at).parent) ids.push(at);
  return ids;
}

/** Maps a value to 0..1 within the search. */
function heatOf(thoughts) {
  const [low, high] = d3.extent(thoughts, (thought) => thought.value);
  return (value) => (high > low ? (value - low) / (high - low) : 0);
}

/** The status at a step: open until the first child appears, and again once it became dearer. */
function statusAt(search, thought, step) {
  const raises = search.raises.get(thought.id) ?? [];
  if (step === search.last || (thought.status !== "expanded" && !raises.length)) return thought.status;
  const { born } = search.steps[step];
  const youngest = search.childrenOf(thought.id).findLast(({ id }) => Number(id) <= born);
  const reopened = search.settings?.reexpand !== false && raises.findLast(({ at }) => at <= step);
  if (!youngest) return "open";
  return reopened && search.steps[reopened.at].born >= Number(youngest.id) ? "open" : "expanded";
}

/** A thought's call of a tool, such as `Search[Milan]`; empty without one. */
function callOf({ action }) {
  if (!action) return "";
  return action.name ? `${action.name}[${action.argument ?? ""}]` : JSON.stringify(action, null, 1);
}

/**
 * What is written at a thought's right: value, cost g and priority f, as far as it has them; `raise`
 * is what makes it dearer just now.
 */
function worthOf({ value, cost, priority }, raise) {
  const rows = [["", value], ["g ", cost], ["f ", priority]].filter(([, number]) => number != null);
  const from = ([name]) => (raise && name === "g " ? `${short(raise.before)}→` : "");
  return rows.length ? rows.map((row) => row[0] + from(row) + short(row[1])).join(" · ") : undefined;
}

/** Whether a thought can fold with its siblings: it leads nowhere, or is one output of many. */
function isAside(search, thought) {
  if (search.chosenPath.has(thought.id) || search.childrenOf(thought.id).length) return false;
  return thought.status !== "terminal" || search.crowds.has(thought.parent);
}

/** Returns the ids of the thoughts with so many outputs that they are better folded. */
function crowdsOf(thoughts) {
  const outputs = thoughts.filter((thought) => thought.status === "terminal");
  const counts = d3.rollup(outputs, (group) => group.length, (thought) => thought.parent);
  return new Set([...counts].filter(([, size]) => size > CROWD).map(([id]) => id));
}

/** Returns the ids of the thoughts in which a text occurs, ignoring case. */
function matches(search, texts, wanted) {
  const needle = wanted.toLowerCase();
  search.haystack ??= search.thoughts.map((thought) =>
    [thought.text, thought.note, thought.answer, thought.observation]
      .concat(thought.raw === undefined ? [] : textOf(texts, thought.raw))
      .join("\n")
      .toLowerCase(),
  );
  return search.thoughts.filter((_, i) => search.haystack[i].includes(needle)).map((t) => t.id);
}

/** A number for a badge: three digits that matter. */
function short(number) {
  if (typeof number !== "number") return String(number);
  if (Number.isInteger(number) || Math.abs(number) >= 100) return Math.round(number).toLocaleString("en");
  return String(Number(number.toPrecision(3)));
}

/** A number for a reader who wants all of it. */
function exact(number) {
  if (typeof number !== "number" || Number.isInteger(number)) return short(number);
  return String(Number(number.toPrecision(7)));
}
