import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:https';
import { connect } from 'node:net';
import { PayoutBlocked, type SigningPurpose, SigningRefused, type Unsigned } from '../../commands/transferPorts.ts';
import { createRemoteSigner, type RemoteSigner } from '../../src/signer/client.ts';
import { messageMax_bytes, type SigningRequest } from '../../src/signer/protocol.ts';
import { type Answering, type RequestLine, type SignerServer, startSignerServer } from '../../src/signer/server.ts';
import { loadTls } from '../../src/signer/settings.ts';
import { onStop } from '../support/hooks.ts';
import { treasuryAccount } from '../support/payments.ts';
import { type Authority, testAuthority } from './authority.ts';

const unsigned: Unsigned = {
  chainId: 8453,
  account: treasuryAccount,
  nonce: 2n ** 60n,
  order: {
    chainId: 8453,
    token: { symbol: 'USDC', address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6 },
    receiver: treasuryAccount,
    receiverMemo: null,
    amount: 10n ** 30n,
    reference: 'one',
    spokenFor: 5n,
  },
  validUntil: null,
  fee: { gas: '21000' },
  payload: { to: '0x', data: '0x', more: [1, { n: 2 }] },
};
const purpose = { kind: 'payout', reference: 'one', appId: 'shop' } as const;

describe('a separate signer, over its wire', () => {
  let authority: Authority;
  let server: SignerServer;
  let remote: RemoteSigner;
  const asked: SigningRequest[] = [];
  const told: RequestLine[] = [];
  let failure: Error | undefined;
  /** Salt that an answer names instead of the requested one. */
  let answersSalt: string | undefined;
  const answering: Answering = {
    accounts: [{ family: 'evm', account: treasuryAccount }],
    async check(question) {
      asked.push(question);
      if (failure) throw failure;
    },
    async sign(question) {
      asked.push(question);
      if (failure) throw failure;
      return { bytes: '0x02', hash: '0xabc' };
    },
    async depositOwners(wanted) {
      const salts = 'salts' in wanted ? wanted.salts : Array.from({ length: wanted.count }, (_, i) => `${i}`);
      return salts.map((salt) => ({ address: `of ${salt.slice(0, 2)}`, scheme: 's', salt: answersSalt ?? salt }));
    },
    told: (line) => void told.push(line),
  };

  before(async () => {
    authority = await testAuthority();
    const tls = loadTls(await authority.end('signer'));
    server = await startSignerServer(answering, { host: '127.0.0.1', port: 0, tls });
    remote = createRemoteSigner(server.url, loadTls(await authority.end('subscribers')));
    onStop(async () => {
      remote.close();
      await server.close();
    });
  });
  beforeEach(() => {
    failure = undefined;
    answersSalt = undefined;
    asked.length = 0;
    told.length = 0;
  });

  it('answers while silent connections without a certificate are open', async () => {
    const sockets = Array.from({ length: 300 }, () => connect(Number(new URL(server.url).port), '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => {});
    await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
    const fresh = createRemoteSigner(server.url, loadTls(await authority.end('subscribers')));
    try {
      await fresh.signerOf(treasuryAccount).check(unsigned, purpose);
      // The server closes a silent connection after 10 s: it did not wait for that.
      assert.ok(sockets.some(({ readyState }) => readyState === 'open'));
    } finally {
      fresh.close();
      for (const socket of sockets) socket.destroy();
    }
  });

  it('receives everything about a transaction, and answers with its signature', async () => {
    const signer = remote.signerOf(treasuryAccount);
    await signer.check(unsigned, purpose);
    assert.deepEqual(await signer.sign(unsigned, purpose), { bytes: '0x02', hash: '0xabc' });
    assert.deepEqual(asked, [
      { unsigned, purpose },
      { unsigned, purpose },
    ]);
    assert.deepEqual(await remote.accounts(), answering.accounts);
    assert.equal((await remote.depositOwners(3)).length, 3);
    assert.deepEqual(new Set(told.map(({ caller }) => caller)), new Set(['subscribers']));
  });

  it('derives the deposit of a salt, and no answer about another salt is believed', async () => {
    const salt = 'ab'.repeat(32);
    assert.deepEqual(await remote.depositOwner(salt), { address: 'of ab', scheme: 's', salt });
    answersSalt = 'cd'.repeat(32);
    await assert.rejects(remote.depositOwner(salt), { name: 'Unavailable' });
    for (const other of ['', 'AB'.repeat(32), `${salt}00`])
      await assert.rejects(remote.depositOwner(other), { reason: 'mismatch' });
  });

  it('refuses with the reasons of a local signer, in its own words', async () => {
    const signer = remote.signerOf(treasuryAccount);
    failure = new SigningRefused('perHour', 'the limit of 10 per hour is reached');
    await assert.rejects(async () => signer.sign(unsigned, purpose), failure);
    failure = new PayoutBlocked('fundingUnproven', 'no node shows it');
    await assert.rejects(async () => signer.check(unsigned, purpose), failure);
  });

  it('is not called repeatedly for an unreadable request', async () => {
    const signer = remote.signerOf(treasuryAccount);
    const unreadable: readonly [Partial<Unsigned>, Partial<SigningPurpose>][] = [
      [{ nonce: -1n }, {}],
      [{}, { reference: 'a\u0000b' }],
      [{}, { kind: 'gift' as 'payout' }],
    ];
    for (const [of, about] of unreadable) {
      const asking = async () => signer.sign({ ...unsigned, ...of }, { ...purpose, ...about });
      await assert.rejects(asking, (error: Error) => error instanceof SigningRefused && error.reason === 'mismatch');
    }
    assert.deepEqual(asked, []);
    assert.equal(told.filter(({ status, refused }) => status === 400 && refused?.refused === 'malformed').length, 3);
  });

  it('delays payouts when it fails or is away, and reveals nothing that it holds', async () => {
    const signer = remote.signerOf(treasuryAccount);
    failure = new Error('key 0x0123');
    await assert.rejects(
      async () => signer.sign(unsigned, purpose),
      (error: Error) => error.name === 'Unavailable' && !error.message.includes('0x0123'),
    );
    assert.deepEqual(
      told.map((line) => [line.status, line.refused?.refused, line.failure]),
      [[503, 'failed', failure]],
    );
    const nobody = createRemoteSigner('https://127.0.0.1:1', loadTls(await authority.end('other')));
    await assert.rejects(async () => nobody.signerOf(treasuryAccount).sign(unsigned, purpose), { name: 'Unavailable' });
    nobody.close();
  });

  it('answers nobody whose certificate its authority has not signed', async () => {
    const strangers = loadTls(await (await testAuthority()).end('subscribers'));
    const { ca } = loadTls(await authority.end('again'));
    const withOther = createRemoteSigner(server.url, { ...strangers, ca });
    await assert.rejects(withOther.accounts(), { name: 'Unavailable' });
    withOther.close();
    assert.deepEqual(told, []);
    const without = new Promise((resolve, reject) => {
      request(new URL('/v1/accounts', server.url), { ca }, resolve).on('error', reject).end();
    });
    await assert.rejects(without);
    assert.deepEqual(told, []);
  });

  it('is trusted by nobody if another authority signed for it', async () => {
    const { cert, key } = loadTls(await authority.end('subscribers'));
    const { ca } = loadTls(await (await testAuthority()).end('x'));
    const doubting = createRemoteSigner(server.url, { ca, cert, key });
    await assert.rejects(doubting.accounts(), { name: 'Unavailable' });
    doubting.close();
  });

  it('states the fault of a request, reads no more of one than it may, and continues', async () => {
    const tls = loadTls(await authority.end('subscribers'));
    const post = (body: string, path = '/v1/sign') =>
      new Promise<number>((resolve, reject) => {
        request(new URL(path, server.url), { ...tls, method: 'POST' }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .on('error', reject)
          .end(body);
      });
    assert.equal(await post('{'), 400);
    assert.equal(await post('{}'), 400);
    assert.equal(await post('x'.repeat(messageMax_bytes + 1)), 400);
    assert.equal(await post('{}', '/v1/keys'), 404);
    assert.deepEqual(
      told.map((line) => line.refused?.refused),
      ['malformed', 'malformed', 'malformed', 'notFound'],
    );
    assert.equal(asked.length, 0);
    assert.equal((await remote.accounts()).length, 1);
  });
});
