import { BlockList, isIP } from 'node:net';

/**
 * IPv4 without public servers: IANA's special-purpose registry, multicast, the 6to4 relay, reserved space, and public addresses at which a
 * cloud answers its own machines.
 */
const special4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT, metadata of Alibaba Cloud
  '127.0.0.0/8',
  '161.26.0.0/16', // services within IBM Cloud
  '166.8.0.0/14', // services within IBM Cloud
  '168.63.129.16/32', // Azure's wire server
  '169.254.0.0/16', // link-local, metadata of most clouds
  '172.16.0.0/12',
  '192.0.0.0/24', // protocol assignments, metadata of Oracle Cloud
  '192.0.2.0/24',
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // multicast tunnels
  '192.80.8.124/32', // metadata of Equinix Metal
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24', // AS112
  '198.18.0.0/15',
  '198.51.100.0/24',
  '199.36.153.0/24', // Google APIs within Google Cloud
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/**
 * All public IPv6 is in this range. Everything outside is refused: loopback, unique local (including the metadata of AWS and Google Cloud),
 * link-local, multicast, and the forms that carry an IPv4 address (::/96, ::ffff:0:0/96, NAT64 64:ff9b::/96 and 64:ff9b:1::/48).
 */
const global6 = ['2000::/3'];

const special6 = [
  '2001::/23', // protocol assignments, including Teredo (carries IPv4)
  '2001:db8::/32',
  '2002::/16', // 6to4 (carries IPv4)
  '2620:4f:8000::/48', // AS112
  '3ffe::/16',
  '3fff::/20',
];

const refused4 = addressList(special4);
const accepted6 = addressList(global6);
const refused6 = addressList(special6);

/** True if a literal address may be a server on the public internet. False for anything else. */
export function isPublicAddress(address: string): boolean {
  // An address with a zone (fe80::1%eth0) belongs to one link.
  if (address.includes('%')) return false;
  switch (isIP(address)) {
    case 4:
      return !refused4.check(address, 'ipv4');
    case 6:
      return accepted6.check(address, 'ipv6') && !refused6.check(address, 'ipv6') && !carriesIsatap(address);
    default:
      return false;
  }
}

/** ISATAP (RFC 5214) puts an IPv4 address after 0:5efe or 200:5efe, under any prefix: 2606:4700::5efe:10.0.0.1. */
const carriesIsatap = (address: string): boolean => /^(?:[^:]+:){4}(?:0|200):5efe:/.test(eightGroups(address));

/** In lower case, with an IPv4 tail as hex, and with the zeros of `::`. */
function eightGroups(address: string): string {
  const spelled = new URL(`https://[${address}]/`).hostname.slice(1, -1);
  const zeros = 8 - spelled.split(':').filter((group) => group !== '').length;
  return spelled.replace('::', `:${'0:'.repeat(zeros)}`).replace(/^:|:$/g, '');
}

export type AddressCheck = (address: string) => boolean;

/**
 * Allowed addresses of webhooks: public ones, and those that an operator allows.
 *
 * @param allowed CIDR blocks like `10.1.0.0/16` or `127.0.0.1/32`
 * @throws Error naming an invalid block
 */
export function createAddressCheck(allowed: readonly string[]): AddressCheck {
  const list = addressList(allowed);
  return (address) => {
    const family = isIP(address);
    return family !== 0 && (isPublicAddress(address) || list.check(address, family === 4 ? 'ipv4' : 'ipv6'));
  };
}

/** Domains without public servers (RFC 6761, 6762, 7686, 8375, 9476; ICANN's choice for private networks). */
const privateDomains = ['localhost', 'local', 'internal', 'home.arpa', 'onion', 'alt', 'test', 'invalid'];

/** True if a host name may belong to a public server: not `localhost`, not a bare word, nothing under private domains. */
export function isPublicName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return name.includes('.') && !privateDomains.some((domain) => name.endsWith(`.${domain}`));
}

/**
 * Allowed URLs of webhooks, as far as the text decides: a name's addresses are only checked when one is sent. An operator who allows blocks
 * has their own names for them.
 *
 * @param allowed as for `createAddressCheck`
 */
export function createTargetCheck(allowed: readonly string[]): (url: string) => boolean {
  const isAllowed = createAddressCheck(allowed);
  return (text) => {
    const url = new URL(text);
    const address = literalAddress(url);
    return address === undefined ? allowed.length > 0 || isPublicName(url.hostname) : isAllowed(address);
  };
}

/** Literal address of a URL's host, without brackets; undefined for a name. Parsing has turned `https://0x7f.1` into 127.0.0.1. */
export function literalAddress(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) ? host : undefined;
}

/** @throws Error naming an invalid block */
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

/** True if a text is a CIDR block. */
export function isBlock(text: string): boolean {
  try {
    addressList([text]);
    return true;
  } catch {
    return false;
  }
}
