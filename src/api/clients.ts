/** Who calls, by network address. Limits of strangers count by it, so nobody may choose his own. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { addressList } from '../security/publicAddress.ts';

export interface Clients {
  /** Whether requests from this address come through it, not from it. */
  isProxy(address: string): boolean;
  /** What the request is counted under: an IPv4 address, or the /64 of an IPv6 address. */
  of(request: IncomingMessage): string;
}

/**
 * X-Forwarded-For is believed from the operator's own proxies and from nobody else. Each hop added the address that it saw at the end, so
 * the list is read from there, until an address that is no proxy of ours: what stands before it may be made up.
 *
 * @param trustedProxies CIDR blocks @throws Error naming the block that is none
 */
export function createClients(trustedProxies: readonly string[]): Clients {
  const proxies = addressList(trustedProxies);
  const isProxy = (address: string): boolean => {
    const family = isIP(address);
    return family !== 0 && proxies.check(address, family === 4 ? 'ipv4' : 'ipv6');
  };
  return {
    isProxy,
    of({ socket, headers }) {
      let client = plainAddress(socket.remoteAddress ?? '');
      const hops = String(headers['x-forwarded-for'] ?? '')
        .slice(-forwardedMax)
        .split(',');
      while (isProxy(client)) {
        const before = addressIn(hops.pop() ?? '');
        if (before === undefined) break;
        client = before;
      }
      return neighbourhoodOf(client);
    },
  };
}

/** Characters of X-Forwarded-For that are read, from its end: a caller can make the rest as long as they like. */
const forwardedMax = 1_000;

/** A socket that listens on IPv6 shows IPv4 as ::ffff:1.2.3.4. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** Some proxies add the port: 1.2.3.4:5678, [2001:db8::1]:5678. */
function addressIn(hop: string): string | undefined {
  const text = hop.trim().replace(/^\[(.*)\](:\d+)?$/, '$1');
  const address = plainAddress(/^\d+(\.\d+){3}:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text);
  return isIP(address) ? address : undefined;
}

/** An IPv6 subscriber has a /64 at least, and may call from any address in it. */
export function neighbourhoodOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [left = [], right = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const rightLength = right.length + (right.at(-1)?.includes('.') ? 1 : 0);
  const zeros = Array<string>(Math.max(0, 8 - left.length - rightLength)).fill('0');
  const groups = [...left, ...zeros, ...right].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/64`;
}

export interface Network {
  readonly network: string;
  /** Ordinary callers that the network may be as busy as. */
  readonly callers: number;
}

/**
 * Returns the networks that a caller counts under besides its own, narrowest first: providers and tunnels assign a /56 or a /48, which is
 * 65,536 networks of size /64. Anything but a /64 counts under itself alone.
 */
export function networksOf(client: string): readonly Network[] {
  const own = { network: client, callers: 1 };
  const groups = /^([0-9a-f]+):([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)::\/64$/.exec(client)?.slice(1);
  if (!groups) return [own];
  const [a, b, c, d = '0'] = groups;
  const upper = (Number.parseInt(d, 16) & 0xff00).toString(16);
  return [own, { network: `${a}:${b}:${c}:${upper}::/56`, callers: 4 }, { network: `${a}:${b}:${c}::/48`, callers: 8 }];
}
