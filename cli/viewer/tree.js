"use strict";

const LABEL_LENGTH = 120;
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
    Object.assign(this, { search, step: search.last, hits: null, selected: null, cursor: "0" });
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
      Math.max(a.x, b.x) > top && Math.min(a.x, b.x) < bottom && b.y > left && a.y < right;
    this.atEnd = this.step === this.search.last;
    this.now = this.atEnd ? null : this.outline.nodeOf(String(this.step)).data.key;
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
    card.style.transform = `translate(${node.y}px, ${node.x - CARD.height / 2}px)`;
    card.tabIndex = key === this.cursor ? 0 : -1;
    card.dataset.key = key;
    card.title = state.label;
    mark.className = `mark ${state.mark}`;
    label.textContent = state.label;
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
    const text = (thought.text || (thought.parent == null ? search.problem : "(empty)")).trim();
    const label = text.length > LABEL_LENGTH ? `${text.slice(0, LABEL_LENGTH)}…` : text;
    const worth = thought.value === undefined ? undefined : short(thought.value);
    const chosen = this.atEnd && search.chosenPath.has(key);
    const spoken = [
      thought.parent == null ? "The problem" : `Thought ${key}, ${STATUS_WORDS[status] ?? status}`,
      worth === undefined ? "" : `, value ${worth}`,
      chosen ? ", on the path to the answer" : "",
      `: ${label}`,
    ];
    return {
      label,
      worth,
      heat: worth === undefined ? 0 : search.heat(thought.value),
      mark: status,
      spoken: spoken.join(""),
      classes: [
        status,
        hidden && "closed",
        chosen && "chosen",
        chosen && key === search.chosen && "answer",
        thought.failed && "failed",
        key === this.selected && "selected",
        Number(key) > this.step && "future",
        ...this.marks(key),
      ],
    };
  }

  stubState({ data: { key, stub } }) {
    const born = stub.filter((thought) => Number(thought.id) <= this.step).length;
    const count = born === stub.length ? born : `${born} of ${stub.length}`;
    const outputs = stub.every((thought) => thought.status === "terminal");
    const what = outputs ? "more outputs" : "not followed";
    return {
      label: `${count} ${what}`,
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
    const trail = new Set(this.atEnd ? [] : pathIds(this.search, String(this.step)));
    const links = this.links
      .selectAll("path")
      .data(edges, ({ kind, source, target }) => `${kind} ${source.data.key} ${target.data.key}`);
    const added = links.enter().append("path");
    links.exit().remove();
    (repaint ? added.merge(links) : added)
      .attr("class", ({ kind, target }) => `${kind} ${this.linkState(target.data, trail)}`)
      .attr("d", ({ source, target }) =>
        this.link({ source: [source.y + CARD.width, source.x], target: [target.y, target.x] }),
      )
      .filter(".chosen, .trail")
      .raise();
  }

  linkState({ key, thought, stub }, trail) {
    const [eldest] = stub ?? [thought];
    if (Number(eldest.id) > this.step) return "future";
    if (trail.has(key) || key === this.now) return "trail";
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
