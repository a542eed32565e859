"use strict";

const LABEL_LENGTH = 120;
const TITLE_LENGTH = 600;
const MOST_UNFOLDED = 300;
const MARGIN = 300;

/** Draws the tree; what is off the screen is not in the page. */
class TreeView {
  constructor(view, { onOpen, onFold }) {
    Object.assign(this, { onOpen, onFold });
    this.links = d3.select(view.querySelector("#links g"));
    this.cards = d3.select(view.querySelector("#tree"));
    this.link = d3.linkHorizontal();
    this.camera = new Camera(view, view.querySelector("#stage"), () => this.draw(false));
  }

  /** Shows a search from its end. */
  show(search) {
    Object.assign(this, { search, step: search.last, hits: null, kept: null, selected: null, cursor: "0" });
    this.outline = new Outline(search);
    this.frame();
  }

  frame() {
    const { nodes, root, bounds } = this.outline;
    const path = nodes.filter((node) => this.search.chosenPath.has(node.data.key));
    this.camera.frame(bounds, d3.mean(path.length ? path : [root], (node) => node.x));
    this.redraw();
  }

  fit() {
    this.camera.fit(this.outline.bounds);
  }

  fold(on) {
    this.outline.fold(on);
    this.frame();
  }

  // Drawing

  /** Draws everything anew, after the outline has changed. */
  redraw() {
    if (!this.outline.byKey.has(this.cursor)) this.cursor = this.outline.nodeOf(this.cursor).data.key;
    this.onFold();
    this.draw();
  }

  /** Draws what is seen; without `repaint` only what has come into view. */
  draw(repaint = true) {
    if (!this.search) return;
    const { left, right, top, bottom } = this.camera.seen(MARGIN);
    const inside = ({ x, y, data }) =>
      data.key === this.cursor || (y > left - CARD.width && y < right && x > top && x < bottom);
    const crosses = ({ source: a, target: b }) =>
      Math.max(a.x, b.x) > top && Math.min(a.x, b.x) < bottom && Math.max(a.y, b.y) > left && Math.min(a.y, b.y) < right;
    const { id, born, raised } = this.search.steps[this.step];
    this.atEnd = this.step === this.search.last;
    this.born = born;
    this.now = this.atEnd ? null : this.outline.nodeOf(id).data.key;
    this.raising = new Map(this.atEnd ? [] : raised.map((raise) => [raise.thought, raise]));
    this.passing = new Set(this.atEnd ? [] : carriersOf(id, raised));
    this.trail = new Set(this.atEnd ? [] : pathIds(this.search, id));
    this.found = this.hits && new Set([...this.hits].map((id) => this.outline.nodeOf(id).data.key));
    this.drawCards(this.outline.nodes.filter(inside), repaint);
    this.drawLinks(this.outline.edges().filter(crosses), repaint);
  }

  drawCards(nodes, repaint) {
    const cards = this.cards.selectAll(".thought").data(nodes, (node) => node.data.key);
    const added = this.newCards(cards.enter());
    cards.exit().remove();
    (repaint ? added.merge(cards) : added).each((node, i, all) => this.paint(all[i], node));
  }

  newCards(enter) {
    const card = enter.append("div").attr("role", "treeitem");
    card.append("i");
    card.append("span").attr("class", "label");
    card.append("span").attr("class", "worth");
    card.append("span").attr("class", "more").attr("aria-hidden", "true").on("click", (event, node) => {
      event.stopPropagation();
      this.toggle(node.data.key);
    });
    return card.on("click", (_, node) => this.open(node.data.key));
  }

  paint(card, node) {
    const { key, stub, hidden } = node.data;
    const [mark, label, worth, more] = card.children;
    const state = stub ? this.stubState(node) : this.thoughtState(node);
    const siblings = node.parent?.children ?? [node];
    card.className = ["thought", ...state.classes.filter(Boolean)].join(" ");
    card.style.transform = `translate(${node.y}px, ${node.x - node.high / 2}px)`;
    card.style.height = `${node.high}px`;
    card.tabIndex = key === this.cursor ? 0 : -1;
    card.dataset.key = key;
    card.title = state.title ?? state.label;
    mark.className = `mark ${state.mark}`;
    label.textContent = stub ? state.label : fitted(state.label, state.worth, node.lines, key === this.search.chosen);
    label.style.webkitLineClamp = node.lines;
    label.classList.toggle("lines", node.lines > 1);
    worth.textContent = state.worth ?? "";
    worth.hidden = state.worth === undefined;
    worth.style.setProperty("--heat", state.heat ?? 0);
    more.textContent = hidden ? `+${short(hidden)}` : "−";
    more.hidden = !hidden && !(node.children && node.parent);
    card.setAttribute("aria-label", state.spoken);
    card.setAttribute("aria-level", node.depth + 1);
    card.setAttribute("aria-setsize", siblings.length);
    card.setAttribute("aria-posinset", siblings.indexOf(node) + 1);
    card.setAttribute("aria-selected", key === this.selected);
    if (stub || hidden || node.children) card.setAttribute("aria-expanded", Boolean(node.children));
    else card.removeAttribute("aria-expanded");
  }

  thoughtState({ data: { key, thought, hidden } }) {
    const { search } = this;
    const status = statusAt(search, thought, this.step);
    const label = labelOf(search, thought);
    const title = [thought.text, callOf(thought)].filter(Boolean).join(" → ") || label;
    const worth = worthOf(costAt(search, thought, this.step), this.raising.get(key));
    const raised = isRaised(search, key, this.step);
    const chosen = this.atEnd && search.chosenPath.has(key);
    const spoken = [
      thought.parent == null ? "The problem" : `Thought ${key}, ${STATUS_WORDS[status] ?? status}`,
      worth === undefined ? "" : `, value ${worth}`,
      thought.failed ? ", its tool failed" : "",
      raised ? ", made dearer by a failure" : "",
      chosen ? ", on the path to the answer" : "",
      `: ${label.slice(0, LABEL_LENGTH)}`,
    ];
    return {
      label,
      title: title.slice(0, TITLE_LENGTH),
      worth,
      heat: thought.value === undefined ? 0 : search.heat(thought.value),
      mark: status,
      spoken: spoken.join(""),
      classes: [
        status,
        hidden && "closed",
        chosen && "chosen",
        chosen && key === search.chosen && "answer",
        thought.failed && "failed",
        raised && "raised",
        this.raising.has(key) && "raising",
        key === this.selected && "selected",
        Number(key) > this.born && "future",
        ...this.marks(key),
      ],
    };
  }

  stubState({ data: { key, stub } }) {
    const born = stub.filter((thought) => Number(thought.id) <= this.born).length;
    const count = born === stub.length ? born : `${born} of ${stub.length}`;
    const hits = stub.filter(({ id }) => this.hits?.has(id)).length;
    const outputs = stub.every((thought) => thought.status === "terminal");
    const what = outputs ? "more outputs" : "not followed";
    return {
      label: hits ? `${count} ${what}, ${hits} found` : `${count} ${what}`,
      spoken: `${count} thoughts ${what}, folded`,
      mark: outputs ? "terminal" : "pruned",
      classes: ["stub", !born && "future", ...this.marks(key)],
    };
  }

  /** What replay and search say about a card, whether it is a thought or a fold. */
  marks(key) {
    return [key === this.now && "now", this.found && (this.found.has(key) ? "hit" : "miss")];
  }

  drawLinks(edges, repaint) {
    const links = this.links
      .selectAll("path")
      .data(edges, ({ kind, source, target }) => `${kind} ${source.data.key} ${target.data.key}`);
    const added = links.enter().append("path");
    links.exit().remove();
    (repaint ? added.merge(links) : added)
      .attr("class", (edge) => `${edge.kind} ${this.lineState(edge)}`)
      .attr("d", ({ kind, source, target }) =>
        kind === "rollback"
          ? arc(source, target)
          : this.link({ source: [source.y + CARD.width, source.x], target: [target.y, target.x] }),
      )
      .filter(".chosen, .trail")
      .raise();
  }

  lineState({ kind, source, target: { data } }) {
    if (kind === "rollback") return Number(source.data.key) > this.born ? "future" : "";
    if (kind === "propagated") return this.passState(held(data).map(({ id }) => id));
    return this.linkState(data);
  }

  /** Whether a cost was passed on along a line by now: not yet, just now, or earlier. */
  passState(ids) {
    const first = d3.min(ids, (id) => this.search.passed.get(id));
    if (first > this.step) return "future";
    return ids.some((id) => this.passing.has(id)) ? "passing" : "";
  }

  linkState(data) {
    const { key, thought, stub } = data;
    const [eldest] = held(data);
    if (Number(eldest.id) > this.born) return "future";
    if (this.trail.has(key) || key === this.now) return "trail";
    if (this.atEnd && this.search.chosenPath.has(key)) return "chosen";
    return stub || thought.status === "pruned" ? "faint" : "";
  }

  // Choosing

  /** Puts the keyboard on a card. */
  focus(key) {
    this.cursor = key;
    this.draw();
    this.camera.reveal(this.outline.byKey.get(key));
    this.cards.select(`[data-key="${key}"]`).node().focus({ preventScroll: true });
  }

  /** Opens a thought, or what is folded. */
  open(key) {
    const { stub } = this.outline.byKey.get(key).data;
    if (stub) return this.toggle(key);
    this.select(key);
    this.focus(key);
  }

  select(id) {
    this.selected = id;
    if (id !== null) this.onOpen(id);
    this.draw();
  }

  /** Folds or unfolds; the thought concerned stays where it is on the screen. */
  toggle(key, open) {
    const before = this.outline.byKey.get(key);
    const from = before.data.stub ? before.parent.x : before.x;
    const anchor = this.outline.toggle(key, open);
    if (anchor === null) return;
    this.cursor = before.data.stub ? before.data.stub[0].id : key;
    this.redraw();
    this.camera.shift(from - this.outline.byKey.get(anchor).x);
    this.focus(this.cursor);
  }

  /** Marks what was found and unfolds what hides it, unless it is very much; null ends the search. */
  find(found) {
    const { outline } = this;
    this.kept ??= found && outline.folds;
    this.hits = found && new Set(found);
    if (!this.kept) return;
    outline.restore(this.kept, found && found.length <= MOST_UNFOLDED ? found : []);
    if (!found) this.kept = null;
    this.redraw();
    if (found?.length) this.camera.reveal(outline.nodeOf(found[0]));
  }

  /** Makes sure that a thought is drawn and in view. */
  bring(id) {
    if (!this.outline.byKey.has(id)) {
      this.outline.uncover(id);
      this.redraw();
    }
    this.focus(id);
  }

  /** Moves the keyboard; up and down stay in a column, from siblings on to cousins. */
  arrow(name) {
    const node = this.outline.byKey.get(this.cursor);
    const column = this.outline.columns.get(node.depth);
    const at = column.indexOf(node);
    const to = {
      ArrowLeft: node.parent,
      ArrowRight: node.children?.[0],
      ArrowUp: column[at - 1],
      ArrowDown: column[at + 1],
    }[name];
    if (to) this.focus(to.data.key);
    else if (name === "ArrowRight") this.toggle(this.cursor, true);
  }
}

/** Returns the line of a rollback: over the cards in between, back to the top of an earlier one. */
function arc(source, target) {
  const [x0, y0] = [source.y + CARD.width / 2, source.x - source.high / 2];
  const [x1, y1] = [target.y + CARD.width / 2, target.x - target.high / 2];
  const top = Math.min(y0, y1) - CARD.height;
  return `M${x0},${y0}C${x0},${top} ${x1},${top} ${x1},${y1}m-4,-6l4,6l4,-6`;
}
