/** The fields of a form as a browser sends them, bounded. */
import express, { type Request, type Response } from 'express';
import { ApiError } from '../../src/api/errors.ts';
import { fieldsMax, formMax_bytes, received } from '../../src/api/input.ts';

export type Fields = Readonly<Record<string, string>>;

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

/** Without those left empty; browsers send spaces and line breaks around what was pasted. @throws ApiError invalidRequest */
export function fieldsOf(pairs: Iterable<readonly [string, string]>): Fields {
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
