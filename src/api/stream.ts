/** Streams answers piece by piece at the reader's speed. */
import { once } from 'node:events';
import type { Request, Response } from 'express';

export interface Streamed {
  readonly pieces: AsyncIterable<string>;
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Timeout for a reader that accepts nothing. */
const stall_ms = 30_000;

/** A disconnected reader is no error, and cannot be notified: the connection ends before the content does. */
export async function sendPieces(
  request: Request,
  response: Response,
  { pieces, type, headers = {} }: Streamed,
): Promise<void> {
  response.writeHead(200, { 'Content-Type': type, ...headers });
  if (request.method === 'HEAD') return void response.end();
  response.flushHeaders();
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    for await (const piece of pieces) {
      if (response.closed) return;
      if (response.write(piece)) continue;
      await once(response, 'drain', { signal: AbortSignal.any([gone.signal, AbortSignal.timeout(stall_ms)]) });
    }
    response.end();
  } catch {
    response.destroy();
  }
}
