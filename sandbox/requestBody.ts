import type { IncomingMessage } from 'node:http';

/** The raw bytes. Undefined above `bytesMax`; no more than that is kept in memory. */
export async function bodyOf(request: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  return bytes <= bytesMax ? Buffer.concat(chunks) : undefined;
}

/** The same as text. */
export const requestBody = async (request: IncomingMessage, bytesMax: number): Promise<string | undefined> =>
  (await bodyOf(request, bytesMax))?.toString('utf8');
