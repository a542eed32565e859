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
  search.last = run.thoughts.length - 1;
  return search;
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

/** The status at a step: a thought is open until its first child appears. */
function statusAt(search, thought, step) {
  if (thought.status !== "expanded") return thought.status;
  const [first] = search.childrenOf(thought.id);
  return first && Number(first.id) > step ? "open" : "expanded";
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
