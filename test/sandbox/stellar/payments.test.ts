import assert from 'node:assert/strict';
import { Asset, Keypair, Memo, Operation, scValToNative } from '@stellar/stellar-sdk';
import { fundAccount } from '../../../sandbox/stellar/controls.ts';
import { addressArg, i128Arg, muxed, type StellarLab, stellarLab, usdc } from '../../support/stellar.ts';

describe('local Stellar: classic payments', () => {
  let lab: StellarLab;
  let treasury: Keypair;
  let payer: Keypair;
  before(async () => {
    lab = await stellarLab();
    [treasury, payer] = [await lab.person(0n), await lab.person()];
  });
  after(() => lab.stop());

  const pay = (destination: string, amount = '2', memo?: Memo) =>
    lab.go(payer, [Operation.payment({ destination, asset: usdc, amount })], memo);

  describe('show as events of the asset’s contract, with their id or memo', () => {
    const cases: readonly (readonly [string, Memo | undefined, unknown])[] = [
      ['memo text', Memo.text('pay_200'), { amount: 2_0000000n, to_muxed_id: 'pay_200' }],
      ['memo id', Memo.id('18446744073709551615'), { amount: 2_0000000n, to_muxed_id: 18446744073709551615n }],
      ['memo hash', Memo.hash('ab'.repeat(32)), { amount: 2_0000000n, to_muxed_id: Buffer.alloc(32, 0xab) }],
      ['memo return', Memo.return('cd'.repeat(32)), { amount: 2_0000000n, to_muxed_id: Buffer.alloc(32, 0xcd) }],
      ['no memo', undefined, 2_0000000n],
    ];
    for (const [name, memo, data] of cases) {
      it(name, async () => assert.deepEqual(await eventData(await pay(treasury.publicKey(), '2', memo)), data));
    }

    it('an M-address, which takes precedence over the memo', async () => {
      const got = await pay(muxed(treasury.publicKey(), 202n), '2', Memo.text('ignored'));
      assert.deepEqual(await eventData(got), { amount: 2_0000000n, to_muxed_id: 202n });
    });
  });

  it('through the asset’s contract carry the number of an M-address, never the memo', async () => {
    const to = muxed(treasury.publicKey(), 7n);
    const args = [addressArg(payer.publicKey()), addressArg(to), i128Arg(3n)];
    const got = await lab.call(payer, lab.usdcId, 'transfer', ...args);
    assert.deepEqual(await eventData(got), { amount: 3n, to_muxed_id: 7n });
  });

  it('move the money to the last unit', async () => {
    const before = [await lab.balance(payer.publicKey()), await lab.balance(treasury.publicKey())] as const;
    await pay(treasury.publicKey(), '0.0000001');
    assert.equal(await lab.balance(payer.publicKey()), before[0] - 1n);
    assert.equal(await lab.balance(treasury.publicKey()), before[1] + 1n);
  });

  it('with several operations happen all or not at all', async () => {
    const before = await lab.balance(treasury.publicKey());
    const toTreasury = Operation.payment({ destination: treasury.publicKey(), asset: usdc, amount: '1' });
    const toNobody = Operation.payment({ destination: Keypair.random().publicKey(), asset: usdc, amount: '1' });
    const got = await lab.go(payer, [toTreasury, toNobody]);
    assert.equal(got.status, 'FAILED');
    assert.deepEqual(codesOf(got), ['paymentSuccess', 'paymentNoDestination']);
    assert.equal(await lab.balance(treasury.publicKey()), before);
    assert.equal(got.events.contractEventsXdr.flat().length, 0);
  });

  describe('fail with the network’s own codes', () => {
    it('no trustline', async () => {
      const stranger = Keypair.random();
      await fundAccount(lab.stellar.rpcUrl, stranger.publicKey(), {});
      assert.deepEqual(codesOf(await pay(stranger.publicKey())), ['paymentNoTrust']);
    });

    it('no account', async () => {
      assert.deepEqual(codesOf(await pay(Keypair.random().publicKey())), ['paymentNoDestination']);
    });

    it('too little money', async () => {
      assert.deepEqual(codesOf(await pay(treasury.publicKey(), '1000000')), ['paymentUnderfunded']);
    });

    it('a full trustline', async () => {
      const small = await lab.person(0n);
      await lab.go(small, [Operation.changeTrust({ asset: usdc, limit: '1' })]);
      assert.deepEqual(codesOf(await pay(small.publicKey(), '1.0000001')), ['paymentLineFull']);
    });

    it('lumens that the account must keep', async () => {
      const payment = Operation.payment({ destination: treasury.publicKey(), asset: Asset.native(), amount: '9999' });
      assert.deepEqual(codesOf(await lab.go(payer, [payment])), ['paymentUnderfunded']);
    });
  });

  it('from and to the issuer are mints and burns', async () => {
    const issuer = await lab.person(0n);
    const token = new Asset('TOKEN', issuer.publicKey());
    await lab.go(payer, [Operation.changeTrust({ asset: token })]);
    const topicsOf = async (signer: Keypair, destination: string) => {
      const got = await lab.go(signer, [Operation.payment({ destination, asset: token, amount: '5' })]);
      return got.status === 'SUCCESS' ? (got.events.contractEventsXdr[0] ?? []).map(topics) : [];
    };
    assert.deepEqual(await topicsOf(issuer, payer.publicKey()), [
      ['mint', payer.publicKey(), `TOKEN:${issuer.publicKey()}`],
    ]);
    assert.deepEqual(await topicsOf(payer, issuer.publicKey()), [
      ['burn', payer.publicKey(), `TOKEN:${issuer.publicKey()}`],
    ]);
  });

  it('need a trustline that the account opens, limits and closes', async () => {
    const account = Keypair.random();
    await fundAccount(lab.stellar.rpcUrl, account.publicKey(), {});
    const trust = async (limit: string) =>
      codesOf(await lab.go(account, [Operation.changeTrust({ asset: usdc, limit })]));
    assert.deepEqual(await trust('10'), ['changeTrustSuccess']);
    await pay(account.publicKey());
    assert.deepEqual(await trust('1'), ['changeTrustInvalidLimit']);
    assert.deepEqual(await trust('0'), ['changeTrustInvalidLimit']);
    await lab.go(account, [Operation.payment({ destination: payer.publicKey(), asset: usdc, amount: '2' })]);
    assert.deepEqual(await trust('0'), ['changeTrustSuccess']);
    assert.deepEqual(codesOf(await pay(account.publicKey())), ['paymentNoTrust']);
  });

  /** The data of a transaction's only transfer, from getEvents. */
  async function eventData(got: Awaited<ReturnType<StellarLab['send']>>): Promise<unknown> {
    assert.equal(got.status, 'SUCCESS');
    const { events } = await lab.server.getEvents({
      startLedger: got.ledger,
      filters: [{ type: 'contract', contractIds: [lab.usdcId] }],
    });
    const [event] = events.filter(({ txHash }) => txHash === got.txHash);
    assert.deepEqual(event?.topic.map(scValToNative), ['transfer', payer.publicKey(), treasury.publicKey(), name]);
    return scValToNative(event.value);
  }
  const name = `USDC:${usdc.getIssuer()}`;

  const topics = (event: { body(): { v0(): { topics(): Parameters<typeof scValToNative>[0][] } } }) =>
    event.body().v0().topics().map(scValToNative);

  /** Result code of each operation. */
  function codesOf(got: Awaited<ReturnType<StellarLab['send']>>): string[] {
    assert.notEqual(got.status, 'NOT_FOUND');
    assert.ok('resultXdr' in got);
    return got.resultXdr
      .result()
      .results()
      .map((result) => result.tr().value().switch().name);
  }
});
