import assert from 'node:assert/strict';
import { Asset, Keypair, Memo, Operation } from '@stellar/stellar-sdk';
import { PayoutBlocked, SigningRefused, type TransferOrder, type Unsigned } from '../../../commands/transferPorts.ts';
import { chainOf, heldTokens, type Token } from '../../../domain/chains.ts';
import { openTrustline, plantAsset } from '../../../sandbox/stellar/controls.ts';
import { familyAddresses } from '../../../src/chains/families.ts';
import { withToken } from '../../support/catalogue.ts';
import { usdc } from '../../support/stellar.ts';
import { orderTo, type PayingWorld, payingWorld, payout } from './paying.ts';
import { scanned, signal } from './world.ts';

const amount = 5_0000000n;
const issuer = Keypair.random();
const second = new Asset('USDT', issuer.publicKey());
const secondToken: Token = { symbol: 'USDT', address: `USDT:${issuer.publicKey()}`, decimals: 7 };

describe('a second token on Stellar', () => {
  withToken(1500, secondToken);
  let world: PayingWorld;
  let treasury: string;
  let receiver: string;
  before(async () => {
    world = await payingWorld({ channels: 1 });
    treasury = world.treasury.publicKey();
    receiver = (await world.lab.person(0n)).publicKey();
    await plantAsset(world.stellar.rpcUrl, second);
    for (const account of [treasury, receiver, world.payer.publicKey()])
      await openTrustline(world.stellar.rpcUrl, account, second);
  });
  after(() => world.lab.stop());

  const ordered = (to: string, more: Partial<TransferOrder> = {}): TransferOrder => ({
    ...orderTo(to, amount),
    token: secondToken,
    ...more,
  });
  const prepared = async (order: TransferOrder) => world.rail.numbering.prepare(order, await world.nextNonce());
  const issue = (to: string, units: string) =>
    world.lab.go(issuer, [Operation.payment({ destination: to, asset: second, amount: units })]);
  async function held(address: string, asset: Asset): Promise<bigint> {
    const { balanceEntry } = await world.lab.server.getAssetBalance(address, asset, world.lab.passphrase);
    return BigInt(balanceEntry?.amount ?? 0);
  }

  it('is not paid out of the float of the first', async () => {
    const { tokens } = await world.rail.balances(signal);
    const own = heldTokens(chainOf(1500)).map(({ address }) => [address, 0n]);
    assert.deepEqual(tokens, { ...Object.fromEntries(own), [orderTo('').token.address]: 1_000_0000000n });
    assert.equal(tokens[secondToken.address], 0n);
    for (const to of [receiver, world.payinContract]) {
      const blocked = (error: unknown) => error instanceof PayoutBlocked && error.reason === 'float';
      await assert.rejects(prepared(ordered(to)), blocked);
    }
  });

  describe('from the treasury’s balance', () => {
    before(() => issue(treasury, '100'));

    it('reaches an account and a contract, through a channel too, and they get none of the first', async () => {
      const [channel] = world.channels;
      const before = await held(treasury, usdc);
      for (const to of [receiver, world.payinContract]) {
        for (const attempt of [await world.attemptTo(ordered(to)), await world.attemptIn(channel, ordered(to))]) {
          await world.rail.broadcast(attempt.bytes);
          assert.equal((await world.rail.fate([attempt], signal)).kind, 'final');
        }
        assert.deepEqual([await held(to, second), await held(to, usdc)], [2n * amount, 0n]);
      }
      assert.equal(await held(treasury, usdc), before);
      assert.equal((await world.rail.balances(signal)).tokens[secondToken.address], await held(treasury, second));
    });

    it('is signed for orders of it alone, and the first for orders of the first alone', async () => {
      const refused = (unsigned: Unsigned) =>
        assert.rejects(
          world.signer.sign(unsigned, payout),
          (error: unknown) => error instanceof SigningRefused && error.reason === 'mismatch',
        );
      for (const to of [receiver, world.payinContract]) {
        const [ofFirst, ofSecond] = [await prepared(orderTo(to, amount)), await prepared(ordered(to))];
        await refused({ ...ofFirst, order: ofSecond.order });
        await refused({ ...ofSecond, order: ofFirst.order });
        await world.signer.sign(ofFirst, payout);
        await world.signer.sign(ofSecond, payout);
      }
    });

    it('is replaced by a fee bump of the same token alone', async () => {
      const first = await world.sign(await prepared(ordered(receiver)));
      const bump = await world.rail.numbering.prepare(ordered(receiver), BigInt(first.nonce ?? 0), first);
      await world.signer.sign(bump, payout);
      await assert.rejects(world.signer.sign({ ...bump, order: orderTo(receiver, amount) }, payout), SigningRefused);
    });
  });

  it('is detected as itself where it is paid in', async () => {
    await issue(world.payer.publicKey(), '7');
    const from = world.here();
    const both = [usdc, second].map((asset) => Operation.payment({ destination: treasury, asset, amount: '7' }));
    const { txHash } = await world.lab.go(world.payer, both, Memo.text('both'));
    const { logs, ingester } = await scanned(world.config(), from);
    const wanted = [orderTo('').token.address, secondToken.address];
    assert.deepEqual(
      logs.map(({ token, memo }) => [token.address, memo]),
      wanted.map((address) => [address, 'both']),
    );
    assert.deepEqual(
      (await ingester.lookUp(txHash, signal)).map(({ token }) => token.address),
      wanted,
    );
  });

  it('has an issuer and a contract that are no wallets', () => {
    for (const address of [issuer.publicKey(), second.contractId(world.lab.passphrase)])
      assert.equal(familyAddresses.canonical(chainOf(1500), address), null);
  });
});
