"use strict";

const TAIL = 14;
const INSIDE = { edges: 36, worth: 20 };
const BOLD = 1.18;

/** What is written on a thought's card. */
function labelOf(search, thought) {
  const said = [thought.label ?? thought.text, callOf(thought)].filter(Boolean).join(" → ");
  return (said || (thought.parent == null ? search.title : "(empty)")).trim().replaceAll(/\s+/g, " ");
}

const widths = new Map();
let pen;

/** The width of a text on a card, in pixels at the card's own size. */
function widthOf(text) {
  if (!pen) {
    pen = document.createElement("canvas").getContext("2d");
    pen.font = `13px ${getComputedStyle(document.body).fontFamily}`;
  }
  if (!widths.has(text)) widths.set(text, pen.measureText(text).width);
  return widths.get(text);
}

/** The room for a card's label beside its value, a line. */
function roomBeside(worth) {
  return CARD.width - INSIDE.edges - (worth === undefined ? 0 : widthOf(worth) + INSIDE.worth);
}

/** How many lines a thought's label would like to have. */
function linesOf(search, thought) {
  return broken(labelOf(search, thought), roomFor(worthOf(thought), thought.id === search.chosen));
}

function roomFor(worth, bold) {
  return roomBeside(worth) / (bold ? BOLD : 1);
}

/** How many lines a text takes, broken between words as the page does it. */
function broken(text, room) {
  let [lines, at] = [1, 0];
  for (const word of text.split(" ")) {
    const wide = widthOf(word);
    if (at && at + widthOf(" ") + wide <= room) at += widthOf(" ") + wide;
    else {
      if (at) lines++;
      lines += Math.ceil(wide / room) - 1;
      at = wide % room || room;
    }
  }
  return lines;
}

/** A label cut in its middle where it is too long for its lines: its end tells as much as its start. */
function fitted(label, worth, lines, bold) {
  const room = roomFor(worth, bold);
  const fits = (text) => (lines > 1 ? broken(text, room) <= lines : widthOf(text) <= room);
  if (fits(label)) return label;
  const end = label.slice(-TAIL);
  let [low, high] = [0, label.length - end.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(`${label.slice(0, middle)}…${end}`)) low = middle;
    else high = middle - 1;
  }
  return `${label.slice(0, low).trimEnd()}…${end}`;
}
