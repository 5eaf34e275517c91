/** Makes docs/reference/events.md: every event that is ever stored, from the schemas that each append is checked against. */
import type { TSchema } from 'typebox';
import { chainIds } from '../../domain/chains.ts';
import { Deposit, TokenRef, Transfer } from '../../domain/payment/events.ts';
import { Address, Amount, Digest, Hash, Height, Id, JsonObject, Time, Url } from '../../domain/schema.ts';
import { type Category, categories, streams } from '../../domain/streams.ts';
import { about, meanings } from './meanings.ts';

/** Names of the building blocks of schemas in field tables. */
const words: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [Id, 'id'],
  [Amount, 'amount'],
  [Time, 'time'],
  [Address, 'address'],
  [Hash, 'hash'],
  [Height, 'height'],
  [Digest, 'digest'],
  [Url, 'URL'],
  [JsonObject, 'any JSON object'],
  [TokenRef, '[Token](#token)'],
  [Transfer, '[Transfer](#transfer)'],
  [Deposit, '[Deposit](#deposit)'],
]);

const shapes: Readonly<Record<string, TSchema>> = { Token: TokenRef, Transfer, Deposit };

export function eventCatalogue(): string {
  return [
    introduction,
    ...categories.map(categoryText),
    '## Shapes',
    ...Object.entries(shapes).map(([name, schema]) => `### ${name}\n\n${fieldTable(schema)}`),
  ].join('\n\n');
}

const introduction = `# Events

For auditors, analysts and contributors: every event of the log and its fields. Made by \`npm run docs\` from the schemas in \`domain/\`; do not edit.

Read models, webhooks and statistics are computed from the events. An event is appended once and never changed.

Every event has metadata: \`at\` (time), \`cause\` (the actor), \`appId\`, \`schemaVersion\`, and \`prev\`: the SHA-256 of the previous event in the stream.
So a changed, removed or inserted event is detected. \`prev\` of the first event is null. \`seal\` is an HMAC over the event with a key of the service;
events before \`SealingBegun\` have none.

\`cause\` is \`key:<key id>\`, \`keyless\`, \`operator:<account name>\` or \`worker:<name> <trigger>\`. No header of a request can set it. An event that follows
from a request has its \`requestId\`, which helps to find lines of the log. The sender can choose the request id, so it proves nothing. In the oldest
events \`cause\` has the request id or the worker's name.

| word | meaning |
|---|---|
| amount | digits: the token's smallest unit |
| time | ISO 8601, UTC, milliseconds |
| height | digits: a block number, nonce or sequence |
| address, hash | text in the spelling of the chain |
| digest | SHA-256 as 64 hex digits |
| id | text of 1 to 128 characters |
| chain | one of ${chainIds.join(', ')} |`;

function categoryText(category: Category): string {
  const types = Object.entries<TSchema>(streams[category].schemas);
  const said: Readonly<Record<string, string>> = meanings[category];
  return [
    `## \`${about[category].name}\`\n\n${about[category].about}`,
    table(
      ['event', 'means'],
      types.map(([type]) => [`[${type}](#${type.toLowerCase()})`, said[type] ?? '']),
    ),
    ...types.map(([type, schema]) => `### ${type}\n\n${said[type]}.\n\n${fieldTable(schema)}`),
  ].join('\n\n');
}

const fieldTable = (schema: TSchema): string => table(['field', 'holds'], fields(schema, ''));

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** The parts of JSON Schema that are used here. */
interface Json {
  readonly type?: string;
  readonly anyOf?: readonly Json[];
  readonly enum?: readonly (string | number)[];
  readonly const?: string;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly patternProperties?: Readonly<Record<string, Json>>;
  readonly items?: Json;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

/** One row per field; fields of objects by their path. */
function fields(schema: TSchema, path: string): string[][] {
  return Object.entries((schema as Json).properties ?? {}).flatMap(([name, field]) => {
    const where = path + name;
    const inner = field.anyOf?.find(({ properties }) => properties) ?? (words.has(field) ? undefined : field);
    if (!inner?.properties) return [[`\`${where}\``, holds(field)]];
    const rows = fields(inner as TSchema, `${where}.`);
    return inner === field ? rows : [[`\`${where}\``, 'null, or:'], ...rows];
  });
}

function holds(schema: Json): string {
  const word = words.get(schema);
  if (word) return word;
  // An optional amount is a copy of the building block.
  if (schema.pattern === (Amount as Json).pattern) return 'amount';
  if (schema.anyOf) return schema.anyOf.map(holds).join(' or ');
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.enum)
    return sameMembers(schema.enum, chainIds) ? 'chain' : schema.enum.map((one) => `\`${one}\``).join(' or ');
  if (schema.items?.properties) return `list of objects: ${membersOf(schema.items.properties)}`;
  if (schema.items) return `list of ${holds(schema.items)}`;
  if (schema.patternProperties) return 'texts by name';
  if (schema.type === 'string') return schema.maxLength ? `text, at most ${schema.maxLength} characters` : 'text';
  if (schema.type !== 'integer') return schema.type ?? 'anything';
  return schema.maximum === undefined
    ? `integer from ${schema.minimum}`
    : `integer from ${schema.minimum} to ${schema.maximum}`;
}

const membersOf = (properties: NonNullable<Json['properties']>): string =>
  Object.entries(properties)
    .map(([name, field]) => `\`${name}\` (${holds(field)})`)
    .join(', ');

const sameMembers = (a: readonly unknown[], b: readonly unknown[]): boolean => a.join() === b.join();
