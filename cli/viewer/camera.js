"use strict";

const ZOOM = { least: 0.015, most: 2.5, readable: 0.65, far: 0.36 };
const EDGE = { side: 24, top: 40, bottom: 64 };

/** Pans and zooms the stage inside the view. */
class Camera {
  constructor(view, stage, onMove) {
    Object.assign(this, { view, stage, onMove, transform: d3.zoomIdentity });
    this.zoom = d3
      .zoom()
      .scaleExtent([ZOOM.least, ZOOM.most])
      .on("zoom", ({ transform }) => this.moved(transform));
    d3.select(view).call(this.zoom).on("dblclick.zoom", null);
    new ResizeObserver(onMove).observe(view);
  }

  moved(transform) {
    const { x, y, k } = (this.transform = transform);
    this.stage.style.transform = `translate(${x}px, ${y}px) scale(${k})`;
    this.stage.classList.toggle("far", k < ZOOM.far);
    this.widen(k);
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      this.onMove();
    });
  }

  /** Keeps lines visible from far away; in coarse steps, because every line must be styled anew. */
  widen(k) {
    const coarse = 2 ** Math.round(Math.log2(k));
    if (coarse === this.coarse) return;
    this.coarse = coarse;
    this.stage.querySelector("svg").style.setProperty("--k", coarse);
  }

  goTo(transform, smooth = true) {
    const still = !smooth || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const view = d3.select(this.view).interrupt();
    (still ? view : view.transition().duration(220)).call(this.zoom.transform, transform);
  }

  zoomBy(factor) {
    d3.select(this.view).transition().duration(150).call(this.zoom.scaleBy, factor);
  }

  /** Returns the part of the stage that is seen, with a margin in screen pixels. */
  seen(margin) {
    const { x, y, k } = this.transform;
    const { clientWidth, clientHeight } = this.view;
    return {
      left: (-x - margin) / k,
      right: (clientWidth - x + margin) / k,
      top: (-y - margin) / k,
      bottom: (clientHeight - y + margin) / k,
    };
  }

  /** Shows the whole of some bounds. */
  fit(bounds, smooth = true) {
    const k = Math.min(this.scaleFor(bounds), 1.25);
    this.goTo(this.centred(bounds, k, (bounds.top + bounds.bottom) / 2), smooth);
  }

  /** Shows the bounds at a size that can be read, with `middle` in the middle. */
  frame(bounds, middle) {
    if (this.scaleFor(bounds) >= ZOOM.readable) return this.fit(bounds, false);
    const k = Math.max(ZOOM.readable, Math.min(1, this.scaleFor({ ...bounds, bottom: bounds.top })));
    this.goTo(this.centred(bounds, k, middle), false);
  }

  scaleFor({ top, bottom, right }) {
    const { clientWidth, clientHeight } = this.view;
    const high = (clientHeight - EDGE.top - EDGE.side) / Math.max(bottom - top, 1);
    return Math.min((clientWidth - 2 * EDGE.side) / right, high);
  }

  centred({ right }, k, middle) {
    const { clientWidth, clientHeight } = this.view;
    const left = Math.max(EDGE.side, (clientWidth - right * k) / 2);
    return d3.zoomIdentity.translate(left, (clientHeight - EDGE.side) / 2 - middle * k).scale(k);
  }

  /** Moves just enough to bring a card into view. */
  reveal({ x: down, y: across }, smooth = true) {
    const { x, y, k } = this.transform;
    const { clientWidth, clientHeight } = this.view;
    const [left, top] = [across * k + x, down * k + y];
    const room = clientWidth - EDGE.side - CARD.width * k - left;
    const dx = Math.max(EDGE.side - left, Math.min(0, room));
    const dy = Math.max(EDGE.top - top, Math.min(0, clientHeight - EDGE.bottom - top));
    if (dx || dy) this.goTo(d3.zoomIdentity.translate(x + dx, y + dy).scale(k), smooth);
  }

  /** Moves down by an amount of the stage, at once. */
  shift(amount) {
    const { x, y, k } = this.transform;
    this.goTo(d3.zoomIdentity.translate(x, y + amount * k).scale(k), false);
  }
}
