/** Forwards one webhook to one address: the raw bytes and headers, because the signature covers the bytes. */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** A line of the receiver's log. */
export interface Received {
  readonly receivedAt: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly valid: boolean;
}

export interface Answered {
  /** The answer's status, or why there was none. */
  readonly says: string;
  /** 2xx, by the service's own rule: a redirect is not followed. */
  readonly taken: boolean;
  readonly took_ms: number;
}

/** As long as the service waits (docs/integrate/webhooks.md). */
const patience_ms = 10_000;
/** Headers of the incoming connection. */
const ofConnection: ReadonlySet<string> = new Set(['host', 'connection', 'transfer-encoding', 'keep-alive']);

/** Never throws: what went wrong is the answer. */
export async function forwardTo(url: URL, { headers, body }: Received): Promise<Answered> {
  const began_ms = performance.now();
  const status = await post(url, headers, body).catch(
    (error: Error & { code?: string }) => error.code ?? error.message,
  );
  const taken = typeof status === 'number' && status >= 200 && status < 300;
  return { says: String(status), taken, took_ms: Math.round(performance.now() - began_ms) };
}

function post(url: URL, headers: Received['headers'], body: string): Promise<number> {
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)));
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const signal = AbortSignal.timeout(patience_ms);
  const request = send(url, { method: 'POST', headers: kept, signal, agent: false }, (response) => {
    resolve(response.statusCode ?? 0);
    // Ignores the rest of its answer.
    response.destroy();
  });
  request.on('error', (error) => reject(signal.aborted ? new Error('no answer in 10 s') : error));
  request.end(body);
  return promise;
}
