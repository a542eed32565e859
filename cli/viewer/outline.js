"use strict";

const CARD = { width: 224, height: 28, line: 17, most: 6 };
const GRID = { gap: 6, cousins: 16, column: 268, height: 560 };
const HANDLE = 64;
const FOLD_ABOVE = 30;
const DRAWN_AT_FIRST = 40;

/**
 * What of a search is drawn, and where.
 *
 * Two things are folded: side by side thoughts that lead nowhere become one stub under their parent
 * (`stubbed` holds the parents), and whole branches close (`closed` holds their first thoughts).
 */
class Outline {
  constructor(search) {
    this.search = search;
    this.sizes = sizesOf(search);
    this.asides = d3.group(search.thoughts.filter((thought) => isAside(search, thought)), (t) => t.parent);
    this.fold(search.youngest > FOLD_ABOVE);
  }

  /** Folds what does not lead to the answer, or unfolds everything. */
  fold(on) {
    const several = [...this.asides].filter(([, group]) => group.length > 1);
    this.stubbed = new Set(on ? several.map(([id]) => id) : []);
    this.closed = new Set(on ? this.deep() : []);
    this.place();
  }

  get foldable() {
    return this.search.youngest > 1 && (this.folded || [...this.asides.values()].some((group) => group.length > 1));
  }

  get folded() {
    return this.stubbed.size + this.closed.size > 0;
  }

  /** Returns the branches below the depth at which there is too much to take in at once. */
  deep() {
    const { search } = this;
    const followed = search.thoughts.filter((thought) => !isAside(search, thought));
    const counts = d3.rollup(followed, (group) => group.length, (thought) => thought.depth);
    let depth = 0;
    for (let drawn = 1; (drawn += counts.get(depth + 1) ?? 0) <= DRAWN_AT_FIRST && counts.has(depth + 1); ) depth++;
    return followed
      .filter((t) => t.depth >= Math.max(1, depth) && this.sizes.get(t.id) && !search.chosenPath.has(t.id))
      .map((thought) => thought.id);
  }

  /** Places what is drawn, with as many lines a card as leave the tree about as high as a screen. */
  place() {
    this.root = d3.hierarchy(this.branch("0"));
    this.nodes = this.root.descendants();
    for (const node of this.nodes) node.worth = node.data.stub ? 1 : linesOf(this.search, node.data.thought);
    let most = CARD.most;
    while (this.layOut(most) > GRID.height && most > 1) most--;
    this.byKey = new Map(this.nodes.map((node) => [node.data.key, node]));
    this.columns = d3.group(d3.sort(this.nodes, (node) => node.x), (node) => node.depth);
  }

  /** Lays the cards out; returns the height. `x` runs down and `y` across, as d3 has it for trees that grow sideways. */
  layOut(most) {
    for (const node of this.nodes) {
      node.lines = Math.min(most, node.worth);
      node.high = CARD.height + CARD.line * (node.lines - 1);
    }
    d3
      .tree()
      .nodeSize([1, GRID.column])
      .separation((a, b) => (a.high + b.high) / 2 + (a.parent === b.parent ? GRID.gap : GRID.cousins))(this.root);
    const top = d3.min(this.nodes, (node) => node.x - node.high / 2);
    const bottom = d3.max(this.nodes, (node) => node.x + node.high / 2);
    const right = d3.max(this.nodes, (node) => node.y + (node.data.hidden ? HANDLE : 0)) + CARD.width;
    this.bounds = { top: top - CARD.height / 2, bottom: bottom + CARD.height / 2, right };
    return bottom - top;
  }

  /** Returns what is drawn of a branch: `{key, thought, children}`, stubs as `{key, stub}`. */
  branch(id) {
    const thought = this.search.byId.get(id);
    if (this.closed.has(id)) return { key: id, thought, hidden: this.sizes.get(id) };
    const stub = this.stubbed.has(id) ? this.asides.get(id) : [];
    const children = this.search
      .childrenOf(id)
      .filter((child) => !stub.includes(child))
      .map((child) => this.branch(child.id));
    if (stub.length) children.push({ key: `${id}+`, stub });
    return { key: id, thought, children };
  }

  /**
   * Every line of the picture: from parents to children, where a failed call was passed on to the
   * parent, and back along rollbacks.
   */
  edges() {
    const links = this.root.links();
    const passed = links.filter(({ target }) => held(target.data).some(({ id }) => this.search.passed.has(id)));
    const back = this.search.thoughts.filter((thought) => thought.rollback).map((thought) => ({
      kind: "rollback",
      source: this.nodeOf(thought.id),
      target: this.nodeOf(thought.rollback.to),
    }));
    return [
      ...links.map((edge) => ({ ...edge, kind: "child" })),
      ...passed.map((edge) => ({ ...edge, kind: "propagated" })),
      ...back.filter(({ source, target }) => source !== target),
    ];
  }

  /** Returns the drawn node of a thought: its own, or the fold that holds it. */
  nodeOf(id) {
    const { parent } = this.search.byId.get(id);
    return this.byKey.get(id) ?? this.byKey.get(`${parent}+`) ?? this.nodeOf(parent);
  }

  /** Opens or closes a branch; returns the id of a thought that stays drawn, if anything changed. */
  toggle(key, open) {
    const { thought, stub, hidden } = this.byKey.get(key).data;
    if (open === undefined) open = Boolean(stub || hidden);
    const id = stub ? stub[0].parent : thought.id;
    if (stub && open) this.stubbed.delete(id);
    else if (hidden && open) this.closed.delete(id);
    else if (!stub && !hidden && !open && this.sizes.get(id) && id !== "0") this.closed.add(id);
    else return null;
    this.place();
    return id;
  }

  /** Unfolds whatever hides some thoughts. */
  uncover(...ids) {
    for (const id of ids) {
      const { parent } = this.search.byId.get(id);
      if (this.asides.get(parent)?.some((thought) => thought.id === id)) this.stubbed.delete(parent);
      for (const above of pathIds(this.search, parent)) this.closed.delete(above);
    }
    this.place();
  }

  /** What is folded, to come back to. */
  get folds() {
    return { stubbed: new Set(this.stubbed), closed: new Set(this.closed) };
  }

  /** Folds as it was before, but shows some thoughts. */
  restore({ stubbed, closed }, shown) {
    Object.assign(this, { stubbed: new Set(stubbed), closed: new Set(closed) });
    this.uncover(...shown);
  }
}

/** The thoughts that a card stands for: one, or those of a fold. */
function held({ thought, stub }) {
  return stub ?? [thought];
}

/** Returns how many thoughts lie below each; children come after their parents. */
function sizesOf(search) {
  const sizes = new Map();
  for (const { id, parent } of [...search.thoughts].reverse()) {
    sizes.set(parent, (sizes.get(parent) ?? 0) + (sizes.get(id) ?? 0) + 1);
  }
  return sizes;
}
