/** The OpenAPI 3.1 document, made from the same routes and schemas that serve the requests. */
import type { TSchema } from 'typebox';
import { sentEventTypes } from '../../../domain/webhook.ts';
import type { Auth } from '../callers.ts';
import type { Upload } from '../input.ts';
import { limitsTable } from '../limits.ts';
import type { AnyRoute } from '../route.ts';
import { FeeType } from '../schemas/base.ts';
import { type Components, createComponents, type Json } from './components.ts';
import { headers, responsesOf, sharedResponses } from './responses.ts';
import { webhook } from './webhook.ts';

const info = {
  title: 'Payment Intents',
  version: '1.0.0',
  description: `Take a customer’s stablecoin payment on one chain and be paid out on another. Amounts are decimal strings, times are ISO 8601 UTC. Every answer carries X-Request-Id. Unknown fields and parameters are refused. Errors are application/json; with Accept: application/problem+json the same body comes as problem details (RFC 9457).

## Limits

${limitsTable()}`,
  license: { name: 'MIT', identifier: 'MIT' },
};

const tags = [
  { name: 'Payments', description: 'Create and read payments' },
  { name: 'Refunds', description: 'Send back money that a payment holds' },
  { name: 'Cashback', description: 'Buyers pay by credit; merchants withdraw it' },
  { name: 'Accounts', description: 'Register, sign in with a mailed code, look after sessions' },
  { name: 'Merchant', description: 'What an app’s owner reads: needs a key of scope admin' },
  { name: 'Proof', description: 'Signed heads of the log, and evidence that is checked offline' },
  { name: 'Operations', description: 'For balancers and monitoring' },
  { name: 'Webhooks', description: 'What the service sends to an app’s webhook URL' },
];

const securitySchemes = {
  ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  BearerKey: { type: 'http', scheme: 'bearer', description: 'The same API key' },
  SignedIn: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The token that signing in answers' },
};

/** @param url where the service is reached from outside, without a slash at the end */
export function openApiDocument(routes: readonly AnyRoute[], url: string): Json {
  const components = createComponents();
  const documented = routes.filter(({ doc }) => doc !== null);
  const paths = Map.groupBy(documented, ({ path }) => path);
  // Named for the reference's sake: a payment shows its fee as one amount.
  components.refer(FeeType);
  const document = {
    openapi: '3.1.0',
    info: { ...info, contact: { name: 'Guides and reference', url: `${url}/docs` } },
    servers: [{ url }],
    tags,
    paths: Object.fromEntries(
      [...paths].map(([path, here]) => [
        path,
        Object.fromEntries(here.map((route) => [route.method, operation(route, components)])),
      ]),
    ),
    webhooks: Object.fromEntries(sentEventTypes.map((type) => [type, webhook(type, components)])),
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

function operation(route: AnyRoute, components: Components): Json {
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

const fileContent = ({ types }: Upload): Json =>
  Object.fromEntries(types.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]));

interface ObjectSchema {
  readonly properties: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

function parameters(schema: TSchema | undefined, where: 'path' | 'query', { refer }: Components): readonly Json[] {
  if (!schema) return [];
  const { properties, required = [] } = schema as unknown as ObjectSchema;
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: required.includes(name),
    schema: refer(property),
  }));
}
