/** Requests to one address over keep-alive connections. */
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { createGunzip } from 'node:zlib';

/** At 0.1 s each, 640 calls a second: concurrently prepared payouts need five at once. */
const socketsMax = 64;
/** Time to connect to one address of a node before its next address is tried. Node's default is 250 ms, too short for a distant one. */
const connectAttempt_ms = 2_000;

/** The answer exceeds the limit; it is not read to its end. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
  readonly status: number;
  constructor(max_bytes: number, status: number) {
    super(`the answer is larger than ${max_bytes} bytes`);
    this.status = status;
  }
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** @throws AnswerTooLarge; a connection error, also if the signal aborts it */
export type Post = (body: string, signal: AbortSignal) => Promise<Reply>;

/** Aborts the request by hand: a signal of its own, and a stream read by `for await`, would cost a third more. */
export function createPost(url: string, answerMax_bytes: number): Post {
  const target = new URL(url);
  const { Agent, request } = target.protocol === 'https:' ? https : http;
  const agent = new Agent({
    keepAlive: true,
    maxSockets: socketsMax,
    maxFreeSockets: socketsMax,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: connectAttempt_ms,
  });
  const options = { ...urlToHttpOptions(target), method: 'POST', agent };
  return (body, signal) =>
    new Promise<Reply>((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'accept-encoding': 'gzip',
      };
      const asked = request({ ...options, headers });
      const cut = () => void asked.destroy(new Error('the call was ended'));
      signal.addEventListener('abort', cut, { once: true });
      asked
        .once('response', (response) => {
          textOf(response, answerMax_bytes)
            .then((text) => ({ status: response.statusCode ?? 0, headers: response.headers, text }))
            .then(resolve, reject);
        })
        .on('error', reject)
        .once('close', () => signal.removeEventListener('abort', cut))
        .end(body);
      if (signal.aborted) cut();
    });
}

const textOf = (response: IncomingMessage, max_bytes: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const stream = response.headers['content-encoding'] === 'gzip' ? response.pipe(createGunzip()) : response;
    // A truncated body must end the unpacked stream as well.
    if (stream !== response) response.once('error', (error) => stream.destroy(error));
    const chunks: Buffer[] = [];
    let bytes = 0;
    stream
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= max_bytes) return void chunks.push(chunk);
        reject(new AnswerTooLarge(max_bytes, response.statusCode ?? 0));
        response.destroy();
      })
      .once('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
      .on('error', reject)
      .once('close', () => reject(new Error('the answer breaks off')));
  });
