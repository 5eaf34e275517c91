/** One file of a form, read from multipart/form-data (RFC 7578) into memory with a size limit. */
import { Busboy } from '@fastify/busboy';
import type { Request, Response } from 'express';
import { ApiError } from '../../src/api/errors.ts';
import { formMax_bytes } from '../../src/api/input.ts';
import { type Fields, fieldsOf } from './forms.ts';

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

const fieldsMax = 20;
const partLimits = {
  fields: fieldsMax,
  fieldSize: formMax_bytes,
  fieldNameSize: 64,
  files: 1,
  parts: fieldsMax + 1,
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
