import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import type { Codec } from '../../../commands/codec.ts';
import type { EventStore } from '../../../commands/ports.ts';
import type { SendWebhook, WebhookAnswer, WebhookMessage, WebhookPost } from '../../../commands/sendWebhook.ts';
import { assert, fold, type StoredEvent } from '../../../domain/decider.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { sampleWebhookData, viewOf, webhookData } from '../../../domain/payment/view.ts';
import type { Instant } from '../../../domain/time.ts';
import { previewCharacters, sentByItself, type WebhookError, type WebhookStart } from '../../../domain/webhook.ts';
import type { DueWebhook } from '../../../queries/work.ts';
import { boundedMap } from '../../lib/cache.ts';
import { type AddressCheck, literalAddress } from '../../security/publicAddress.ts';
import type { Worker } from '../engine.ts';

export interface WebhookWorkerDeps {
  readonly due: (max: number, now: Instant) => Promise<readonly DueWebhook[]>;
  readonly send: SendWebhook;
  /** Maximum concurrent deliveries to one app. */
  readonly perAppMax: number;
}

const concurrency = 128;
/** Maximum concurrent deliveries to one app: a receiver that does not answer, for ten seconds each, leaves room for others. */
export const deliveriesPerAppMax = 16;

/** Finished deliveries stay in the list until the read models have caught up. */
const rememberedMax = 10_000;

/** Notifies apps of their payments. A payment's webhooks are sent one after the other, those of different payments concurrently. */
export function createWebhookWorker({ due, send, perAppMax }: WebhookWorkerDeps): Worker<DueWebhook> {
  const over = boundedMap<true>(rememberedMax);
  return {
    name: 'webhooks',
    concurrency,
    due: async (max, now) => (await due(max, now)).filter(({ deliveryId }) => !over.get(deliveryId)),
    keyOf: ({ paymentId }) => paymentId,
    share: { max: perAppMax, of: ({ appId }) => appId },

    // A stop of the process lets a claimed delivery finish.
    async act({ eventRevision, ...delivery }) {
      const news = { ...delivery, ...sentByItself, eventRevision: eventRevision.toString() };
      await send(news, { cause: 'worker:webhooks' });
      // Claimed by any process: nobody sends it again.
      over.set(delivery.deliveryId, true);
    },
  };
}

// Body of a webhook: equal bytes from an equal start.

export interface WebhookBodyDeps {
  readonly store: Pick<EventStore, 'read'>;
  readonly codec: Pick<Codec, 'read'>;
}

export type WebhookBodyOf = (start: WebhookStart) => Promise<Uint8Array>;

/** More than a flood of payins can leave in a payment's stream. */
const eventsMax = 10_000;

/** The payment as of the webhook's event, never the current one, which may already have a payout. For a test, a sample payment. */
export function createWebhookBodies({ store, codec }: WebhookBodyDeps): WebhookBodyOf {
  return async (start) => {
    const { deliveryId, eventType, paymentId, eventId, eventRevision } = start;
    const write = (timestamp: string, data: object): Uint8Array =>
      Buffer.from(JSON.stringify({ event_id: deliveryId, type: eventType, timestamp, data }), 'utf8');
    if (paymentId === null || eventId === null || eventRevision === null) {
      return write(start.startedAt, sampleWebhookData(start.appId, start.startedAt));
    }
    const events = await paymentUpTo({ paymentId, eventId }, BigInt(eventRevision));
    const at = events.at(-1)?.metadata.at ?? start.startedAt;
    return write(at, webhookData(viewOf(folded(events), at)));
  };

  async function paymentUpTo({ paymentId, eventId }: { paymentId: string; eventId: string }, revision: bigint) {
    assert(revision < eventsMax, `payment ${paymentId}: event ${revision} is beyond the ${eventsMax} a webhook reads`);
    const events = await store.read(`payment-${paymentId}`, { from: 0n, max: Number(revision) + 1 });
    assert(events.at(-1)?.id === eventId, `payment ${paymentId} has no event ${eventId} at revision ${revision}`);
    return events;
  }

  function folded(events: readonly StoredEvent[]) {
    const known = events.map(codec.read).filter((event) => event !== undefined);
    const payment = fold(paymentDecider, known as readonly PaymentEvent[]);
    assert(payment !== null, 'a webhook tells of a payment that was created');
    return payment;
  }
}

// The POST of one webhook over HTTPS.

/** All addresses of a name, IPv4 and IPv6; empty or an error when it has none. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface WebhookPostDeps {
  readonly isAllowed: AddressCheck;
  readonly resolve?: Resolve;
  /** Certificate authorities (PEM) that are trusted beside the system's. */
  readonly extraCa?: readonly string[];
  /** For everything together: name, connection, TLS, answer. */
  readonly timeout_ms?: number;
}

const timeout_ms = 10_000;
/** Time to connect to one address before the next is tried. Node's default is 250 ms, too little for a distant receiver. */
const connectAttempt_ms = 2_000;
/** Addresses tried at most: the attempts leave 2 s of the deadline for TLS and the answer. */
const addressesMax = 4;

/**
 * One HTTPS POST to a URL that a merchant chose, so: only to allowed addresses, all of the name's addresses checked and the connection
 * pinned to them (no second look-up can answer otherwise); no redirects, no reused connections, no second request;
 * no more than 200 characters of the answer read; 10 s in all.
 */
export function createWebhookPost(deps: WebhookPostDeps): WebhookPost {
  const { isAllowed, resolve = resolveNames() } = deps;
  const secureContext = createSecureContext({ ca: [...getCACertificates('default'), ...(deps.extraCa ?? [])] });
  const agent = new Agent({
    keepAlive: false,
    maxCachedSessions: 0,
    secureContext,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: connectAttempt_ms,
  });

  return async (message) => {
    const url = URL.canParse(message.url) ? new URL(message.url) : undefined;
    if (url?.protocol !== 'https:' || url.username || url.password) return failed('badUrl');

    const signal = AbortSignal.timeout(deps.timeout_ms ?? timeout_ms);
    const addresses = await addressesOf(url, resolve, signal);
    if (addresses.length === 0) return failed(signal.aborted ? 'timeout' : 'dns');
    if (!addresses.every(isAllowed)) return failed('blockedAddress');

    return send({ ...message, url, addresses, agent, signal });
  };
}

interface Sending extends Omit<WebhookMessage, 'url'> {
  readonly url: URL;
  readonly addresses: readonly string[];
  readonly agent: Agent;
  readonly signal: AbortSignal;
}

function send({ url, body, headers, addresses, agent, signal }: Sending): Promise<WebhookAnswer> {
  return new Promise((settle) => {
    let phase: WebhookError = 'connection';
    let answered = false;
    let sent = false;
    const request = httpsRequest(url, {
      method: 'POST',
      agent,
      signal,
      lookup: pinnedTo(addresses),
      headers: { ...headers, 'Content-Length': body.byteLength },
    });
    request.on('socket', (socket) => {
      socket.once('connect', () => {
        phase = 'tls';
      });
      socket.once('secureConnect', () => {
        phase = 'connection';
        sent = true;
      });
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (answered) return;
      const garbled = error.code?.startsWith('HPE_') ?? false;
      settle(failed(signal.aborted ? 'timeout' : garbled ? 'protocol' : phase, sent));
    });
    request.on('close', () => {
      // Closed without an error and without an answer: an upgrade (101) that nobody asked for.
      if (!answered) settle(failed('protocol', sent));
    });
    request.on('response', (response) => {
      // From here on the receiver has answered: whatever breaks while the preview is read changes nothing.
      answered = true;
      previewOf(response).then((responsePreview) => {
        request.destroy();
        settle({ statusCode: response.statusCode ?? null, error: null, responsePreview, sent });
      });
    });
    request.end(body);
  });
}

/** The first characters (code points) of an answer, read no further than that. */
async function previewOf(response: IncomingMessage): Promise<string> {
  const decoder = new TextDecoder('utf-8');
  let characters: string[] = [];
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      const room = previewCharacters - characters.length;
      // A character takes at most four bytes: more need not be decoded.
      characters = characters.concat([...decoder.decode(chunk.subarray(0, 4 * room + 4), { stream: true })]);
      if (characters.length >= previewCharacters) break;
    }
  } catch {
    // Cut off by the receiver or the deadline: what came is the preview.
  }
  return characters.slice(0, previewCharacters).join('').replaceAll('\u0000', '\uFFFD');
}

async function addressesOf(url: URL, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  const literal = literalAddress(url);
  if (literal) return [literal];
  const late = new Promise<readonly string[]>((settle) => signal.addEventListener('abort', () => settle([])));
  return await Promise.race([resolve(url.hostname, signal).catch(() => []), late]);
}

/** Connects to the addresses that were checked, whatever the name would resolve to by now. Not asked for literal addresses. */
const pinnedTo =
  (addresses: readonly string[]): LookupFunction =>
  (_host, _options, done) =>
    done(
      null,
      bothFamilies(addresses).map((address) => ({ address, family: isIP(address) })),
    );

/** At most `addressesMax`, half of them of each family where there are enough: one family may have no route. */
function bothFamilies(addresses: readonly string[]): readonly string[] {
  const v4 = addresses.filter((address) => isIP(address) === 4);
  const v6 = addresses.filter((address) => isIP(address) === 6);
  const least = addressesMax / 2;
  const ofV4 = Math.max(least, addressesMax - v6.length);
  const ofV6 = Math.max(least, addressesMax - v4.length);
  return [...v4.slice(0, ofV4), ...v6.slice(0, ofV6)];
}

/**
 * Queries the name servers directly: the query can be aborted, and a slow server holds none of the process's few look-up threads. A name
 * that they do not know is read from the hosts file.
 *
 * @param servers `address:port` of name servers. Default: the system's.
 * @param hostsFile lines of an address and its names
 */
export const resolveNames =
  (servers?: readonly string[], hostsFile = '/etc/hosts'): Resolve =>
  async (host, signal) => {
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    if (servers) resolver.setServers(servers);
    signal.addEventListener('abort', () => resolver.cancel(), { once: true });
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    return addresses.length > 0 ? addresses : addressesIn(await readFile(hostsFile, 'utf8'), host);
  };

/** Addresses that a hosts file gives a name, in any letter case. */
function addressesIn(hosts: string, host: string): readonly string[] {
  const name = host.toLowerCase().replace(/\.$/, '');
  const entries = hosts.split('\n').map((line) => line.replace(/#.*/, '').trim().split(/\s+/));
  const found = entries.filter(([, ...names]) => names.some((each) => each.toLowerCase() === name));
  return found.map(([address = '']) => address).filter((address) => isIP(address) !== 0);
}

const failed = (error: WebhookError, sent = false): WebhookAnswer => ({
  statusCode: null,
  error,
  responsePreview: null,
  sent,
});
