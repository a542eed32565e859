"use strict";

/** Makes an element. Texts become text nodes, never markup. */
function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

const STATUS_WORDS = { terminal: "output" };
const SAMPLE_BREAK = "\n-----\n";

/** What a thought may carry beyond its text: field, label, how it is shown. */
const FACTS = [
  ["value", "Value", exact],
  ["alpha", "Rollbacks from its path", exact],
  ["beta", "Experiences it was made with", exact],
  ["note", "Verdict"],
  ["score", "Score", exact],
  ["cost", "Cost g", exact],
  ["priority", "Priority f", exact],
  ["action", "Action", (action) => callOf({ action })],
  ["price", "Cost of the call", exact],
  ["observation", "Observation"],
  ["answer", "Answer"],
  ["returned", "Returns"],
  ["lesson", "Lesson"],
];
/** What the prompts about a thought were for, by role. */
const PURPOSES = {
  generate: "made it",
  extract: "named where to begin",
  conclude: "forced an answer",
  act: "asked for its action",
  value: "judged it",
  vote: "compared it",
  step_eval: "labelled it",
  answer_eval: "checked its answer",
  judge: "judged its answer",
  analyse: "checked its path",
  extract_index: "read the analysis",
  score: "scored it",
  reflect: "drew its lesson",
};
const ROLE_COLUMNS = [
  ["requests", "requests"],
  ["samples", "samples"],
  ["prompt_tokens", "tokens in"],
  ["completion_tokens", "tokens out"],
  ["cached", "cached"],
];
/** How a search ended, and which run it was. */
function ending(search) {
  const told = [
    ["Ended", search.outcome],
    ["Returns", search.byId.get(search.chosen)?.returned],
    ["Right", search.right],
    ["Verified", search.verified],
    ["Model", search.settings?.model],
    ["Run", search.run],
    ["Date", search.date],
  ];
  return told.filter(([, words]) => words);
}

/** Why the page has no prompts, where it has none. */
function promptless(search) {
  return search.promptless ? el("p", { class: "sub" }, search.promptless) : "";
}

function asJson(value) {
  return JSON.stringify(value, null, 1);
}

/** The details at the side: of one thought, or of the whole search. */
class Panel {
  constructor(element, texts, { onJump, onClose }) {
    Object.assign(this, { element, texts, onJump, onClose });
    this.unfolded = new Set(["What the model wrote"]);
  }

  /** Shows what is known of the search as a whole. */
  showSearch(search) {
    const { usage, candidates, settings, versions } = search;
    this.element.replaceChildren(
      el("h2", {}, "This search"),
      search.about ? el("p", { class: "sub" }, search.about) : "",
      el("p", { class: "said" }, search.title),
      search.picture ? el("img", { class: "picture", src: search.picture, alt: "The scene" }) : "",
      search.error ? facts([["Error", search.error, "failed"]]) : "",
      promptless(search),
      facts(ending(search)),
      ...(candidates?.length > 1 ? [el("h3", {}, "Candidates, best first"), listed(candidates)] : []),
      ...(usage?.roles ? [el("h3", {}, "Cost by role"), costs(Object.entries(usage.roles))] : []),
      this.fold("Usage", pairs(usage, ["roles", "mark"])),
      this.fold("Settings", pairs(settings)),
      this.fold("Versions", pairs(versions)),
      keys(),
    );
    this.element.scrollTop = 0;
  }

  /** Shows one thought. */
  showThought(search, id) {
    const thought = search.byId.get(id);
    const raw = this.text(thought.raw);
    const judged = this.text(thought.value_raw)?.split(SAMPLE_BREAK);
    this.element.replaceChildren(
      this.heading(thought),
      this.place(search, thought),
      el("p", { class: "said" }, thought.text || search.title),
      facts([...known(thought), ...costChanges(search, thought)]),
      ...this.spent(search, thought),
      raw === undefined ? "" : this.fold("What the model wrote", pre(raw)),
      judged ? this.fold(`What the evaluator wrote (${counted(judged.length, "sample")})`, judged.map(pre)) : "",
      thought.analysis === undefined
        ? ""
        : this.fold("What the analysis of its path found", pre(this.text(thought.analysis))),
      thought.analysis_raw === undefined
        ? ""
        : this.fold("What was read off the analysis", pre(this.text(thought.analysis_raw))),
      ...this.taught(search, thought),
      promptless(search),
      ...this.asked(thought.prompts, "Prompt that"),
      ...this.asked(thought.expansion, "Prompt that continued it", true),
      thought.tool_state ? this.fold("State of the tools", pre(asJson(thought.tool_state))) : "",
    );
    this.element.scrollTop = 0;
  }

  heading(thought) {
    return el(
      "h2",
      {},
      el("i", { class: `mark ${thought.status}` }),
      thought.parent == null ? "The problem" : `Thought ${thought.id}`,
      el("span", { class: "chip" }, STATUS_WORDS[thought.status] ?? thought.status),
      el("button", { type: "button", title: "Back to the search (Esc)", "aria-label": "Close", onclick: this.onClose }, "×"),
    );
  }

  place(search, thought) {
    const made = thought.created_by?.node;
    const jump = (id) => el("button", { type: "button", onclick: () => this.onJump(id) }, id);
    const children = search.childrenOf(thought.id);
    return el(
      "p",
      { class: "sub" },
      `depth ${thought.depth}`,
      thought.parent == null ? null : [" · continues ", jump(thought.parent)],
      made ? ` · made by ${made}` : null,
      thought.caused_by ? [" · after the rollback from ", jump(thought.caused_by)] : null,
      thought.rollback ? [" · rolled back to ", jump(thought.rollback.to)] : null,
      children.length ? ` · ${counted(children.length, "continuation")}` : null,
    );
  }

  /** What it cost to make the thought (shared by its siblings), to judge it, to continue it. */
  spent(search, thought) {
    const parent = search.byId.get(thought.parent);
    const siblings = parent ? search.childrenOf(parent.id).length : 0;
    const made = parent?.usage?.generate;
    const own = Object.entries(thought.usage ?? {}).map(([role, cost]) => [
      role === "generate" ? "continue it" : role,
      cost,
    ]);
    const label = siblings > 1 ? `make it and ${counted(siblings - 1, "sibling")}` : "make it";
    const rows = [...(made ? [[label, made]] : []), ...own];
    return rows.length ? [el("h3", {}, "Cost"), costs(rows)] : [];
  }

  asked(prompts, title, whole = false) {
    return (prompts ?? []).map(([role, at]) =>
      this.fold(whole ? title : `${title} ${PURPOSES[role] ?? role}`, pre(this.text(at))),
    );
  }

  /** The experiences its prompt contained: an earlier path's steps and what was wrong with them. */
  taught(search, thought) {
    return (thought.experiences ?? []).map((source, at) => {
      const steps = pathIds(search, source).reverse().slice(1);
      const told = steps.map((id, i) => `Step ${i + 1}. ${search.byId.get(id).text}`).join("\n");
      const found = this.text(search.byId.get(source).analysis) ?? "";
      return this.fold(`Experience ${at + 1}, from thought ${source}`, pre(`${told}\n\nAnalysis:\n${found}`));
    });
  }

  text(at) {
    return at === undefined ? undefined : textOf(this.texts, at);
  }

  /** A section that stays open or closed from thought to thought. */
  fold(title, ...content) {
    const name = title.replace(/ \(.*/, "");
    const details = el("details", {}, el("summary", {}, title), content.flat());
    details.open = this.unfolded.has(name);
    details.addEventListener("toggle", () => this.unfolded[details.open ? "add" : "delete"](name));
    return details;
  }
}

function known(thought) {
  const worthSaying = ([field]) =>
    thought[field] != null && thought[field] !== "" && thought[field] !== thought.text;
  return FACTS.filter(worthSaying).map(([field, label, show = String]) => [
    label,
    show(thought[field]),
    hasFailed(thought, field),
  ]);
}

/** What failed calls did to costs: this thought's to those above it, others' to this thought's. */
function costChanges(search, { id, propagation }) {
  const change = ({ before, after }) => `g ${exact(before)} → ${exact(after)}`;
  const above = (propagation?.raised ?? []).map((raise) => [`Raised ${raise.thought}`, change(raise)]);
  const own = (search.raises.get(id) ?? []).map((raise) => [`Raised by ${raise.by}`, change(raise)]);
  return [...above, ...own];
}

/** A failed call shows at what the tool answered. */
function hasFailed(thought, field) {
  return field === "observation" && thought.failed ? "failed" : undefined;
}

function facts(rows) {
  return el(
    "dl",
    { class: "facts" },
    rows.flatMap(([label, text, kind]) => [el("dt", {}, label), el("dd", { class: kind }, text)]),
  );
}

function pairs(values, without = []) {
  const shown = Object.entries(values ?? {}).filter(([name]) => !without.includes(name));
  return facts(shown.map(([name, value]) => [name, typeof value === "object" ? asJson(value) : exact(value)]));
}

function costs(rows) {
  const columns = ROLE_COLUMNS.filter(([name]) => rows.some(([, cost]) => cost[name]));
  const head = columns.map(([, label]) => el("th", { scope: "col" }, label));
  const body = rows.map(([label, cost]) =>
    el("tr", {}, el("th", { scope: "row" }, label), columns.map(([name]) => el("td", {}, short(cost[name] ?? 0)))),
  );
  return el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, ""), head)), el("tbody", {}, body));
}

function listed(texts) {
  return el("ol", {}, texts.map((text) => el("li", {}, text ?? "no answer")));
}

function counted(number, noun) {
  return `${short(number)} ${noun}${number === 1 ? "" : "s"}`;
}

function pre(text) {
  return el("pre", {}, text);
}

function keys() {
  const rows = [
    [["←", "→", "↑", "↓"], "move along the tree"],
    [["Enter"], "open a thought"],
    [["+", "−"], "unfold, fold"],
    [["Home"], "show the whole tree"],
    [["Space"], "replay"],
    [["/"], "find"],
    [["Esc"], "clear what is sought, close the details"],
  ];
  return el(
    "p",
    { class: "keys" },
    rows.map(([names, does]) => [names.map((name) => [el("kbd", {}, name), " "]), does, el("br")]).flat(3),
  );
}
