/** Makes docs/reference/limits.md from the table that the OpenAPI document has as well. */

import { limitsTable } from '../../src/api/limits.ts';
import * as bounds from '../../src/store/node/room.ts';

const count = (number: number): string => number.toLocaleString('en-US');

const nodeLimits: readonly (readonly [what: string, limit: string, beyond: string])[] = [
  ['one append’s data', '1,048,576 bytes, as in EventStoreDB', 'refused'],
  ['the same with metadata and types', `${count(bounds.appendMost_bytes)} bytes`, 'refused'],
  ['parts of one request', count(bounds.partsMost), 'refused'],
  [
    'appends of one call that are not whole',
    `${count(bounds.pendingMost)}, ${count(bounds.pendingMost_bytes)} bytes, ${bounds.pendingMost_ms / 1_000} s`,
    'refused: busy, or late',
  ],
  [
    'changes that wait to be written',
    `${count(bounds.queuedMost)}, ${count(bounds.queuedMost_bytes)} bytes`,
    'refused: busy',
  ],
  [
    'a page of a read',
    `${bounds.pageMost} events, ${count(bounds.pageMost_bytes)} bytes and one event`,
    'the next page',
  ],
  [
    'what waits for a slow reader',
    `${bounds.unsentMost} messages, ${count(bounds.unsentMost_bytes)} bytes and one message`,
    'the read waits',
  ],
  ['prefixes of a filter', count(bounds.prefixesMost), 'refused'],
  ['calls that filter by regular expressions', count(bounds.expressionsMost), 'refused'],
  ['an expression’s time for a page of events', `${bounds.expressionMost_ms / 1_000} s`, 'its call fails'],
  ['free space on the disk', `${count(bounds.roomLeast_bytes)} bytes at least`, 'appends are refused; reads go on'],
  ['the node’s silence', `${bounds.silenceMost_ms / 1_000} s`, 'killed and started again'],
];

export const limitsDocument = (): string => `# Limits

Made by \`npm run docs\` from the constants in the code; do not edit. The API's document at \`/openapi.json\` has the same table. Those of
connections, times, rates and the signer are the defaults of settings: \`.env.example\`.

${limitsTable()}

Every refusal is \`{ error, message, requestId, errors: [{ pointer, message }] }\`: \`pointer\` names the field, \`message\` says what to do.
Numbers in \`metadata\` come back as JavaScript reads them: send those of more than 15 digits as text.

## The embedded event store

What its clients can ask of it: the service, auditors, and whoever else reaches its port.

| what | limit | beyond it |
| --- | --- | --- |
${nodeLimits.map((row) => `| ${row.join(' | ')} |`).join('\n')}`;
