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

/** What any request may be answered with, whatever it asks for. */
export const sharedResponses = ({ refer }: Components): Json => ({
  Refused: {
    description:
      'The request is refused: error says why, message what to do. Besides the statuses listed: 405 with Allow, 408 when the request came too slowly, 413, 415, 429 with Retry-After when there are too many, 431 when its headers are too large.',
    headers: { ...headerRefs([]), 'Retry-After': optionalRetry },
    content: json(refer(ErrorResponse)),
  },
  Failed: {
    description: 'The service failed (500) or is not available at present (503 with Retry-After): try again.',
    headers: { ...headerRefs([]), 'Retry-After': optionalRetry },
    content: json(refer(ErrorResponse)),
  },
});

const optionalRetry = header(
  'Seconds after which to try again; with 429 and 503.',
  { type: 'integer', minimum: 1 },
  false,
);

/** The good answers of a route and the errors that it names, by status; then what any request may be answered with. */
export function responsesOf(route: AnyRoute, components: Components): Json {
  return {
    ...objectMap(route.answers, (spec) => answer(spec, components)),
    ...errors(route, components),
    '4XX': { $ref: '#/components/responses/Refused' },
    '5XX': { $ref: '#/components/responses/Failed' },
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
  const anywhere: ErrorCode[] = always ? [] : ['rateLimited', 'unavailable'];
  const ofBody: ErrorCode[] = body || upload ? ['payloadTooLarge', 'unsupportedMediaType'] : [];
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
          headers: headerRefs(headersOf[status] ?? []),
          content: json(refer(ErrorResponse)),
        },
      ]),
  );
}

const headersOf: Readonly<Record<number, readonly string[]>> = {
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
};
