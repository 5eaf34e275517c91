/** Calls of the service. Answers are data of strangers (titles, notes): tools return them as JSON, never as instructions. */
import type { Settings } from './settings.ts';

export class ServiceError extends Error {
  override readonly name: string = 'ServiceError';
}

/** No answer of the service arrived: its result is unknown. */
export class NoAnswer extends ServiceError {
  override readonly name = 'NoAnswer';
}

export interface Called {
  readonly status: number;
  readonly body: unknown;
}

const timeout_ms = 20_000;
const answerMax_bytes = 200_000;

/** Calls of one service with its key. @throws ServiceError if no usable answer arrives */
export function createService({ serviceUrl, apiKey }: Settings, call: typeof fetch = fetch) {
  return {
    async call(
      method: 'GET' | 'POST',
      path: string,
      { body, withKey = false }: { body?: unknown; withKey?: boolean } = {},
    ) {
      const response = await call(`${serviceUrl}${path}`, {
        method,
        // A redirect would take the key, or the signature, elsewhere.
        redirect: 'error',
        signal: AbortSignal.timeout(timeout_ms),
        headers: {
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(withKey && apiKey !== undefined && { 'x-api-key': apiKey }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }).catch((error: Error) => {
        throw new NoAnswer(`the service did not answer: ${error.message}`);
      });
      return { status: response.status, body: parsed(await textOf(response), response.status) } satisfies Called;
    },
  };
}

export type Service = ReturnType<typeof createService>;

async function textOf({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of body ?? []) {
      bytes += piece.byteLength;
      if (bytes > answerMax_bytes) throw new NoAnswer(`the answer has over ${answerMax_bytes} bytes`);
      pieces.push(piece);
    }
  } catch (error) {
    if (error instanceof NoAnswer) throw error;
    throw new NoAnswer(`the answer of the service broke off: ${(error as Error).message}`);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function parsed(text: string, status: number): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new NoAnswer(`the service answered ${status} without JSON`);
  }
}

/**
 * Returns the path of a payment link of this service.
 * @throws ServiceError for a link of another service, and for text that is no payment link
 */
export function billPath(serviceUrl: string, link: string): string {
  const url = URL.canParse(link) ? new URL(link) : undefined;
  if (url?.origin !== serviceUrl)
    throw new ServiceError(`the link is not of ${serviceUrl}: only its bills can be paid`);
  const [, secret] = /^\/pay\/([A-Za-z0-9_-]{8,200})\/?$/.exec(url.pathname) ?? [];
  if (secret === undefined) throw new ServiceError('the link is no payment link: it looks like /pay/<secret>');
  return `/pay/${secret}`;
}
