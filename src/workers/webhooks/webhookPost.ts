import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import type { WebhookAnswer, WebhookMessage, WebhookPost } from '../../../commands/sendWebhook.ts';
import { previewCharacters, type WebhookError } from '../../../domain/webhook.ts';
import { type AddressCheck, literalAddress } from '../../security/publicAddress.ts';

/** All addresses of a name, IPv4 and IPv6; empty or an error if it has none. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface WebhookPostDeps {
  readonly isAllowed: AddressCheck;
  readonly resolve?: Resolve;
  /** Additional trusted certificate authorities (PEM). */
  readonly extraCa?: readonly string[];
  /** For everything together: name, connection, TLS, answer. */
  readonly timeout_ms?: number;
}

const timeout_ms = 10_000;
/** Time to connect to one address before the next is tried. Node's default is 250 ms, too short for a distant receiver. */
const connectAttempt_ms = 2_000;
/** Maximum addresses tried: the attempts leave 2 s of the deadline for TLS and the answer. */
const addressesMax = 4;

/**
 * One HTTPS POST to a merchant's URL: only to allowed addresses, with all of the name's addresses checked and the connection pinned to them
 * (so no second resolution can differ); no redirects, no reused connections, no second request; reads at most 200 characters of the answer;
 * 10 s in all.
 */
export function createWebhookPost(deps: WebhookPostDeps): WebhookPost {
  const { isAllowed, resolve = resolveNames(), extraCa = [] } = deps;
  // Waits for the first message: reading the default authorities takes 0.1 s of a processor, which each start would pay.
  const openAgent = () =>
    new Agent({
      keepAlive: false,
      maxCachedSessions: 0,
      secureContext: createSecureContext({ ca: [...getCACertificates('default'), ...extraCa] }),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: connectAttempt_ms,
    });
  let agent: Agent | undefined;

  return async (message) => {
    const url = URL.canParse(message.url) ? new URL(message.url) : undefined;
    if (url?.protocol !== 'https:' || url.username || url.password) return failed('badUrl');

    const signal = AbortSignal.timeout(deps.timeout_ms ?? timeout_ms);
    const addresses = await addressesOf(url, resolve, signal);
    if (addresses.length === 0) return failed(signal.aborted ? 'timeout' : 'dns');
    if (!addresses.every(isAllowed)) return failed('blockedAddress');

    agent ??= openAgent();
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
      // Closed without an error and without an answer: an unrequested upgrade (101).
      if (!answered) settle(failed('protocol', sent));
    });
    request.on('response', (response) => {
      // From here on the receiver has answered: a failure while the preview is read changes nothing.
      answered = true;
      previewOf(response).then((responsePreview) => {
        request.destroy();
        settle({ statusCode: response.statusCode ?? null, error: null, responsePreview, sent });
      });
    });
    request.end(body);
  });
}

/** First characters (code points) of an answer; reads no further. */
async function previewOf(response: IncomingMessage): Promise<string> {
  const decoder = new TextDecoder('utf-8');
  let characters: string[] = [];
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      const room = previewCharacters - characters.length;
      // A character has at most four bytes: more need not be decoded.
      characters = characters.concat([...decoder.decode(chunk.subarray(0, 4 * room + 4), { stream: true })]);
      if (characters.length >= previewCharacters) break;
    }
  } catch {
    // Ended by the receiver or the deadline: the received text is the preview.
  }
  return characters.slice(0, previewCharacters).join('').replaceAll('\u0000', '\uFFFD');
}

async function addressesOf(url: URL, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  const literal = literalAddress(url);
  if (literal) return [literal];
  const late = new Promise<readonly string[]>((settle) => signal.addEventListener('abort', () => settle([])));
  return await Promise.race([resolve(url.hostname, signal).catch(() => []), late]);
}

/** Connects to the checked addresses, whatever the name resolves to by now. Not used for literal addresses. */
const pinnedTo =
  (addresses: readonly string[]): LookupFunction =>
  (_host, _options, done) =>
    done(
      null,
      bothFamilies(addresses).map((address) => ({ address, family: isIP(address) })),
    );

/** At most `addressesMax`, half of each family if there are enough: one family may have no route. */
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

/** Addresses of a name in a hosts file, in any letter case. */
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
