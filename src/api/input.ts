/** Input of callers: parsed, then checked by compiled schemas. Errors name the field and the rule. */

import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import addFormats from 'ajv-formats';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { TSchema } from 'typebox';
import { parseInstant } from '../../domain/time.ts';
import { parseKey } from '../security/apiKey.ts';
import { ApiError, type FieldError } from './errors.ts';

/** Suggests a known name for an unknown one. */

/** Compares only this many characters of longer names. */
const compared = 32;

/** Known name with the fewest edits; letter case, hyphens and underscores do not count. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name);
  let nearest: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(wanted, plain(candidate));
    if (!nearest || distance < nearest.distance) nearest = { candidate, distance };
  }
  return nearest?.candidate;
}

const plain = (name: string): string => name.slice(0, compared).replaceAll(/[-_]/g, '').toLowerCase();

/** Levenshtein distance: added, removed or replaced characters. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const [above = 0, left = 0, diagonal = 0] = [row[j], next[j - 1], row[j - 1]];
      next.push(Math.min(above + 1, left + 1, diagonal + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

export type Validate = (value: unknown) => void;

/** Far above the largest payment request. */
export const bodyMax_bytes = 64_000;

/** Far above the largest form of the dashboard. */
export const formMax_bytes = 16_000;
export const fieldsMax = 50;

const parse: RequestHandler = express.json({ limit: bodyMax_bytes, type: () => true, inflate: false, strict: false });

/** Reads a JSON body. @throws ApiError invalidRequest, payloadTooLarge, unsupportedMediaType */
export async function readBody(request: Request, response: Response): Promise<unknown> {
  const isJson = request.is('application/json');
  if (isJson === null || request.headers['content-length'] === '0') {
    throw new ApiError('invalidRequest', 'a JSON body is required');
  }
  if (isJson === false) {
    throw new ApiError('unsupportedMediaType', 'send the body as Content-Type: application/json');
  }
  // The parser knows the charset only by its registered name; many clients send utf8.
  if (utf8.test(String(request.headers['content-type']))) request.headers['content-type'] = 'application/json';
  await received(parse, request, response);
  return request.body;
}

const utf8 = /;\s*charset\s*=\s*"?utf-?8"?\s*(;|$)/i;

/** Lets a parser of express read the body. @throws ApiError invalidRequest, payloadTooLarge, unsupportedMediaType */
export function received(
  parser: RequestHandler,
  request: Request,
  response: Response,
  max_bytes: number = bodyMax_bytes,
): Promise<void> {
  return new Promise((resolve, reject) => {
    parser(request, response, (error: unknown) =>
      error ? reject(asApiError(error, request, response, max_bytes)) : resolve(),
    );
  });
}

export interface Upload {
  readonly types: readonly string[];
  readonly max_bytes: number;
}

/** Reader of file bodies. A file's declared type proves nothing: the user of the bytes checks them. */
export function uploadReader({
  types,
  max_bytes,
}: Upload): (request: Request, response: Response) => Promise<Uint8Array> {
  const parse = express.raw({ limit: max_bytes, type: () => true, inflate: false });
  return async (request, response) => {
    const type = request.is([...types]);
    if (type === null) throw new ApiError('invalidRequest', `send the file as the body: ${types.join(', ')}`);
    if (type === false) throw new ApiError('unsupportedMediaType', `send the body as one of ${types.join(', ')}`);
    await received(parse, request, response, max_bytes);
    return request.body;
  };
}

/** Errors of the parser have a `type`. Any other error is a broken connection. */
function asApiError(error: unknown, request: Request, response: Response, max_bytes: number): ApiError {
  switch ((error as { type?: string }).type) {
    case 'entity.too.large':
      // Reads and discards the rest of the body, so the answer arrives; then the connection ends.
      response.setHeader('Connection', 'close');
      request.resume();
      return new ApiError('payloadTooLarge', `the body is larger than ${max_bytes} bytes: send less`);
    case 'entity.parse.failed':
      return new ApiError('invalidRequest', 'the body is not valid JSON', {
        errors: [{ pointer: '', message: 'is not valid JSON' }],
      });
    case 'encoding.unsupported':
      return new ApiError('unsupportedMediaType', 'send the body without Content-Encoding');
    case 'charset.unsupported':
      return new ApiError('unsupportedMediaType', 'send the body as UTF-8');
    default:
      return new ApiError('invalidRequest', 'the body did not arrive whole: send the request again');
  }
}

/** Refuses an unknown or repeated parameter: a misspelt filter must not be ignored silently. */
export function readQuery(request: Pick<Request, 'url'>, check: Validate | undefined): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  const start = request.url.indexOf('?');
  if (start >= 0) {
    for (const [name, value] of new URLSearchParams(request.url.slice(start + 1))) {
      if (name in values) throw badParameter(name, 'is given more than once');
      values[name] = value;
    }
  }
  if (check) check(values);
  else {
    const [name] = Object.keys(values);
    if (name !== undefined) {
      throw badParameter(name, 'is not known here: this takes no query parameters, and keys never belong in a URL');
    }
  }
  return values;
}

function badParameter(name: string, message: string): ApiError {
  const pointer = `/${name.slice(0, 64)}`;
  return new ApiError('invalidRequest', `${pointer} ${message}`, { errors: [{ pointer, message }] });
}

const ajv = withOwnKeywords(new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, verbose: true }));

/** Maximum errors in an answer: enough to correct a form in one go, too few to mirror a hostile body. */
export const errorsMax = 20;

function withOwnKeywords(ajv: Ajv2020): Ajv2020 {
  // The package is CommonJS: its default export appears as the module.
  (addFormats as unknown as (ajv: Ajv2020, formats: string[]) => void)(ajv, ['uuid', 'date']);
  ajv.addKeyword({
    keyword: 'wellFormed',
    type: 'string',
    validate: (_on: true, text: string) => text.isWellFormed() && !misleading.test(text),
  });
  ajv.addKeyword({
    keyword: 'displayText',
    type: 'string',
    modifying: true,
    validate: (_on: true, text: string, _schema?: unknown, place?: DataValidationCxt) => {
      if (!text.isWellFormed() || control.test(text)) return false;
      if (place) place.parentData[place.parentDataProperty] = visible(text);
      return true;
    },
  });
  // Only times that rows can hold: no second 60, no year before 1 or after 9999 in UTC.
  ajv.addFormat('date-time', (text: string) => parseInstant(text) !== undefined);
  ajv.addVocabulary(['shownAs', 'alsoShown', 'unpublished', 'x-enum-varnames']);
  return ajv;
}

export const compileBody = (schema: TSchema): Validate => validator(schema, 'body');

/** Parameters are text: parses integers among them. Blank text and 1e1 are no integers. */
export function compileParameters(schema: TSchema): Validate {
  const check = validator(schema, 'parameter');
  const { properties } = schema as unknown as { properties: Readonly<Record<string, { readonly type?: unknown }>> };
  const integers = Object.keys(properties).filter((name) => properties[name]?.type === 'integer');
  return (value) => {
    const sent = value as Record<string, unknown>;
    for (const name of integers) {
      const text = sent[name];
      if (typeof text === 'string' && /^-?[0-9]+$/.test(text)) sent[name] = Number(text);
    }
    check(sent);
  };
}

/** Compiles the schema on first use: all of them together cost a tenth of the start. */
function validator(schema: TSchema, what: string): Validate {
  let compiled: ValidateFunction | undefined;
  return (value) => {
    compiled ??= ajv.compile(schema);
    const check = compiled;
    if (check(value)) return;
    const errors = (check.errors ?? []).slice(0, errorsMax).map(fieldError);
    const first = errors[0];
    const where = first?.pointer ? `${first.pointer} ${first.message}` : `the ${what} ${first?.message}`;
    throw new ApiError('invalidRequest', errors.length > 1 ? `${where} (and ${errors.length - 1} more)` : where, {
      errors,
    });
  };
}

function fieldError(error: ErrorObject): FieldError {
  const { instancePath, params, keyword } = error;
  const within = (name: string) => `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  switch (keyword) {
    case 'required':
      return { pointer: within(params['missingProperty']), message: 'is required' };
    case 'additionalProperties':
      return { pointer: within(shorten(params['additionalProperty'])), message: unknownField(error) };
    case 'propertyNames':
      return { pointer: instancePath, message: 'has a name that is not allowed' };
    default:
      return { pointer: instancePath, message: messageOf(error) };
  }
}

function messageOf({ keyword, params, parentSchema, propertyName }: ErrorObject): string {
  const expected: unknown = parentSchema?.['description'];
  if (propertyName !== undefined) return 'has a name that is empty, too long or not printable';
  switch (keyword) {
    case 'type':
      return `must be ${[params['type']].flat().map(withArticle).join(' or ')}`;
    case 'enum':
      return `must be one of ${params['allowedValues'].map(String).join(', ')}`;
    case 'maxLength':
      return `must not be longer than ${params['limit']} characters`;
    case 'minLength':
      return 'must not be empty';
    case 'maxProperties':
      return `must not have more than ${params['limit']} entries`;
    case 'minimum':
      return `must be at least ${params['limit']}`;
    case 'maximum':
      return `must be at most ${params['limit']}`;
    default:
      return typeof expected === 'string' ? `must be ${expected}` : 'is not valid';
  }
}

const withArticle = (type: string): string =>
  type === 'null' ? 'null' : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;

const shorten = (name: string): string => (name.length > 64 ? `${name.slice(0, 64)}…` : name);

function unknownField({ params, data, parentSchema }: ErrorObject): string {
  const name = String(params['additionalProperty']);
  const value: unknown = (data as Record<string, unknown>)[name];
  if (isKeyName(name) || (typeof value === 'string' && parseKey(value) !== undefined)) {
    return 'is not known here. Keys belong in the X-API-Key header only: revoke one that was sent in another place';
  }
  const nearest = nearestName(name, Object.keys(parentSchema?.['properties'] ?? {}));
  return nearest === undefined ? 'is not known here' : `is not known here; the nearest known name is ${nearest}`;
}

const isKeyName = (name: string): boolean => /^(x[-_]?)?api[-_]?key$|^authorization$|^bearer$/i.test(name);

/**
 * Direction marks and invisible characters, which can make a text read as another one. Joiners (U+200C, U+200D) pass: Persian, Indic
 * scripts and emoji need them.
 */
const misleading = /[\u0080-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;

/** C1 controls, which no text needs. */
const control = /[\u0080-\u009f]/;
const separators = /[\u2028\u2029]/g;
const unseen = new RegExp(misleading, 'g');

const visible = (text: string): string => text.replace(separators, ' ').replace(unseen, '');
