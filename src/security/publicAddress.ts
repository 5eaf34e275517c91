import { BlockList, isIP } from 'node:net';

/** IPv4 that is nobody's public server: IANA special-purpose registry, multicast, the 6to4 relay, reserved space. */
const special4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local, cloud metadata
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/**
 * All public IPv6 lies in here. Outside of it, and so refused: loopback, unique local, link-local, multicast, and the forms that
 * carry an IPv4 address (::/96, ::ffff:0:0/96, NAT64 64:ff9b::/96 and 64:ff9b:1::/48).
 */
const global6 = ['2000::/3'];

const special6 = [
  '2001::/23', // protocol assignments, Teredo (carries IPv4) among them
  '2001:db8::/32',
  '2002::/16', // 6to4 (carries IPv4)
  '3ffe::/16',
  '3fff::/20',
];

const refused4 = addressList(special4);
const accepted6 = addressList(global6);
const refused6 = addressList(special6);

/** Whether a literal address may be a server on the public internet. False for anything that is no address. */
export function isPublicAddress(address: string): boolean {
  // An address with a zone (fe80::1%eth0) belongs to one link.
  if (address.includes('%')) return false;
  switch (isIP(address)) {
    case 4:
      return !refused4.check(address, 'ipv4');
    case 6:
      return accepted6.check(address, 'ipv6') && !refused6.check(address, 'ipv6');
    default:
      return false;
  }
}

export type AddressCheck = (address: string) => boolean;

/**
 * The addresses that webhooks may be sent to: public ones, and those an operator allows.
 *
 * @param allowed CIDR blocks like `10.1.0.0/16` or `127.0.0.1/32`
 * @throws Error naming the block that is none
 */
export function createAddressCheck(allowed: readonly string[]): AddressCheck {
  const list = addressList(allowed);
  return (address) => {
    const family = isIP(address);
    return family !== 0 && (isPublicAddress(address) || list.check(address, family === 4 ? 'ipv4' : 'ipv6'));
  };
}

/** The address that a URL's host spells out, brackets off; undefined for a name. `https://0x7f.1` is 127.0.0.1 already when parsed. */
export function literalAddress(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) ? host : undefined;
}

/** @throws Error naming the block that is none */
export function addressList(blocks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = '', prefix = ''] = block.split('/');
    const family = isIP(address);
    const bits = Number(prefix);
    if (family === 0 || !/^\d{1,3}$/.test(prefix) || bits > (family === 4 ? 32 : 128)) {
      throw new Error(`${block} is no block of addresses: write it like 10.1.0.0/16 or fd00::/8`);
    }
    list.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

/** Whether a text is a CIDR block. */
export function isBlock(text: string): boolean {
  try {
    addressList([text]);
    return true;
  } catch {
    return false;
  }
}
