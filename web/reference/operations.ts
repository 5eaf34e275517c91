/** Operations of the OpenAPI document, read for the pages of the reference. */

import type { DocumentJson } from '../../src/api/openapi/components.ts';

export interface Parameter {
  readonly name: string;
  readonly where: string;
  readonly required: boolean;
  readonly schema: DocumentJson;
}

export interface ApiAnswer {
  readonly status: string;
  readonly description: string;
  readonly type: string | null;
  readonly schema: DocumentJson | null;
}

/** none: no credential. optional: a key or none. key: an API key. person: the token of a signed-in person. */
export type Credential = 'none' | 'optional' | 'key' | 'person';

export interface ApiOperation {
  readonly id: string;
  readonly tag: string;
  readonly method: string;
  /** Null for a webhook, which the service sends. */
  readonly path: string | null;
  readonly summary: string;
  readonly description: string;
  readonly credential: Credential;
  /** True if only a key of scope admin may call it. */
  readonly needsAdmin: boolean;
  readonly parameters: readonly Parameter[];
  /** Media type and schema of the request's body; null without one. */
  readonly body: { readonly type: string; readonly schema: DocumentJson } | null;
  readonly answers: readonly ApiAnswer[];
  /** Text that searches compare, in lower case. */
  readonly searched: string;
}

export interface Reference {
  /** URL of the service, without a trailing slash. */
  readonly url: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly operations: readonly ApiOperation[];
  readonly document: DocumentJson;
}

const record = (value: unknown): DocumentJson => (value ?? {}) as DocumentJson;
const list = (value: unknown): readonly DocumentJson[] => (value ?? []) as readonly DocumentJson[];
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export function readReference(document: DocumentJson): Reference {
  const calls = Object.entries(record(document['paths'])).flatMap(([path, methods]) =>
    Object.entries(record(methods)).map(([method, call]) => readOperation(document, method, path, record(call))),
  );
  const webhooks = Object.values(record(document['webhooks'])).map((each) =>
    readOperation(document, 'post', null, record(record(each)['post'])),
  );
  return {
    url: text(list(document['servers'])[0]?.['url']),
    tags: list(document['tags']).map((tag) => ({ name: text(tag['name']), description: text(tag['description']) })),
    operations: [...calls, ...webhooks],
    document,
  };
}

function readOperation(document: DocumentJson, method: string, path: string | null, call: DocumentJson): ApiOperation {
  const [summary, description] = [text(call['summary']), text(call['description'])];
  const [body] = contentOf(document, record(call['requestBody']));
  const parameters = list(call['parameters']).map((each) => ({
    name: text(each['name']),
    where: text(each['in']),
    required: each['required'] === true,
    schema: record(each['schema']),
  }));
  const answers = Object.entries(record(call['responses'])).map(([status, each]) => {
    const answer = resolve(document, record(each));
    const [content] = contentOf(document, answer);
    return {
      status,
      description: text(answer['description']),
      type: content?.type ?? null,
      schema: content?.schema ?? null,
    };
  });
  const id = text(call['operationId']);
  const fields = body ? Object.keys(record(resolve(document, body.schema)['properties'])) : [];
  const names = parameters.map(({ name }) => name);
  return {
    id,
    tag: text((call['tags'] as readonly unknown[] | undefined)?.[0]),
    method: method.toUpperCase(),
    path,
    summary,
    description,
    credential: credentialOf(list(call['security'])),
    needsAdmin: description.includes('scope admin'),
    parameters,
    body: body ?? null,
    answers,
    searched: [id, method, path, summary, description, ...names, ...fields].join(' ').toLowerCase(),
  };
}

function credentialOf(security: readonly DocumentJson[]): Credential {
  if (security.length === 0) return 'none';
  if (security.some((each) => Object.keys(each).length === 0)) return 'optional';
  return security.some((each) => 'ApiKey' in each) ? 'key' : 'person';
}

const contentOf = (_document: DocumentJson, { content }: DocumentJson) =>
  Object.entries(record(content)).map(([type, each]) => ({ type, schema: record(record(each)['schema']) }));

/** Follows references, at most 8 in a row. */
export function resolve(document: DocumentJson, schema: DocumentJson): DocumentJson {
  let found = schema;
  for (let step = 0; step < 8 && typeof found['$ref'] === 'string'; step += 1) {
    const { $ref, ...own } = found;
    const target = String($ref)
      .slice('#/'.length)
      .split('/')
      .reduce<DocumentJson>((inside, name) => record(inside[name]), document);
    found = { ...target, ...own };
  }
  return found;
}

const wordsMax = 8;

/** Operations that contain each word, in the order of the document. */
export function searchOperations({ operations }: Reference, query: string): readonly ApiOperation[] {
  const words = query.toLowerCase().split(/\s+/, wordsMax).filter(Boolean);
  return operations.filter(({ searched }) => words.every((word) => searched.includes(word)));
}

// Fields of a schema as rows.

export interface FieldRow {
  /** Such as `source.chainId` and `payments[].id`. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

const depthMax = 4;
const rowsMax = 150;

/** Fields of an object and of the objects inside, 4 levels deep, at most 150. */
export function schemaRows(document: DocumentJson, schema: DocumentJson): readonly FieldRow[] {
  const rows: FieldRow[] = [];
  add(schema, '', 1);
  return rows;

  function add(part: DocumentJson, prefix: string, depth: number): void {
    const { properties, required } = objectIn(document, part);
    const needed = new Set((required ?? []) as readonly string[]);
    for (const [name, value] of Object.entries(record(properties))) {
      if (rows.length >= rowsMax) return;
      const field = record(value);
      const items = itemsOf(document, field);
      const path = `${prefix}${name}${items ? '[]' : ''}`;
      const description = text(field['description']) || text(withoutNull(document, field)['description']);
      rows.push({ name: path, type: typeOf(document, field), required: needed.has(name), description });
      if (depth < depthMax) add(items ?? field, `${path}.`, depth + 1);
    }
  }
}

/** The schema itself, or its alternative to null. */
function withoutNull(document: DocumentJson, schema: DocumentJson): DocumentJson {
  const found = resolve(document, schema);
  const [only] = list(found['anyOf']).filter((each) => each['type'] !== 'null');
  return only ? resolve(document, only) : found;
}

const objectIn = (document: DocumentJson, schema: DocumentJson): DocumentJson => withoutNull(document, schema);

function itemsOf(document: DocumentJson, schema: DocumentJson): DocumentJson | null {
  const { items } = withoutNull(document, schema);
  return items === undefined ? null : record(items);
}

const valuesMax = 16;

/** Such as "string or null", "one of open, closed" and "list of objects". */
export function typeOf(document: DocumentJson, schema: DocumentJson): string {
  const found = resolve(document, schema);
  const inner = withoutNull(document, schema);
  const isNullable = inner !== found && list(found['anyOf']).some((each) => each['type'] === 'null');
  const types = [inner['type']].flat().filter((type) => type !== 'null');
  const orNull = isNullable || [inner['type']].flat().includes('null') ? ' or null' : '';
  const values = inner['enum'] as readonly unknown[] | undefined;
  if (values) {
    const more = values.length > valuesMax ? ' …' : '';
    return `one of ${values.slice(0, valuesMax).map(String).join(', ')}${more}${orNull}`;
  }
  if (inner['const'] !== undefined) return `${String(inner['const'])}${orNull}`;
  if (inner['items'] !== undefined) return `list of ${typeOf(document, record(inner['items']))}${orNull}`;
  return `${types.join(' or ') || 'any'}${orNull}`;
}
