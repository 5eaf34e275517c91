import express, { type Request, type RequestHandler, type Response } from 'express';
import { ApiError } from './errors.ts';

/** Far above the largest payment request. */
const bodyMax_bytes = 64_000;

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
  await new Promise<void>((resolve, reject) => {
    parse(request, response, (error: unknown) => (error ? reject(asApiError(error, request, response)) : resolve()));
  });
  return request.body;
}

/** The parser's errors have a `type`; the rest is a connection that broke. */
function asApiError(error: unknown, request: Request, response: Response): ApiError {
  switch ((error as { type?: string }).type) {
    case 'entity.too.large':
      // What is still on its way is read and thrown away, so that the answer arrives; the connection ends with it.
      response.setHeader('Connection', 'close');
      request.resume();
      return new ApiError('payloadTooLarge', `the body is larger than ${bodyMax_bytes} bytes: send less`);
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
