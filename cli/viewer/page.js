"use strict";

const LONG_PROBLEM = 90;
const REPLAY = { whole: 15000, quickest: 30, slowest: 700 };

(function start() {
  const { runs, texts } = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const searches = new Map();
  let search;
  let timer = null;
  let found = [];

  const tree = new TreeView(at("view"), {
    onOpen: (id) => panel.showThought(search, id),
    onFold: foldButton,
  });
  const panel = new Panel(at("panel"), texts, { onJump: open, onClose: close });

  function show(number) {
    if (!searches.has(number)) searches.set(number, indexed(runs[number]));
    search = searches.get(number);
    stop();
    header();
    at("step").max = search.last;
    at("rollbacks").hidden = !search.thoughts.some((thought) => thought.rollback);
    at("failures").hidden = !search.thoughts.some((thought) => thought.failed);
    at("find").value = "";
    at("found").textContent = "";
    panel.showSearch(search);
    tree.show(search);
    stepTo(search.last);
  }

  // Header

  function header() {
    at("method").replaceChildren(el("b", {}, search.method), ` on ${search.task}`);
    at("problem").textContent = search.title;
    at("problem").title = search.title;
    at("problem").classList.toggle("long", search.title.length > LONG_PROBLEM);
    at("answer").textContent = search.answer ?? "none found";
    at("answer").classList.toggle("none", search.answer == null);
    at("stop").textContent = search.outcome;
    at("stop").title = search.outcome;
    at("stop").classList.toggle("bad", search.stop_reason === "error");
    const usage = search.usage ?? {};
    const [asked, said] = [usage.prompt_tokens ?? 0, usage.completion_tokens ?? 0];
    stats([
      ["thoughts", short(search.youngest)],
      ["requests", short(usage.requests ?? 0)],
      ["tokens", short(asked + said), `${short(asked)} prompt, ${short(said)} completion`],
      ["seconds", (usage.seconds ?? 0).toFixed(1)],
      ...(usage.dollars ? [["dollars", `$${Number(usage.dollars.toPrecision(3))}`]] : []),
    ]);
  }

  function stats(rows) {
    at("stats").replaceChildren(
      ...rows.map(([name, number, title]) => el("div", { title }, el("dt", {}, name), el("dd", {}, number))),
    );
  }

  function picker() {
    const box = at("picker");
    const select = box.querySelector("select");
    select.append(
      ...runs.map((run, number) =>
        el("option", { value: number }, `${number + 1}. ${run.method}: ${run.title.slice(0, 60)} → ${String(run.answer ?? "none").slice(0, 40)}`),
      ),
    );
    select.addEventListener("change", () => show(Number(select.value)));
    box.hidden = runs.length < 2;
  }

  // Choosing

  function open(id) {
    tree.bring(id);
    tree.select(id);
  }

  function close() {
    tree.select(null);
    panel.showSearch(search);
  }

  function foldButton() {
    at("fold").hidden = !tree.outline.foldable;
    at("fold").textContent = tree.outline.folded ? "Show all" : "Fold side branches";
  }

  // Finding

  function find() {
    const wanted = at("find").value.trim();
    found = wanted ? matches(search, texts, wanted) : [];
    at("found").textContent = wanted ? `${found.length} of ${search.youngest + 1}` : "";
    tree.find(wanted ? found : null);
  }

  function nextFound(backwards) {
    if (!found.length) return;
    const here = found.indexOf(tree.selected);
    const next = found.at(backwards ? here - 1 : (here + 1) % found.length) ?? found[0];
    open(next);
    at("find").focus();
    at("found").textContent = `${found.indexOf(next) + 1} of ${found.length}`;
  }

  // Replay

  function stepTo(step) {
    tree.step = step;
    at("step").value = step;
    const text = told(search.steps[step]);
    at("caption").textContent = `${step} of ${search.last}: ${text}`;
    at("step").setAttribute("aria-valuetext", `step ${step} of ${search.last}, ${text}`);
    tree.draw();
    if (step < search.last) tree.camera.reveal(tree.outline.nodeOf(search.steps[step].id), timer === null);
  }

  /** What happens at a step, in words. */
  function told({ id, raised }) {
    const dearer = raised.map(({ thought, before, after }) => `${thought} from g ${short(before)} to ${short(after)}`);
    if (dearer.length) return `the failure of ${id} propagates: ${dearer.join(", ")}`;
    const { parent, text, failed } = search.byId.get(id);
    if (parent == null) return "the problem";
    return text.trim().slice(0, LABEL_LENGTH).replaceAll("\n", " ") + (failed ? " · failed" : "");
  }

  function play() {
    if (timer !== null) return stop();
    if (tree.step === search.last) stepTo(0);
    const { whole, quickest, slowest } = REPLAY;
    const pause = Math.max(quickest, Math.min(slowest, whole / search.last));
    timer = setInterval(() => (tree.step < search.last ? stepTo(tree.step + 1) : stop()), pause);
    playing(true);
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    playing(false);
  }

  function playing(on) {
    at("play").classList.toggle("playing", on);
    at("play").setAttribute("aria-label", on ? "Pause" : "Play");
  }

  // Keys

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") close();
    else if (event.target.closest("input, select, button, summary, aside")) return;
    else if (event.key.startsWith("Arrow")) tree.arrow(event.key);
    else if (event.key === "Enter") tree.open(tree.cursor);
    else if ("+-−".includes(event.key)) tree.toggle(tree.cursor, event.key === "+");
    else if (event.key === "Home") tree.fit();
    else if (event.key === " ") play();
    else if (event.key === "/") at("find").focus();
    else return;
    event.preventDefault();
  }

  function onFindKey(event) {
    if (event.key === "Enter") nextFound(event.shiftKey);
    if (event.key !== "Escape" || !at("find").value) return;
    // The key's other meaning, closing the details, waits for the next time.
    event.stopPropagation();
    event.preventDefault();
    at("find").value = "";
    find();
  }

  function switchTheme() {
    const root = document.documentElement.style;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    root.colorScheme = (root.colorScheme || (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
  }

  for (const [id, type, action] of [
    ["fold", "click", () => tree.fold(!tree.outline.folded)],
    ["in", "click", () => tree.camera.zoomBy(1.4)],
    ["out", "click", () => tree.camera.zoomBy(1 / 1.4)],
    ["fit", "click", () => tree.fit()],
    ["theme", "click", switchTheme],
    ["play", "click", play],
    ["step", "input", () => (stop(), stepTo(Number(at("step").value)))],
    ["find", "input", find],
    ["find", "keydown", onFindKey],
  ]) {
    at(id).addEventListener(type, action);
  }
  document.addEventListener("keydown", onKey);
  picker();
  if (runs.length) show(0);
})();
