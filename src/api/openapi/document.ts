/** The OpenAPI 3.1 document, generated from the routes and schemas that serve the requests. */
import type { TSchema } from 'typebox';
import { type SentEventType, sentEventTypes } from '../../../domain/webhook.ts';
import type { Auth } from '../auth.ts';
import { type ErrorCode, ErrorResponse, statusOfError } from '../errors.ts';
import type { Upload } from '../input.ts';
import { limitsTable } from '../limits.ts';
import type { AnswerSpec, AnyRoute } from '../router.ts';
import { WebhookEvent } from '../routes/deliveries.ts';
import { FeeType } from '../schemas/base.ts';
import { type Components, createComponents, type DocumentJson, objectMap } from './components.ts';

/** Shared headers and error answers. */
const text = { type: 'string' };
const header = (description: string, schema: DocumentJson = text, required = true): DocumentJson => ({
  description,
  required,
  schema,
});

export const headers: DocumentJson = {
  'X-Request-Id': header('Quote it in questions.'),
  Location: header('URL of the payment.'),
  'Idempotent-Replayed': header('true: the payment existed before.', { type: 'string', enum: ['true'] }),
  RateLimit: header('Remaining requests of the applied limit, and the time of its reset.', text, false),
  'RateLimit-Policy': header('The applied limit: requests per seconds.', text, false),
  'Retry-After': header('Seconds until the next try.', { type: 'integer', minimum: 1 }),
};

const headerRefs = (names: readonly string[]): DocumentJson =>
  Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const json = (schema: DocumentJson): DocumentJson => ({ 'application/json': { schema } });

/** Errors are JSON, or problem details if the Accept header prefers them. */
const error = (schema: DocumentJson): DocumentJson => ({ ...json(schema), 'application/problem+json': { schema } });

/** Answers to any request, by status. No wildcards: some generators write code for them that does not compile. */
const anywhere = {
  408: { name: 'TooSlow', description: 'requestTimeout: the request arrived too slowly' },
  431: { name: 'HeadersTooLarge', description: 'headersTooLarge: the request’s headers are too large' },
  500: { name: 'Failed', description: 'internal: the service failed. Quote the requestId to its operator.' },
} as const;

export const sharedResponses = ({ refer }: Components): DocumentJson =>
  Object.fromEntries(
    Object.values(anywhere).map(({ name, description }) => [
      name,
      { description, headers: headerRefs([]), content: error(refer(ErrorResponse)) },
    ]),
  );

/** Successful answers and declared errors of a route by status, then the answers to any request. */
export function responsesOf(route: AnyRoute, components: Components): DocumentJson {
  return {
    ...objectMap(route.answers, (spec) => answer(spec, components)),
    ...errors(route, components),
    ...objectMap(anywhere, ({ name }) => ({ $ref: `#/components/responses/${name}` })),
  };
}

const answer = (
  { description, schema, type = 'text/plain', headers: names = [] }: AnswerSpec,
  { refer }: Components,
): DocumentJson => ({
  description,
  headers: headerRefs(names),
  content: schema ? json(refer(schema)) : { [type]: { schema: text } },
});

/** Errors of one status share an entry. */
function errors({ errors, body, upload, always, answers }: AnyRoute, { refer }: Components): DocumentJson {
  const passing: ErrorCode[] = always ? [] : ['rateLimited', 'unavailable'];
  const ofBody: ErrorCode[] = body || upload ? ['payloadTooLarge', 'unsupportedMediaType'] : [];
  const ofParameters: ErrorCode[] = ['invalidRequest'];
  const all = new Set<ErrorCode>([...errors, ...ofParameters, ...ofBody, ...passing]);
  const byStatus = Map.groupBy(all, statusOfError);
  return Object.fromEntries(
    [...byStatus]
      .filter(([status]) => !(status in answers))
      .map(([status, codes]) => [
        status,
        {
          description: codes.join(', '),
          headers: headerRefs(headersOf[status] ?? []),
          content: error(refer(ErrorResponse)),
        },
      ]),
  );
}

const headersOf: Readonly<Record<number, readonly string[]>> = {
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
};

/** Webhooks, under a separate tag: otherwise some generators treat them as operations. */
const summaries: Readonly<Record<SentEventType, string>> = {
  payment_payin_completed: 'The payin is confirmed',
  payment_payout_completed: 'The payout is confirmed: fulfil the order',
  payment_held: 'Opt-in. Final money does not count towards the payment and is held: a late, second or wrong payin',
  payment_bounced: 'Opt-in. The payment ended without a payout; its money is held and can be refunded',
  payment_expired: 'Opt-in. The time to pay is over: a late payin can still be paid out if the app accepts it',
  payment_refunded: 'Opt-in. A refund is final on its chain; a payment can have several',
  webhook_test: 'A test that the app’s owner asked for: its payment is made up',
};

const description =
  'Sent once, never again automatically. X-Service-Signature is sha256= and the hex HMAC-SHA256 of X-Service-Timestamp, a dot, and the raw body, keyed with the 64 digits of the webhook secret as text. Refuse timestamps more than five minutes away, compare in constant time, answer 2xx within ten seconds.';

const webhookParameters = [
  {
    name: 'X-Service-Timestamp',
    description: 'Unix milliseconds at signing',
    schema: { type: 'string', pattern: '^[0-9]{13}$' },
  },
  { name: 'X-Service-Signature', schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' } },
  {
    name: 'X-Service-First-Delivery',
    required: false,
    description: 'Only for a redelivery: the event_id of the first delivery',
    schema: { type: 'string', format: 'uuid' },
  },
  { name: 'webhook-id', description: 'Standard Webhooks: the event_id', schema: { type: 'string', format: 'uuid' } },
  {
    name: 'webhook-timestamp',
    description: 'Standard Webhooks: Unix seconds at signing',
    schema: { type: 'string', pattern: '^[0-9]{10}$' },
  },
  {
    name: 'webhook-signature',
    description: 'Standard Webhooks: v1 and the base64 of the HMAC-SHA256 of id, timestamp and body, each after a dot',
    schema: { type: 'string', pattern: '^v1,[0-9A-Za-z+/]{43}=$' },
  },
].map((parameter) => ({ required: true, ...parameter, in: 'header' }));

export const webhookOperation = (type: SentEventType, { refer }: Components): DocumentJson => ({
  post: {
    operationId: type,
    tags: ['Webhooks'],
    summary: summaries[type],
    description,
    security: [],
    parameters: webhookParameters,
    requestBody: { required: true, content: { 'application/json': { schema: refer(WebhookEvent) } } },
    responses: {
      200: { description: 'Received. Any 2xx status counts.' },
      default: { description: 'Not accepted. The service does not retry.' },
    },
  },
});

/** Formatting the table's numbers loads data of languages: 0.02 s of a processor, which a start without the document saves. */
const info = () => ({
  title: 'Payment Intents',
  version: '1.0.0',
  description: `Take a customer’s stablecoin payment on one chain and be paid out on another. Amounts are decimal strings, times are ISO 8601 UTC. Every answer carries X-Request-Id. Unknown fields and parameters are refused. Errors are application/json; with Accept: application/problem+json the same body is sent as problem details (RFC 9457).

## Limits

${limitsTable()}`,
  license: { name: 'MIT', identifier: 'MIT' },
});

const tags = [
  { name: 'Payments', description: 'Create and read payments' },
  { name: 'Refunds', description: 'Refund money that a payment holds' },
  { name: 'Cashback', description: 'Buyers pay by credit; merchants withdraw it' },
  { name: 'Accounts', description: 'Register, sign in with a mailed code, manage sessions' },
  { name: 'Team', description: 'Members of an app’s team and their roles: needs a signed-in person' },
  { name: 'Merchant', description: 'Data for an app’s owner: needs a key of scope admin' },
  { name: 'Proof', description: 'Signed log heads, and evidence to verify offline' },
  { name: 'Operations', description: 'For balancers and monitoring' },
  { name: 'Webhooks', description: 'Requests of the service to an app’s webhook URL' },
];

const securitySchemes = {
  ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  BearerKey: { type: 'http', scheme: 'bearer', description: 'The same API key' },
  SignedIn: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The token from the sign-in' },
};

/** @param url public URL of the service, without a trailing slash */
export function openApiDocument(routes: readonly AnyRoute[], url: string): DocumentJson {
  const components = createComponents();
  const documented = routes.filter(({ doc }) => doc !== null);
  const paths = Map.groupBy(documented, ({ path }) => path);
  // Referenced explicitly: a payment contains the fee as a single amount.
  components.refer(FeeType);
  const document = {
    openapi: '3.1.0',
    info: { ...info(), contact: { name: 'Guides and reference', url: `${url}/docs` } },
    servers: [{ url }],
    tags,
    paths: Object.fromEntries(
      [...paths].map(([path, here]) => [
        path,
        Object.fromEntries(here.map((route) => [route.method, operation(route, components)])),
      ]),
    ),
    webhooks: Object.fromEntries(sentEventTypes.map((type) => [type, webhookOperation(type, components)])),
  };
  const responses = sharedResponses(components);
  return { ...document, components: { schemas: components.schemas(), responses, headers, securitySchemes } };
}

const keys = [{ ApiKey: [] }, { BearerKey: [] }];
const security: Readonly<Record<Auth, readonly object[]>> = {
  none: [],
  optional: [{}, ...keys],
  orders: keys,
  admin: keys,
  person: [{ SignedIn: [] }],
  owner: [{ SignedIn: [] }],
  app: [...keys, { SignedIn: [] }],
};

const whoMay: Readonly<Record<Auth, string>> = {
  none: '',
  optional: '',
  orders: '',
  admin: 'Needs a key of scope admin.',
  person: 'For people who have signed in.',
  owner: 'For the app’s owner, signed in; no key may do it. An owner of several apps names one in X-App-Id.',
  app: 'Needs a key of scope admin, or the app’s owner signed in.',
};

function operation(route: AnyRoute, components: Components): DocumentJson {
  const { doc, auth, params, query, body, upload } = route;
  const description = [doc?.description, whoMay[auth]].filter(Boolean).join(' ');
  return {
    operationId: doc?.id,
    tags: [doc?.tag],
    summary: doc?.summary,
    ...(description ? { description } : {}),
    security: security[auth],
    parameters: [...parameters(params, 'path', components), ...parameters(query, 'query', components)],
    ...(body
      ? { requestBody: { required: true, content: { 'application/json': { schema: components.refer(body) } } } }
      : {}),
    ...(upload ? { requestBody: { required: true, content: fileContent(upload) } } : {}),
    responses: responsesOf(route, components),
  };
}

const fileContent = ({ types }: Upload): DocumentJson =>
  Object.fromEntries(types.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]));

interface ObjectSchema {
  readonly properties: Readonly<Record<string, DocumentJson>>;
  readonly required?: readonly string[];
}

function parameters(
  schema: TSchema | undefined,
  where: 'path' | 'query',
  { refer }: Components,
): readonly DocumentJson[] {
  if (!schema) return [];
  const { properties, required = [] } = schema as unknown as ObjectSchema;
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: required.includes(name),
    schema: refer(property),
  }));
}

// The same document in OpenAPI 3.0.3, for tools without support for 3.1.

/**
 * Removes what 3.0 lacks: webhooks (their schemas stay, because receivers want the types), conditions, rules for property names, the
 * licence's identifier. Null becomes `nullable`, which needs a `type`; nothing may stand beside a `$ref`, so that goes into `allOf`.
 */
export function asOpenApi30(document: DocumentJson): DocumentJson {
  const { webhooks: _, info, ...rest } = document;
  const { license, ...known } = info as { readonly license: { readonly name: string } } & DocumentJson;
  return {
    ...(inOldWords(document)(rest) as DocumentJson),
    openapi: '3.0.3',
    info: { ...known, license: { name: license.name } },
    tags: (document['tags'] as readonly { name: string }[]).filter(({ name }) => name !== 'Webhooks'),
  };
}

const newKeywords = new Set(['if', 'then', 'else', 'propertyNames']);

function inOldWords(document: DocumentJson): (value: unknown) => unknown {
  const { schemas } = document['components'] as { readonly schemas: Readonly<Record<string, DocumentJson>> };
  const typeOf = ($ref: string): unknown => schemas[$ref.slice('#/components/schemas/'.length)]?.['type'];

  function inOld(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(inOld);
    if (typeof value !== 'object' || value === null) return value;
    const schema = Object.fromEntries(Object.entries(value).filter(([key]) => !newKeywords.has(key)));
    const { anyOf, $ref, type, examples, ...rest } = schema as Record<string, unknown>;
    const others = Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, insideOld(key, each)]));
    if (Array.isArray(anyOf)) return { type: typeOf(anyOf[0].$ref), nullable: true, allOf: [anyOf[0]], ...others };
    if (typeof $ref === 'string') return Object.keys(rest).length > 0 ? { allOf: [{ $ref }], ...others } : { $ref };
    return {
      ...(Array.isArray(type) ? { type: type.find((each) => each !== 'null'), nullable: true } : type ? { type } : {}),
      ...others,
      ...(Array.isArray(examples) ? { example: examples[0] } : {}),
    };
  }

  /** Property names may equal keywords. */
  const insideOld = (key: string, value: unknown): unknown =>
    key === 'properties' ? objectMap(value as DocumentJson, inOld) : inOld(value);

  return inOld;
}
