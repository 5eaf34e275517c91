/**
 * What a client sends is looked over before the protobuf decoder gets it. That decoder believes each nested length: one that
 * points beyond the frame makes it read for ever. So whatever it would read otherwise than it is looked over here is refused too.
 * @see https://protobuf.dev/programming-guides/encoding/
 */
import { isUtf8 } from 'node:buffer';
import { partsMost } from './bounds.ts';

/** Wire types by field number: a message within the message, text, bytes, or a number. */
export type Shape = ReadonlyMap<number, Kind>;
type Kind = Shape | 'text' | 'bytes' | 'number';

/** An entry of a map of texts. The decoder does not skip other fields in it: what follows them it would take for the next ones. */
export const entry: Shape = new Map([
  [1, 'text'],
  [2, 'text'],
]);

/** The frame is no message of the kind that the method takes. */
export class MalformedFrame extends Error {
  override readonly name = 'MalformedFrame';
}

const wireType = { number: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const numberMost_bytes = 10;
/** Of a field's number and wire type. The decoder takes the lower half of a longer one. */
const tagMost = 2 ** 32 - 1;

/** @throws MalformedFrame unless every length stays within its message, and every field has its own wire type */
export function checkFrame(frame: Uint8Array, shape: Shape): void {
  let at = 0;
  let parts = 0;

  function number(end: number): number {
    let value = 0;
    for (let count = 0, scale = 1; count < numberMost_bytes; count++, scale *= 128) {
      if (at >= end) throw new MalformedFrame('a number is cut off');
      const next = frame[at++] ?? 0;
      value += (next & 127) * scale;
      if (next < 128) return value;
    }
    throw new MalformedFrame(`a number is longer than ${numberMost_bytes} bytes`);
  }

  /** Where what is so long ends. */
  function endOf(length: number, end: number): number {
    if (length > end - at) throw new MalformedFrame('a length points beyond its message');
    return at + length;
  }

  function field(fields: Shape, end: number): void {
    const tag = number(end);
    const [name, type] = [Math.floor(tag / 8), tag % 8];
    const kind = fields.get(name);
    if (tag > tagMost) throw new MalformedFrame('the number of a field is too large');
    if (!kind && fields === entry) throw new MalformedFrame(`an entry of a map has no field ${name}`);
    if (name === 0 || (kind && type !== (kind === 'number' ? wireType.number : wireType.bytes))) {
      throw new MalformedFrame(`field ${name} cannot have the wire type ${type}`);
    }
    if (type === wireType.number) number(end);
    else if (type === wireType.fixed64) at = endOf(8, end);
    else if (type === wireType.fixed32) at = endOf(4, end);
    else if (type === wireType.bytes) part(kind, endOf(number(end), end));
    else throw new MalformedFrame(`the wire type ${type} is not in use`);
  }

  function part(kind: Kind | undefined, end: number): void {
    if (kind && ++parts > partsMost) throw new MalformedFrame(`a frame has at most ${partsMost} parts`);
    // A character that is cut off would be read to its end, beyond that of the text.
    if (kind === 'text' && !isUtf8(frame.subarray(at, end))) throw new MalformedFrame('a text is not UTF-8');
    if (typeof kind === 'object') message(kind, end);
    else at = end;
  }

  function message(fields: Shape, end: number): void {
    while (at < end) field(fields, end);
  }

  message(shape, frame.length);
}
