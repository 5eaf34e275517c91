/** A stream's events as lines of a table: what happened, and what it changed. */
import type { Change, StreamStep } from '../src/readmodels/replayStream.ts';

const widths = { number: 5, position: 12, at: 24, type: 20 };
const valueMax = 66;

const columns = (number: string, position: string, at: string, type: string, change: string): string =>
  [
    number.padStart(widths.number),
    position.padStart(widths.position),
    at.padEnd(widths.at),
    type.padEnd(widths.type),
    change,
  ]
    .join('  ')
    .trimEnd();

export const rule = '─'.repeat(120);

/** Of one event: a line for each change. @param isFirst with the table's head */
export function linesOf({ stored, known, changes }: StreamStep, isFirst: boolean): readonly string[] {
  const head = isFirst ? [columns('#', 'position', 'time', 'event', 'changed')] : [];
  const what = known ? changes.map(changeText) : ['(an event of a newer version of this service)'];
  const [first = '(nothing)', ...more] = what;
  const { revision, position, metadata, type } = stored;
  return [
    ...head,
    rule,
    columns(revision.toString(), position.toString(), metadata.at, type, first),
    ...more.map((change) => columns('', '', '', '', change)),
  ];
}

function changeText({ field, before, after }: Change): string {
  if (before === null) return `${field} = ${short(after)}`;
  return after === null ? `${field}: ${short(before)} is gone` : `${field}: ${short(before)} → ${short(after)}`;
}

/** Signed bytes are long, and texts of merchants may be. */
function short(text: string | null): string {
  const whole = text ?? '';
  return whole.length > valueMax ? `${whole.slice(0, valueMax)}…` : whole;
}

/** For machines: nothing is cut. */
export const recordOf = ({ stored, link, changes, state }: StreamStep) => ({
  stream: stored.stream,
  revision: stored.revision.toString(),
  position: stored.position.toString(),
  type: stored.type,
  at: stored.metadata.at,
  cause: stored.metadata.cause,
  previous: stored.metadata.prev,
  link,
  changes,
  state,
});
