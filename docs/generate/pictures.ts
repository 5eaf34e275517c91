/**
 * Makes docs/images/*.svg from the text beside them. A picture has boxes with arrows between them, or messages of actors over time.
 * It throws if a text does not fit into its box, or if two boxes overlap.
 */
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../images/', import.meta.url);

/** Names of all pictures, without folder and extension. */
export const pictureNames = (): readonly string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.txt'))
    .map((name) => name.slice(0, -'.txt'.length))
    .sort();

export const pictureOf = (name: string): string => draw(readFileSync(new URL(`${name}.txt`, folder), 'utf8'));

const head_px = 16;
const label_px = 14;
const lineHeight_px = 19;
/** Average width of a letter in a sans-serif font, as a part of its size. */
const letter = 0.53;
const widthOf = (text: string, size: number): number => text.length * size * letter;

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Box extends Point {
  readonly w: number;
  readonly h: number;
  readonly lines: readonly string[];
  readonly isStore: boolean;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const textAt = ({ x, y }: Point, text: string, kind: string): string =>
  `<text class="${kind}" x="${x}" y="${y}">${escaped(text)}</text>`;

/** A label with the paper's colour behind it, so that a line below does not cross the letters. */
function labelAt({ x, y }: Point, text: string, kind = 'label'): string {
  const width = Math.ceil(widthOf(text, label_px)) + 4;
  return `<rect class="ground" x="${x - width / 2}" y="${y - label_px + 1}" width="${width}" height="${label_px + 3}"/>${textAt({ x, y }, text, kind)}`;
}

const style = `
svg { --paper: #ffffff; --ink: #1b1d22; --soft: #50565f; --line: #7b828c; --box: #f3f2ee; --zone: #eaf2ef; --accent: #0a5c48 }
@media (prefers-color-scheme: dark) {
  svg { --paper: #14161a; --ink: #eeeae2; --soft: #b4bac4; --line: #858d99; --box: #23262c; --zone: #192622; --accent: #6fd3b2 }
}
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: ${label_px}px; fill: var(--ink); text-anchor: middle }
.head { font-size: ${head_px}px; font-weight: 600 }
.soft, .label { fill: var(--soft) }
.zoneName { fill: var(--accent); font-weight: 600; text-anchor: start }
.status { fill: var(--accent) }
.left { text-anchor: start }
.paper, .ground { fill: var(--paper) }
.box { fill: var(--box); stroke: var(--line) }
.zone { fill: var(--zone); stroke: var(--accent); stroke-dasharray: 5 4 }
.line { fill: none; stroke: var(--line); stroke-width: 1.5 }
.life { stroke: var(--line); stroke-dasharray: 2 5 }
.tip { fill: var(--line) }`;

const frame = (w: number, h: number, title: string, parts: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}" role="img" aria-labelledby="title">
<title id="title">${escaped(title)}</title>
<style>${style}
</style>
<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0 10 5 0 10z"/></marker></defs>
<rect class="paper" width="${w}" height="${h}"/>
${parts.join('\n')}
</svg>
`;

/** @throws Error that names the line which cannot be drawn */
export function draw(source: string): string {
  const [first = '', ...lines] = source.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const [kind, ...sizes] = first.split(' ');
  const [w = 0, h = 0] = sizes.map(Number);
  const title = lines.find((line) => line.startsWith('title '))?.slice('title '.length) ?? '';
  const rest = lines.filter((line) => !line.startsWith('title '));
  if (kind === 'boxes') return frame(w, h, title, drawBoxes(rest, { w, h }));
  if (kind === 'sequence') return drawSequence(rest, w, title);
  throw new Error(`a picture has boxes or a sequence, not ${kind}`);
}

function drawBoxes(lines: readonly string[], size: { readonly w: number; readonly h: number }): readonly string[] {
  const boxes = new Map<string, Box>();
  const zones: string[] = [];
  const shapes: string[] = [];
  const arrows: string[] = [];
  for (const line of lines) {
    const [word = '', ...words] = line.split(' ');
    if (word === 'zone') zones.push(zone(words));
    else if (word === 'box' || word === 'store') {
      const [name = '', ...stated] = words;
      const box = boxOf(stated, word === 'store');
      checkBox(name, box, boxes, size);
      boxes.set(name, box);
      shapes.push(shape(box));
    } else if (word === 'arrow') arrows.push(arrow(words.join(' '), boxes));
    else if (word === 'text') {
      const [x, y, ...text] = words;
      shapes.push(textAt({ x: Number(x), y: Number(y) }, text.join(' '), 'left'));
    } else throw new Error(`no part of a picture: ${line}`);
  }
  return [...zones, ...arrows, ...shapes];
}

function zone([x = '', y = '', w = '', h = '', ...name]: readonly string[]): string {
  const rect = `<rect class="zone" x="${x}" y="${y}" width="${w}" height="${h}" rx="12"/>`;
  return rect + textAt({ x: Number(x) + 14, y: Number(y) + 24 }, name.join(' '), 'zoneName');
}

function boxOf([x, y, w, h, ...text]: readonly string[], isStore: boolean): Box {
  const lines = text.join(' ').split(' | ');
  return { x: Number(x), y: Number(y), w: Number(w), h: Number(h), lines, isStore };
}

function checkBox(
  name: string,
  box: Box,
  others: ReadonlyMap<string, Box>,
  { w, h }: { readonly w: number; readonly h: number },
): void {
  for (const [index, line] of box.lines.entries())
    if (widthOf(line, index === 0 ? head_px : label_px) > box.w - 8)
      throw new Error(`box ${name} is too narrow for "${line}"`);
  if (box.lines.length * lineHeight_px + 8 > box.h) throw new Error(`box ${name} is too low for its text`);
  if (box.x < 0 || box.y < 0 || box.x + box.w > w || box.y + box.h > h)
    throw new Error(`box ${name} is outside of the picture`);
  for (const [other, { x, y, w: width, h: height }] of others)
    if (box.x < x + width && x < box.x + box.w && box.y < y + height && y < box.y + box.h)
      throw new Error(`boxes ${name} and ${other} overlap`);
}

function shape({ x, y, w, h, lines, isStore }: Box): string {
  const outline = isStore
    ? `<path class="box" d="M${x} ${y + 8}c0 -11 ${w} -11 ${w} 0v${h - 16}c0 11 ${-w} 11 ${-w} 0z"/><path class="line" d="M${x} ${y + 8}c0 11 ${w} 11 ${w} 0"/>`
    : `<rect class="box" x="${x}" y="${y}" width="${w}" height="${h}" rx="8"/>`;
  const top = y + h / 2 - ((lines.length - 1) * lineHeight_px) / 2 + 5 + (isStore ? 4 : 0);
  const texts = lines.map((line, index) =>
    textAt({ x: x + w / 2, y: top + index * lineHeight_px }, line, index === 0 ? 'head' : 'soft'),
  );
  return outline + texts.join('');
}

/** An arrow's label can name its place: `… | label @120,40`. A point is `box.side`, `box.side+12` along the side, or `x,y`. */
function pointOf(stated: string, boxes: ReadonlyMap<string, Box>): Point {
  const [, x, y] = /^(\d+),(\d+)$/.exec(stated) ?? [];
  if (x !== undefined) return { x: Number(x), y: Number(y) };
  const [, name = '', side, shift = '0'] = /^(\w+)\.(left|right|top|bottom)([+-]\d+)?$/.exec(stated) ?? [];
  const box = boxes.get(name);
  if (!box || !side) throw new Error(`an arrow leads to nothing: ${stated}`);
  const middle = { x: box.x + box.w / 2, y: box.y + box.h / 2 };
  const along = Number(shift);
  if (side === 'left' || side === 'right') return { x: side === 'left' ? box.x : box.x + box.w, y: middle.y + along };
  return { x: middle.x + along, y: side === 'top' ? box.y : box.y + box.h };
}

function arrow(stated: string, boxes: ReadonlyMap<string, Box>): string {
  const [way = '', text] = stated.split(' | ');
  const [label, place] = text?.split(' @') ?? [];
  const points = way.split(' ').map((each) => pointOf(each, boxes));
  const line = `<path class="line" marker-end="url(#tip)" d="M${points.map(({ x, y }) => `${x} ${y}`).join(' L')}"/>`;
  if (label === undefined) return line;
  if (place !== undefined) return line + textAt(pointOf(place, boxes), label, 'label');
  const { at, isLevel } = labelPlace(points);
  return line + (isLevel ? textAt(at, label, 'label') : labelAt(at, label));
}

/** On the longest part of the way: above a level line, in the middle of a steep one. */
function labelPlace(points: readonly Point[]): { readonly at: Point; readonly isLevel: boolean } {
  const parts = points.slice(1).map((end, index) => [points[index] as Point, end] as const);
  const length = ([a, b]: readonly [Point, Point]) => Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
  const [from, to] = parts.reduce((longest, part) => (length(part) > length(longest) ? part : longest));
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const isLevel = Math.abs(from.x - to.x) > Math.abs(from.y - to.y);
  return { at: { ...middle, y: middle.y + (isLevel ? -7 : 5) }, isLevel };
}

const actorTop_px = 16;
const actorHeight_px = 40;
const firstMessage_px = 96;
const message_px = 36;
const statusRoom_px = 20;

function drawSequence(lines: readonly string[], width: number, title: string): string {
  const actors = lines
    .filter((line) => line.startsWith('actor '))
    .map((line) => {
      const [, name = '', ...label] = line.split(' ');
      return { name, label: label.join(' ') };
    });
  const step = width / actors.length;
  const place = new Map(actors.map(({ name }, index) => [name, step * (index + 0.5)]));
  const parts: string[] = [];
  let y = firstMessage_px;
  for (const line of lines.filter((each) => each.startsWith('message '))) {
    const [way = '', label = '', status] = line.slice('message '.length).split(' | ');
    const [from = NaN, to = NaN] = way.split(' ').map((name) => place.get(name));
    if (Number.isNaN(from) || Number.isNaN(to)) throw new Error(`a message of nobody: ${line}`);
    parts.push(`<path class="line" marker-end="url(#tip)" d="M${from} ${y} L${to} ${y}"/>`);
    const middle = (from + to) / 2;
    parts.push(labelAt({ x: middle, y: y - 9 }, label));
    if (status !== undefined) parts.push(labelAt({ x: middle, y: y + 20 }, status, 'status'));
    y += message_px + (status === undefined ? 0 : statusRoom_px);
  }
  const heads = actors.map(({ name, label }) => {
    const x = place.get(name) ?? 0;
    const box = {
      x: x - step / 2 + 5,
      y: actorTop_px,
      w: step - 10,
      h: actorHeight_px,
      lines: [label],
      isStore: false,
    };
    checkBox(name, box, new Map(), { w: width, h: y });
    return `<path class="life" d="M${x} ${actorTop_px + actorHeight_px} V${y}"/>${shape(box)}`;
  });
  return frame(width, y + 10, title, [...heads, ...parts]);
}
