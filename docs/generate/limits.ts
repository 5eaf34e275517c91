/** Makes docs/reference/limits.md from the table that the OpenAPI document has as well. */

import { limitsTable } from '../../src/api/limits.ts';
import * as bounds from '../../src/store/node/room.ts';

const count = (number: number): string => number.toLocaleString('en-US');

const nodeLimits: readonly (readonly [what: string, limit: string, beyond: string])[] = [
  ['one append’s data', '1,048,576 bytes, as in EventStoreDB', 'refused'],
  ['one append’s data with metadata and types', `${count(bounds.appendMost_bytes)} bytes`, 'refused'],
  ['parts of one request', count(bounds.partsMost), 'refused'],
  [
    'incomplete appends of one call',
    `${count(bounds.pendingMost)}, ${count(bounds.pendingMost_bytes)} bytes, ${bounds.pendingMost_ms / 1_000} s`,
    'refused: busy, or late',
  ],
  [
    'changes waiting to be written',
    `${count(bounds.queuedMost)}, ${count(bounds.queuedMost_bytes)} bytes`,
    'refused: busy',
  ],
  [
    'a page of a read',
    `${bounds.pageMost} events, ${count(bounds.pageMost_bytes)} bytes and one event`,
    'the next page',
  ],
  [
    'unsent messages for a slow reader',
    `${bounds.unsentMost} messages, ${count(bounds.unsentMost_bytes)} bytes and one message`,
    'the read waits',
  ],
  ['prefixes of a filter', count(bounds.prefixesMost), 'refused'],
  ['calls that filter by regular expressions', count(bounds.expressionsMost), 'refused'],
  ['an expression’s time for a page of events', `${bounds.expressionMost_ms / 1_000} s`, 'its call fails'],
  ['free space on the disk', `${count(bounds.roomLeast_bytes)} bytes at least`, 'appends are refused; reads continue'],
  ['no sign of life of the node', `${bounds.silenceMost_ms / 1_000} s`, 'restarted'],
];

export const limitsDocument = (): string => `# Limits

For developers of shops and operators: every limit of the service and of its embedded event store. Made by \`npm run docs\` from the constants in the code; do not
edit. The API's document at \`/openapi.json\` has the same table. Limits of connections, times, rates and the signer are defaults of settings
([configuration.md](configuration.md)).

${limitsTable()}

Every refusal is \`{ error, message, requestId, errors: [{ pointer, message }] }\`: \`pointer\` names the field, \`message\` says what to do.
Numbers in \`metadata\` are parsed as JavaScript numbers: send numbers of more than 15 digits as text.

## The embedded event store

Limits for all clients of its port: the service, auditors and others.

| subject | limit | above it |
| --- | --- | --- |
${nodeLimits.map((row) => `| ${row.join(' | ')} |`).join('\n')}`;
