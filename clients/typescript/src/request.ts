/** One call: sent again, with full jitter, for as long as that is safe and its bounds allow. */
import { errorOf, PaymentsError } from './errors.ts';

/** Access to the network and timers; tests bring their own. */
export interface Transport {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly fetch: typeof fetch;
  /** Rejects with the signal's reason. */
  readonly sleep: (duration_ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Times that a call is sent at most. */
  readonly attemptsMax: number;
  /** For one answer. */
  readonly timeout_ms: number;
}

export interface Call {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Makes the call a POST. A repeated call must have the same body: see createPayment. */
  readonly body?: object;
  /** Additional time beyond the transport's timeout: the requested wait of the service. */
  readonly wait_ms?: number;
  readonly signal?: AbortSignal | undefined;
}

const firstBackoff_ms = 500;
const backoffMax_ms = 15_000;
/** A longer requested wait is not honoured: the error is thrown. */
const retryAfterMax_s = 60;
const answerMax_bytes = 8 * 1024 * 1024;
/** With these statuses the service has not done the work, or accepts a repetition. */
const passing = new Set([408, 429, 500, 502, 503, 504]);

/** @throws PaymentsError the last one, when sending again does not help */
export async function request<T>(transport: Transport, call: Call): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    call.signal?.throwIfAborted();
    const outcome = await attemptOf(transport, call);
    if ('answer' in outcome) return outcome.answer as T;
    const { error, retryAfter_s } = outcome;
    const isPassing = error.status === null || passing.has(error.status);
    if (!isPassing || attempt >= transport.attemptsMax || retryAfter_s > retryAfterMax_s) throw error;
    const backoff_ms = transport.random() * Math.min(backoffMax_ms, firstBackoff_ms * 2 ** (attempt - 1));
    await transport.sleep(1_000 * retryAfter_s + backoff_ms, call.signal);
  }
}

type Outcome = { readonly answer: unknown } | { readonly error: PaymentsError; readonly retryAfter_s: number };

async function attemptOf(transport: Transport, call: Call): Promise<Outcome> {
  const { baseUrl, apiKey, timeout_ms } = transport;
  const deadline = AbortSignal.timeout(timeout_ms + (call.wait_ms ?? 0));
  try {
    const response = await transport.fetch(baseUrl + call.path + queryOf(call), {
      method: call.body ? 'POST' : 'GET',
      // A key must not follow a redirect to another host.
      redirect: 'error',
      credentials: 'omit',
      signal: call.signal ? AbortSignal.any([call.signal, deadline]) : deadline,
      // Without a key and a body no header causes a browser's preflight.
      headers: {
        ...(apiKey ? { 'X-API-Key': apiKey } : {}),
        ...(call.body ? { 'Content-Type': 'application/json' } : {}),
      },
      ...(call.body ? { body: JSON.stringify(call.body) } : {}),
    });
    const body = jsonOf(await textOf(response));
    if (!response.ok) return { error: errorOf(response.status, body), retryAfter_s: retryAfterOf(response) };
    if (typeof body !== 'object' || body === null) throw unreadable(response.status);
    return { answer: body };
  } catch (cause) {
    call.signal?.throwIfAborted();
    if (cause instanceof PaymentsError) return { error: cause, retryAfter_s: 0 };
    const error = deadline.aborted
      ? new PaymentsError('timeout', `${call.path} was not answered in time`, { cause })
      : new PaymentsError('connection', `${call.path} was not answered: is the service reachable?`, { cause });
    return { error, retryAfter_s: 0 };
  }
}

const unreadable = (status: number) =>
  new PaymentsError('unreadableAnswer', 'the answer is no JSON, or too long: is baseUrl that of the service?', {
    status,
  });

function queryOf({ query = {} }: Call): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length > 0 ? `?${new URLSearchParams(given)}` : '';
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > answerMax_bytes) {
      await reader?.cancel();
      throw unreadable(response.status);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The service states seconds. A date, which proxies may send, is ignored. */
function retryAfterOf(response: Response): number {
  const given = response.headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(given) ? Number(given) : 0;
}

/** @throws the signal's reason */
export function sleep(duration_ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, duration_ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
