/**
 * Draws the rooms of the tree into architecture.md from rooms.json, the list that the dependency rules enforce: what each room
 * holds, and which others it may import.
 */
import list from './rooms.json' with { type: 'json' };

interface Room {
  readonly path: string;
  readonly holds: string;
  readonly may: readonly string[];
}

const rooms: readonly Room[] = list.rooms;
const marks = { begin: '<!-- rooms -->', end: '<!-- end of rooms -->' };

/** @returns the page with today's picture and table between its marks. @throws Error when the page has no marks */
export function withRooms(page: string): string {
  const [before, rest] = page.split(marks.begin);
  const [, after] = (rest ?? '').split(marks.end);
  if (before === undefined || after === undefined) throw new Error(`the page has no ${marks.begin} … ${marks.end}`);
  return `${before}${marks.begin}\n${picture()}\n\n${table()}\n${marks.end}${after}`;
}

/** An arrow says "may import". Arrows that follow from two others are left out, and `domain`, which every room may import. */
function picture(): string {
  const arrows = rooms.flatMap(({ path, may }) =>
    may
      .filter((to) => to !== 'domain' && !may.some((via) => via !== to && reaches(via, to)))
      .map((to) => `  ${idOf(path)} --> ${idOf(to)}`),
  );
  const nodes = rooms.map(({ path }) => `  ${idOf(path)}["${path}/"]`);
  return ['```mermaid', 'flowchart TD', ...nodes, ...arrows, '```'].join('\n');
}

const mayOf = (path: string): readonly string[] => rooms.find((room) => room.path === path)?.may ?? [];

const reaches = (from: string, to: string): boolean => mayOf(from).some((next) => next === to || reaches(next, to));

const idOf = (path: string): string => path.replaceAll(/[^a-z]/gi, '_');

function table(): string {
  const rows = [
    ...rooms.map(({ path, holds, may }) => [
      code(path),
      holds,
      may.map((each) => `\`${each}\``).join(', ') || 'nothing',
    ]),
    ...list.others.map(({ path, holds }) => [code(path), holds, 'any room']),
  ];
  return [['room', 'holds', 'may import'], ['---', '---', '---'], ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');
}

const code = (path: string): string => `\`${path}/\``;
