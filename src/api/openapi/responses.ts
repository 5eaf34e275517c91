/** Headers and error answers that operations share. */
import { type ErrorCode, ErrorResponse, statusOfError } from '../errors.ts';
import type { AnswerSpec, AnyRoute } from '../route.ts';
import { type Components, type Json, objectMap } from './components.ts';

const text = { type: 'string' };
const header = (description: string, schema: Json = text, required = true): Json => ({ description, required, schema });

export const headers: Json = {
  'X-Request-Id': header('Quote it in questions.'),
  Location: header('Where the payment is read.'),
  'Idempotent-Replayed': header('true: the payment existed before.', { type: 'string', enum: ['true'] }),
  RateLimit: header('What is left of the limit that counted, and when it starts anew.', text, false),
  'RateLimit-Policy': header('That limit: how many requests in how many seconds.', text, false),
  'Retry-After': header('Seconds after which to try again.', { type: 'integer', minimum: 1 }),
};

const headerRefs = (names: readonly string[]): Json =>
  Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const json = (schema: Json): Json => ({ 'application/json': { schema } });

/** Errors come as JSON, or as problem details where the Accept header asks for them. */
const error = (schema: Json): Json => ({ ...json(schema), 'application/problem+json': { schema } });

/** Answers to any request, whatever it asks for, by status. No wildcards: some generators write code for them that does not compile. */
const anywhere = {
  408: { name: 'TooSlow', description: 'requestTimeout: the request came too slowly' },
  431: { name: 'HeadersTooLarge', description: 'headersTooLarge: the request’s headers are too large' },
  500: { name: 'Failed', description: 'internal: the service failed. Quote the requestId to its operator.' },
} as const;

export const sharedResponses = ({ refer }: Components): Json =>
  Object.fromEntries(
    Object.values(anywhere).map(({ name, description }) => [
      name,
      { description, headers: headerRefs([]), content: error(refer(ErrorResponse)) },
    ]),
  );

/** The good answers of a route and the errors that it names, by status; then the answers to any request. */
export function responsesOf(route: AnyRoute, components: Components): Json {
  return {
    ...objectMap(route.answers, (spec) => answer(spec, components)),
    ...errors(route, components),
    ...objectMap(anywhere, ({ name }) => ({ $ref: `#/components/responses/${name}` })),
  };
}

const answer = (
  { description, schema, type = 'text/plain', headers: names = [] }: AnswerSpec,
  { refer }: Components,
): Json => ({
  description,
  headers: headerRefs(names),
  content: schema ? json(refer(schema)) : { [type]: { schema: text } },
});

/** Errors of one status share an entry. */
function errors({ errors, body, upload, always, answers }: AnyRoute, { refer }: Components): Json {
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
