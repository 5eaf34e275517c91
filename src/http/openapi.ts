/** The OpenAPI 3.1 document, made from the same routes and schemas that serve the requests. */
import type { TSchema } from 'typebox';
import { webhookEventTypes } from '../../domain/webhook.ts';
import { type ErrorCode, ErrorResponse, statusOfError } from './errors.ts';
import type { AnswerSpec, AnyRoute, Auth } from './route.ts';
import * as base from './schemas/base.ts';
import * as requests from './schemas/requests.ts';
import * as responses from './schemas/responses.ts';

type Json = Readonly<Record<string, unknown>>;

/** Schemas with a title are components and are referred to by it. */
const components: Readonly<Record<string, Json>> = Object.fromEntries(
  [...Object.values(base), ...Object.values(requests), ...Object.values(responses), ErrorResponse]
    .map((value): Json => (typeof value === 'object' ? { ...value } : {}))
    .flatMap((schema) => (typeof schema['title'] === 'string' ? [[schema['title'], schema]] : [])),
);

export function openApiDocument(routes: readonly AnyRoute[]): object {
  const documented = routes.filter(({ doc }) => doc !== null);
  const paths = Map.groupBy(documented, ({ path }) => path);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Payment Intents',
      version: '1.0.0',
      description:
        'Take a customer’s stablecoin payment on one chain and be paid out on another. Amounts are decimal strings, times are ISO 8601 UTC. Every answer carries X-Request-Id. Unknown fields and parameters are refused.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'Payments', description: 'Create and read payments' },
      { name: 'Merchant', description: 'What an app’s owner reads: needs a key of scope admin' },
      { name: 'Operations', description: 'For balancers and monitoring' },
    ],
    paths: Object.fromEntries(
      [...paths].map(([path, here]) => [
        path,
        Object.fromEntries(here.map((route) => [route.method, operation(route)])),
      ]),
    ),
    webhooks: Object.fromEntries(webhookEventTypes.map((type) => [type, webhook(type)])),
    components: {
      schemas: Object.fromEntries(Object.entries(components).map(([name, schema]) => [name, inside(schema)])),
      securitySchemes: {
        ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        BearerKey: { type: 'http', scheme: 'bearer', description: 'The same API key' },
      },
    },
  };
}

const keys = [{ ApiKey: [] }, { BearerKey: [] }];
const security: Readonly<Record<Auth, readonly object[]>> = {
  none: [],
  optional: [{}, ...keys],
  orders: keys,
  admin: keys,
};

function operation(route: AnyRoute): Json {
  const { doc, auth, params, query, body, answers } = route;
  const scope = auth === 'admin' ? 'Needs a key of scope admin.' : '';
  const description = [doc?.description, scope].filter(Boolean).join(' ');
  return {
    operationId: doc?.id,
    tags: [doc?.tag],
    summary: doc?.summary,
    ...(description ? { description } : {}),
    security: security[auth],
    parameters: [...parameters(params, 'path'), ...parameters(query, 'query')],
    ...(body ? { requestBody: { required: true, content: { 'application/json': { schema: refer(body) } } } } : {}),
    responses: { ...objectMap(answers, answer), ...problems(route) },
  };
}

const requestIdHeader = { 'X-Request-Id': { schema: { type: 'string' }, description: 'Quote it in questions.' } };

const answer = ({ description, schema }: AnswerSpec): Json => ({
  description,
  headers: requestIdHeader,
  content: schema
    ? { 'application/json': { schema: refer(schema) } }
    : { 'text/plain': { schema: { type: 'string' } } },
});

/** Errors of one status share an entry. */
function problems({ errors, body, always, answers }: AnyRoute): Json {
  const anywhere: ErrorCode[] = always ? [] : ['rateLimited', 'unavailable'];
  const ofBody: ErrorCode[] = body ? ['payloadTooLarge', 'unsupportedMediaType'] : [];
  const ofParameters: ErrorCode[] = ['invalidRequest'];
  const all = new Set<ErrorCode>([...errors, ...ofParameters, ...ofBody, ...anywhere]);
  const byStatus = Map.groupBy(all, statusOfError);
  return Object.fromEntries(
    [...byStatus]
      .filter(([status]) => !(status in answers))
      .map(([status, codes]) => [
        status,
        {
          description: codes.join(', '),
          headers:
            status === 429 || status === 503
              ? { ...requestIdHeader, 'Retry-After': { schema: { type: 'integer' } } }
              : requestIdHeader,
          content: { 'application/json': { schema: refer(ErrorResponse) } },
        },
      ]),
  );
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

function parameters(schema: TSchema | undefined, where: 'path' | 'query'): readonly Json[] {
  if (!schema) return [];
  const { properties, required = [] } = schema as unknown as ObjectSchema;
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: required.includes(name),
    schema: refer(property),
  }));
}

const webhook = (type: string): Json => ({
  post: {
    operationId: type,
    tags: ['Payments'],
    summary:
      type === 'payment_payin_completed' ? 'The payin is confirmed' : 'The payout is confirmed: fulfil the order',
    description:
      'Sent once, never again. X-Service-Signature is sha256= and the hex HMAC-SHA256, under the webhook secret, of X-Service-Timestamp (Unix milliseconds), a dot, and the raw body.',
    security: [],
    parameters: ['X-Service-Timestamp', 'X-Service-Signature'].map((name) => ({
      name,
      in: 'header',
      required: true,
      schema: { type: 'string' },
    })),
    requestBody: { required: true, content: { 'application/json': { schema: refer(responses.WebhookEvent) } } },
    responses: { '2XX': { description: 'Received' }, '4XX': { description: 'Not accepted; it is not sent again' } },
  },
});

/** A schema with a title becomes a reference by that title; copies of it do, too. */
function refer(schema: object): Json {
  const { title } = schema as Json;
  return typeof title === 'string' && title in components
    ? { $ref: `#/components/schemas/${title}` }
    : inside(schema as Json);
}

const inside = (schema: Json): Json =>
  Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, insideValue(key, value)]));

/** Values under these keywords are data, not schemas. */
const dataKeywords = new Set(['enum', 'examples', 'default', 'const', 'required', 'type']);

function insideValue(key: string, value: unknown): unknown {
  if (dataKeywords.has(key) || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => (typeof item === 'object' ? refer(item) : item));
  return key === 'properties' || key === 'patternProperties'
    ? objectMap(value as Record<string, Json>, refer)
    : refer(value);
}

const objectMap = <V, R>(entries: Readonly<Record<string, V>>, make: (value: V) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, make(value)]));
