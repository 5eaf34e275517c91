import type { StoredEvent } from '../../domain/decider.ts';
import { eachField, textAt } from './wire.ts';

/** `ReadResp.event`: a message of one of several kinds begins with the field that says which. */
const eventTag = 0x0a;
const json = 'application/json';

/**
 * The event in a `ReadResp` (event_store.client.streams) that was asked for with ids as text; null when the message says
 * something else. Straight from the bytes: by way of the generated messages an event costs three times as much.
 */
export function recordedEvent(message: Buffer): StoredEvent | null {
  if (message[0] !== eventTag) return null;
  const read = { stream: '', revision: 0, position: 0, id: '', type: '', contentType: '', metadata: '', data: [0, 0] };

  function field(number: number, value: number, end: number): void {
    if (number === 1) eachField(message, value, end, id);
    else if (number === 2) eachField(message, value, end, stream);
    else if (number === 3) read.revision = value;
    else if (number === 5) read.position = value;
    else if (number === 6) property(value, end);
    else if (number === 7) read.metadata = textAt(message, value, end);
    else if (number === 8) read.data = [value, end];
  }
  function id(number: number, value: number, end: number): void {
    if (number === 2) read.id = textAt(message, value, end);
  }
  function stream(number: number, value: number, end: number): void {
    if (number === 3) read.stream = textAt(message, value, end);
  }
  function property(from: number, to: number): void {
    let key = '';
    eachField(message, from, to, (number, value, end) => {
      if (number === 1) key = textAt(message, value, end);
      else if (key === 'type') read.type = textAt(message, value, end);
      else if (key === 'content-type') read.contentType = textAt(message, value, end);
    });
  }
  eachField(message, 0, message.length, (answer, from, to) => {
    if (answer !== 1) return;
    eachField(message, from, to, (part, begin, end) => {
      if (part === 1) eachField(message, begin, end, field);
    });
  });

  const [from = 0, to = 0] = read.data;
  return {
    stream: read.stream,
    revision: BigInt(read.revision),
    position: BigInt(read.position),
    id: read.id,
    type: read.type,
    data: read.contentType === json ? parsed(textAt(message, from, to)) : Uint8Array.from(message.subarray(from, to)),
    metadata: parsed(read.metadata) as StoredEvent['metadata'],
  };
}

/** What others wrote into this store may be no JSON: it is passed on as it is. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text === '' ? undefined : text;
  }
}
