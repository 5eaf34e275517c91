/** The fields of a form as a browser sends them, bounded. */

import { Busboy } from '@fastify/busboy';
import express, { type Request, type Response } from 'express';
import Type, { type TSchema } from 'typebox';
import { ApiError } from '../../src/api/errors.ts';
import { fieldsMax, formMax_bytes, received } from '../../src/api/input.ts';
import { closed } from '../../src/api/schemas/base.ts';
import type { FormState } from '../parts/field.ts';
import { refusalText } from './refusals.ts';

type Fields = Readonly<Record<string, string>>;

const parse = express.text({ limit: formMax_bytes, type: () => true, inflate: false, defaultCharset: 'utf-8' });

/** Reads application/x-www-form-urlencoded. @throws ApiError invalidRequest, payloadTooLarge, unsupportedMediaType */
export async function readForm(request: Request, response: Response): Promise<Fields> {
  if (request.headers['content-length'] === '0' || request.is('*/*') === null) return {};
  if (!request.is('application/x-www-form-urlencoded')) {
    throw new ApiError('unsupportedMediaType', 'send the fields as application/x-www-form-urlencoded');
  }
  await received(parse, request, response, formMax_bytes);
  return fieldsOf(new URLSearchParams(String(request.body)));
}

/** Skips empty fields; trims the spaces and line breaks around pasted text. @throws ApiError invalidRequest */
function fieldsOf(pairs: Iterable<readonly [string, string]>): Fields {
  const fields: Record<string, string> = Object.create(null);
  let count = 0;
  for (const [name, text] of pairs) {
    count += 1;
    if (count > fieldsMax) throw new ApiError('invalidRequest', `the form has more than ${fieldsMax} fields`);
    if (name in fields) throw new ApiError('invalidRequest', `the field ${name.slice(0, 64)} is sent more than once`);
    fields[name] = text.trim();
  }
  return Object.fromEntries(Object.entries(fields).filter(([, text]) => text !== ''));
}

/**
 * Renders a refused form again: the sent values, and each error beside its field.
 * @param fields names of the form's fields
 * @param pointers fields of errors whose pointer is not `/<field>`
 */
export function refusedForm(
  values: FormState['values'],
  { code, errors, message }: ApiError,
  fields: readonly string[],
  pointers: Readonly<Record<string, string>> = {},
): FormState {
  const beside: Record<string, string> = {};
  for (const { pointer, message: text } of errors) {
    const field = pointers[pointer] ?? pointer.slice(1);
    if (fields.includes(field)) beside[field] ??= refusalText(code, text, field);
  }
  return { values, errors: Object.keys(beside).length > 0 ? beside : { '': refusalText(code, message) } };
}

const line = '^[^\\x00-\\x1f\\x7f]*$';

/** One line of text. */
export const entry = (maxLength: number) =>
  Type.Unsafe<string>({
    type: 'string',
    minLength: 1,
    maxLength,
    wellFormed: true,
    pattern: line,
    description: 'one line of text',
  });

/** One line for payers: `displayText` removes invisible characters. */
export const displayEntry = (maxLength: number) =>
  Type.Unsafe<string>({
    type: 'string',
    minLength: 1,
    maxLength,
    displayText: true,
    pattern: line,
    description: 'one line of text',
  });

/** Several lines of text. */
export const lines = (maxLength: number) =>
  Type.Unsafe<string>({
    type: 'string',
    minLength: 1,
    maxLength,
    wellFormed: true,
    pattern: '^[^\\x00-\\x09\\x0b\\x0c\\x0e-\\x1f\\x7f]*$',
    description: 'lines of text',
  });

/** Forms hold texts: trimmed, none of them empty. Each `description` ends the sentence "must be …". */
export const fields = <P extends Record<string, TSchema>>(properties: P) => Type.Object(properties, closed);

export const noFields = fields({});

/** Page to open after signing in. */
export const NextPath = Type.Optional(entry(2_000));

// One file of a form, read from multipart/form-data (RFC 7578) into memory with a size limit.

export interface UploadLimits {
  /** The file's field. */
  readonly name: string;
  readonly max_bytes: number;
}

export interface UploadedFile {
  readonly content: Uint8Array;
}

export interface Uploaded {
  readonly fields: Fields;
  /** Null if none was chosen. */
  readonly file: UploadedFile | null;
}

const uploadFieldsMax = 20;
const partLimits = {
  fields: uploadFieldsMax,
  fieldSize: formMax_bytes,
  fieldNameSize: 64,
  files: 1,
  parts: uploadFieldsMax + 1,
  headerPairs: 20,
  headerSize: 4_096,
};

/** @throws ApiError invalidRequest, payloadTooLarge, unsupportedMediaType */
export async function readUpload(request: Request, response: Response, limits: UploadLimits): Promise<Uploaded> {
  if (!request.is('multipart/form-data')) {
    throw new ApiError('unsupportedMediaType', 'send the form as multipart/form-data');
  }
  try {
    return await parts(request, limits);
  } catch (error) {
    // Reads and discards the rest of the body, so the answer arrives; then the connection ends.
    request.unpipe();
    request.resume();
    response.setHeader('Connection', 'close');
    throw error instanceof ApiError
      ? error
      : new ApiError('invalidRequest', 'the form did not arrive whole: send it again');
  }
}

function parts(request: Request, { name, max_bytes }: UploadLimits): Promise<Uploaded> {
  return new Promise((resolve, reject) => {
    const pairs: [string, string][] = [];
    const chunks: Buffer[] = [];
    let chosen = false;
    const tooLarge = () =>
      new ApiError('payloadTooLarge', `the file is larger than ${max_bytes} bytes: choose a smaller one`);
    const tooMany = () => reject(new ApiError('invalidRequest', 'the form has more fields or files than it should'));
    const reader = new Busboy({
      headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' },
      limits: { ...partLimits, fileSize: max_bytes },
    });
    reader.on('field', (field, value, nameCut, valueCut) => {
      if (nameCut || valueCut) tooMany();
      else pairs.push([field, value]);
    });
    reader.on('file', (field, stream, filename) => {
      if (field !== name) tooMany();
      // A browser sends an empty part for a file that was not chosen.
      chosen = filename !== undefined && filename !== '';
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('limit', () => reject(tooLarge()));
      stream.on('error', reject);
    });
    for (const limit of ['fieldsLimit', 'filesLimit', 'partsLimit'] as const) reader.on(limit, tooMany);
    reader.on('error', reject);
    request.on('error', reject);
    request.on('aborted', () => reject(new Error('the connection broke')));
    reader.on('finish', () => {
      try {
        resolve({
          fields: fieldsOf(pairs),
          file: chosen && chunks.length > 0 ? { content: Buffer.concat(chunks) } : null,
        });
      } catch (error) {
        reject(error);
      }
    });
    request.pipe(reader);
  });
}
