import assert from 'node:assert/strict';
import { isInClear, storeAddress } from '../../src/store/address.ts';
import { openClient } from '../../src/store/connection.ts';

const at = (address: string, port = 2113) => ({ address, port });

describe('the address of an event store', () => {
  for (const [url, expected] of [
    ['esdb://events:2114', { hosts: [at('events', 2114)], discover: false }],
    ['esdb://events/', { hosts: [at('events')], discover: false }],
    ['esdb+discover://cluster.example.com', { hosts: [at('cluster.example.com')], discover: true }],
    ['esdb+discover://u:p@a:2113,b:2114,c', { hosts: [at('a'), at('b', 2114), at('c')], discover: true }],
    ['esdb://a, b,c_1:2115?tls=false', { hosts: [at('a'), at('b'), at('c_1', 2115)], discover: false }],
    ['kurrentdb+discover://a,b', { hosts: [at('a'), at('b')], discover: true }],
    ['esdb://[::1]:2113?tls=false', { hosts: [at('[::1]')], discover: false }],
  ] as const)
    it(`is read from ${url}`, () => {
      const { hosts, discover } = storeAddress(url);
      assert.deepEqual({ hosts, discover }, expected);
    });

  for (const [written, password] of [
    ['changeit', 'changeit'],
    ['a%2Fb%40c%3A', 'a/b@c:'],
    ['a/b', 'a/b'],
    ['a@b', 'a@b'],
    ['a:b', 'a:b'],
    ['a?b=c#d', 'a?b=c#d'],
    ['/@/@', '/@/@'],
  ])
    it(`has the password ${password} written as ${written}`, () => {
      const { user, hosts } = storeAddress(`esdb+discover://ops:${written}@a:2113,b:2113?tlsCaFile=/etc/ca.crt`);
      assert.deepEqual(user, { username: 'ops', password });
      assert.deepEqual(hosts, [at('a'), at('b')]);
    });

  it('has the options of the client, in any spelling of theirs, and names those that the client does not know', () => {
    const { options, unknown } = storeAddress(
      'esdb://a?TLS=False&tls_ca-file=%2Fetc%2Fca.crt&keepAliveInterval=10000&colour=red&tlsVerifyCert=false',
    );
    assert.deepEqual(options, { tls: false, tlsCAFile: '/etc/ca.crt', keepAliveInterval: 10_000 });
    assert.deepEqual(unknown, ['colour', 'tlsVerifyCert']);
  });

  for (const url of [
    'http://ops:open-sesame@a:2113',
    'esdb://ops:open-sesame@',
    'esdb://ops:open-sesame@a b',
    'esdb://ops:open-sesame%@a',
    'esdb://ops:open-sesame@a:99999',
    'esdb://ops:open-sesame@a?tls=perhaps',
    'esdb://ops:open-sesame@a?gossipTimeout=soon',
    'esdb://ops:open-sesame@a?tls',
  ])
    it(`is refused without a word of its password: ${url}`, () => {
      assert.throws(
        () => storeAddress(url),
        (error) => error instanceof RangeError && !error.message.includes('sesame'),
      );
    });

  it('is in clear when any of its hosts is beyond this machine and TLS is off', () => {
    for (const [url, expected] of [
      ['esdb://localhost:2113,events:2113?tls=false', true],
      ['esdb+discover://u:p@127.0.0.1,10.0.0.7?tls=False', true],
      ['esdb://localhost,127.0.0.1:2114,[::1]?tls=false', false],
      ['esdb://localhost,events', false],
      ['esdb+unix:///data/eventstore/socket', false],
    ] as const)
      assert.equal(isInClear(storeAddress(url)), expected, url);
  });
});

describe('the official client', () => {
  it('prints no part of the address, whatever is in it', () => {
    const printed: unknown[] = [];
    const { warn } = console;
    console.warn = (...said) => printed.push(...said);
    try {
      openClient('esdb+discover://ops:open/s@same@a,b?colour=red&tlsVerifyCert=false&tls=false');
    } finally {
      console.warn = warn;
    }
    assert.deepEqual(printed, []);
  });

  it('is not opened with a missing certificate; the variable and the file are named', () => {
    assert.throws(() => openClient('esdb://a?tlsCaFile=/nowhere/ca.crt'), {
      name: 'RangeError',
      message: 'EVENTSTORE_URL has tlsCaFile name /nowhere/ca.crt, which cannot be read (ENOENT)',
    });
    assert.throws(() => openClient('esdb://a?userKeyFile=/nowhere/key'), /^RangeError: EVENTSTORE_URL has one of/);
  });
});
