/**
 * A client that compares every answer with the document that the server publishes: a documented status, a body of
 * exactly the documented schema, the one error shape, X-Request-Id. Each call checks all of this.
 */
import assert from 'node:assert/strict';
import { Agent, type OutgoingHttpHeaders, request } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies freely, and this client checks their shape
  readonly body: any;
}

export interface Sent {
  readonly headers?: OutgoingHttpHeaders;
  /** Text and bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
}

export type Client = (method: string, path: string, sent?: Sent) => Promise<Answered>;

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: object }>> }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export async function createClient(url: string): Promise<Client> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const check = checkBy((await exchange(agent, url, 'GET', '/openapi.json', {})).text.replaceAll(url, ''));
  return async (method, path, sent = {}) => {
    const answered = await exchange(agent, url, method, path, sent);
    check(method, path, answered, isOpened(method, path, sent));
    return answered;
  };
}

/** True if a person opens a page: outside the API, a GET that accepts text/html. Its errors are pages. */
const isOpened = (method: string, path: string, { headers }: Sent): boolean =>
  method === 'GET' &&
  /^text\/html$/.test(String(headers?.['Accept'] ?? headers?.['accept'])) &&
  !/^\/(payment-api|merchant-api|v1)([/?]|$)/.test(path);

function exchange(agent: Agent, url: string, method: string, path: string, { headers, body }: Sent): Promise<Answered> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const content = body === undefined || raw ? body : JSON.stringify(body);
  const type = body === undefined || raw ? {} : { 'Content-Type': 'application/json' };
  const length =
    content === undefined || headers?.['Transfer-Encoding']
      ? {}
      : { 'Content-Length': Buffer.byteLength(content as string) };
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const options = { agent, method, hostname, port, path, headers: { ...type, ...length, ...headers } };
    const outgoing = request(options, async (incoming) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const isJson = /json/.test(incoming.headers['content-type'] ?? '') && text !== '';
      resolve({
        status: incoming.statusCode ?? 0,
        headers: incoming.headers,
        text,
        body: isJson ? JSON.parse(text) : undefined,
      });
    });
    outgoing.on('error', reject);
    outgoing.end(content);
  });
}

type Check = (method: string, path: string, answered: Answered, opened: boolean) => void;

/** By the published document without the server's own URL: worlds of one process publish the same, and its validators take long to compile. */
const checks = new Map<string, Check>();

function checkBy(document: string): Check {
  const check = checks.get(document) ?? conformance(JSON.parse(document));
  checks.set(document, check);
  return check;
}

function conformance(document: Document): Check {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addVocabulary(['x-enum-varnames']);
  ajv.addSchema({ $id: 'api', $defs: referable(closedCopy(document.components.schemas)) });
  const compiled = new Map<object, ValidateFunction>();
  const validator = (schema: object): ValidateFunction => {
    const known = compiled.get(schema) ?? ajv.compile(referable(closedCopy(schema)));
    compiled.set(schema, known);
    return known;
  };
  const problem = ajv.compile({ $ref: 'api#/$defs/ErrorResponse' });
  const paths = Object.entries(document.paths).map(([path, item]) => ({
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
    item,
  }));

  return (method, path, { status, headers, text, body }, opened) => {
    const about = `${method} ${path} → ${status} ${text.slice(0, 300)}`;
    assert.ok(headers['x-request-id'], `an answer without X-Request-Id: ${about}`);
    // Errors below the routers, such as a broken request line, stay JSON.
    if (status >= 400 && opened && headers['content-type'] === 'text/html; charset=utf-8') {
      assert.ok(text.includes(String(headers['x-request-id'])), about);
    } else if (status >= 400 && method !== 'HEAD' && !(status === 503 && path.startsWith('/readyz'))) {
      assert.equal(headers['content-type'], 'application/json; charset=utf-8', about);
      assert.equal(problem(body), true, `${about} ${ajv.errorsText(problem.errors)}`);
      assert.equal(body.status, status, about);
      assert.equal(body.requestId, headers['x-request-id'], about);
    }
    if (status === 503) assert.match(String(headers['retry-after']), /^[1-9][0-9]*$/, about);
    if (status === 401) assert.match(String(headers['www-authenticate']), /^Bearer /, about);
    if (status === 405) assert.ok(headers['allow'], about);

    const operation = paths.find(({ pattern }) => pattern.test(path.split('?')[0] ?? ''))?.item[method.toLowerCase()];
    if (!operation) return;
    const documented = operation.responses[status];
    assert.ok(documented, `a status that is not documented: ${about}`);
    const schema = documented.content?.['application/json']?.schema;
    if (!schema) return;
    const validate = validator(schema);
    assert.equal(validate(body), true, `${about} ${ajv.errorsText(validate.errors)}`);
  };
}

/** Closes each object of an answer's schema: an undocumented field is a leak, or a gap in the document. */
function closedCopy(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closedCopy);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closedCopy(value)]));
  return typeof copy['properties'] === 'object' && 'type' in copy ? { additionalProperties: false, ...copy } : copy;
}

/** Points references to components at the validator's copies. */
const referable = (schema: unknown): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"api#/$defs/'));
