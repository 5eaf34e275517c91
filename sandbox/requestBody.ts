import type { IncomingMessage } from 'node:http';

/** Undefined when it is larger than `bytesMax`; no more than that is kept in memory. */
export async function requestBody(request: IncomingMessage, bytesMax: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  return bytes <= bytesMax ? Buffer.concat(chunks).toString('utf8') : undefined;
}
