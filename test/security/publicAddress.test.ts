import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createAddressCheck, isPublicAddress, isPublicName, literalAddress } from '../../src/security/publicAddress.ts';

const refused: Readonly<Record<string, readonly string[]>> = {
  'this network': ['0.0.0.0', '0.255.255.255'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  'carrier-grade NAT': ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
  loopback: ['127.0.0.1', '127.1.2.3', '127.255.255.255'],
  'link-local and cloud metadata': ['169.254.0.1', '169.254.169.254', '169.254.170.2'],
  'protocol assignments': ['192.0.0.1', '192.0.0.192'],
  documentation: ['192.0.2.1', '198.51.100.7', '203.0.113.9'],
  '6to4 relay': ['192.88.99.1'],
  benchmarks: ['198.18.0.1', '198.19.255.255'],
  multicast: ['224.0.0.1', '239.255.255.255'],
  reserved: ['240.0.0.1', '255.255.255.254'],
  broadcast: ['255.255.255.255'],
  'IPv6 unspecified and loopback': ['::', '::1', '0:0:0:0:0:0:0:1'],
  'IPv4 in IPv6, whatever it carries': [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8',
    '::ffff:169.254.169.254',
    '::127.0.0.1',
    '::7f00:1',
    '::ffff:0:127.0.0.1',
  ],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::10.0.0.1'],
  '6to4': ['2002:7f00:1::', '2002:a9fe:a9fe::1'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'IPv6 protocol assignments': ['2001:2::1', '2001:10::1', '2001:20::1', '2001:1ff:ffff::1'],
  'unique local': ['fc00::1', 'fd00::1', 'fd00:ec2::254', 'fdff:ffff::1'],
  'IPv6 link-local': ['fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1'],
  'IPv6 multicast': ['ff00::1', 'ff02::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'discard, SRv6, IPv6 documentation, 6bone': ['100::1', '5f00::1', '2001:db8::1', '3fff::1', '3fff:fff::1', '3ffe::1'],
  'never assigned': ['1::', '4000::1', '8000::1', 'e000::1'],
  'no address at all': [
    '',
    'localhost',
    '127.1',
    '0x7f000001',
    '2130706433',
    '8.8.8.8.8',
    '256.1.1.1',
    '[::1]',
    '8.8.8.8%eth0',
  ],
  'a zone on a public address': ['2606:4700::1111%eth0'],
};

const accepted = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '161.25.255.255',
  '161.27.0.0',
  '166.7.255.255',
  '166.12.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.1',
  '192.80.8.123',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2606:4700:0:5efe::1',
  '2606:4700:1:2:1:5efe:a00:1',
  '2a00:1450:4001::1',
  '2003::1',
];

describe('public addresses', () => {
  for (const [kind, addresses] of Object.entries(refused)) {
    it(`refuse ${kind}: ${addresses.join(' ')}`, () => {
      for (const address of addresses) assert.equal(isPublicAddress(address), false, address);
    });
  }

  it(`accept ${accepted.length} addresses next to the refused blocks and well-known ones`, () => {
    for (const address of accepted) assert.equal(isPublicAddress(address), true, address);
  });

  it('refuse every IPv4 address in each of its IPv6 forms', () =>
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        for (const dress of [`::${address}`, `::ffff:${address}`, `64:ff9b::${address}`])
          assert(!isPublicAddress(dress));
      }),
    ));

  it('are distinguished from names of private networks, which no public name server answers for', () => {
    for (const name of ['shop.example', 'SHOP.EXAMPLE.', 'internal.shop.example', 'localhost.shop.example', 'a.b'])
      assert.ok(isPublicName(name), name);
    for (const name of [
      'localhost',
      'LocalHost.',
      'a.localhost',
      'metadata.google.internal',
      'x.home.arpa',
      'shop',
      '',
    ])
      assert.ok(!isPublicName(name), name);
  });

  describe('with blocks that the operator allows', () => {
    const isAllowed = createAddressCheck(['127.0.0.1/32', '10.1.0.0/16', 'fd00::/8']);

    it('accept those in addition to the public ones, and nothing else', () => {
      for (const address of ['127.0.0.1', '10.1.255.255', 'fd12::1', '8.8.8.8']) assert(isAllowed(address), address);
      for (const address of ['127.0.0.2', '10.2.0.0', 'fe80::1', '', 'localhost']) assert(!isAllowed(address), address);
    });

    for (const block of ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/', 'fd00::/129', 'example.com/8', '10.0.0.0/8 ', '']) {
      it(`do not start with "${block}"`, () =>
        assert.throws(() => createAddressCheck([block]), /is no block of addresses/));
    }
  });

  it('are read from a URL in any spelling', () => {
    const spelled = (url: string) => literalAddress(new URL(url));
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '127.1', '１２７.0.0.1']) {
      assert.equal(spelled(`https://${host}/`), '127.0.0.1', host);
    }
    assert.equal(spelled('https://[::1]/'), '::1');
    assert.equal(spelled('https://[::ffff:127.0.0.1]/'), '::ffff:7f00:1');
    assert.equal(spelled('https://bakery.example/'), undefined);
  });
});
