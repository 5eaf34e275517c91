/** Authorization entries that wallets in pages on Stellar sign, on a local chain; the wallet signs as Freighter does. */
import assert from 'node:assert/strict';
import { hash, Keypair, xdr } from '@stellar/stellar-sdk';
import { isRefusal } from '../../../domain/decider.ts';
import { fundAccount } from '../../../sandbox/stellar/controls.ts';
import type { AuthorizationOrder, EntryOrder, Relaying, SignedAuthorization } from '../../../src/chains/ports.ts';
import { stellarDepositOf } from '../../../src/chains/stellar/deposits/scheme.ts';
import { createStellarRelaying } from '../../../src/chains/stellar/relaying.ts';
import { createStellarRpc } from '../../../src/chains/stellar/rpc.ts';
import { type PayingWorld, payingWorld, usdcToken } from './paying.ts';
import { signal } from './world.ts';

const paymentId = '0198f3c2-0000-8000-8000-000000000001';
const amount = 3_0000000n;

describe('an entry for a wallet of Stellar without gas', () => {
  let world: PayingWorld;
  const relay = Keypair.random();
  before(async () => {
    world = await payingWorld({ ledger_ms: 'manual' });
    await fundAccount(world.stellar.rpcUrl, relay.publicKey(), { lumens: 100_0000000n });
  });
  after(() => world.lab.stop());

  function relaying(): Relaying {
    const config = world.config();
    return createStellarRelaying(config, relay.publicKey(), createStellarRpc(config));
  }
  const wallets = () => relaying().wallets ?? assert.fail();
  const deposit = () =>
    stellarDepositOf({ treasury: world.treasury.publicKey(), payinContract: null }, paymentId, false);

  const orderOf = (payer: string, more: Partial<AuthorizationOrder> = {}): AuthorizationOrder => ({
    token: usdcToken as AuthorizationOrder['token'],
    amount,
    deposit: deposit(),
    payTo: relaying().receiverOf(deposit()) ?? assert.fail(),
    payer,
    nonce: relaying().nonceOf('payment-1 1'),
    ...more,
  });

  async function entryFor(order: AuthorizationOrder) {
    const prepared = await wallets().prepare(order, await wallets().readTerms(), signal);
    if (isRefusal(prepared) || !('entry' in prepared)) assert.fail(JSON.stringify(prepared));
    return prepared;
  }

  /** As Freighter: over the hash of the preimage that it displays. */
  const signatureBy = (signer: Keypair, preimage: string) =>
    signer.sign(hash(Buffer.from(preimage, 'base64'))).toString('base64');

  const isAccepted = async (read: SignedAuthorization, order: AuthorizationOrder) =>
    (await relaying().signatureOf(
      {
        ...{ token: order.token, payer: read.from, receiver: order.payTo, amount, nonce: read.nonce },
        ...{ validAfter: 0n, validBefore: BigInt(read.validBefore) },
      },
      { kind: 'entry' },
      read.signature,
    )) !== null;

  it('authorizes the transfer to the treasury’s M address, with the nonce that the server chose, and the network accepts it', async () => {
    const payer = await world.lab.person();
    const order = orderOf(payer.publicKey());
    const { entry, preimage } = await entryFor(order);
    const read = wallets().signedEntry?.(entry, signatureBy(payer, preimage)) ?? assert.fail();
    assert.deepEqual(
      [read.from, read.to, read.value, read.nonce, read.tokenAddress],
      [payer.publicKey(), order.payTo, String(amount), order.nonce, usdcToken.address],
    );
    assert.equal(await isAccepted(read, order), true);
    const { address, salt, memo } = order.deposit;
    const relayed: EntryOrder = {
      ...{ chainId: 1500, token: usdcToken, receiver: read.to, receiverMemo: null, amount },
      form: {
        kind: 'authorizationEntry',
        deposit: { address, salt, memo: memo ?? assert.fail() },
        ...{ payer: read.from, validUntil: read.validBefore, nonce: read.nonce, signature: read.signature },
        costMax: '0',
      },
    };
    assert.ok((await relaying().simulate(relayed, signal)).fee > 0n);
  });

  it('has one nonce for one try of a payment, and another one for the next try', async () => {
    const payer = (await world.lab.person()).publicKey();
    const nonceIn = ({ entry }: { readonly entry: string }) =>
      xdr.SorobanAuthorizationEntry.fromXDR(entry, 'base64').credentials().address().nonce().toString();
    const nonce = relaying().nonceOf('payment-1 2');
    assert.deepEqual(
      [nonceIn(await entryFor(orderOf(payer))), nonceIn(await entryFor(orderOf(payer, { nonce })))],
      [orderOf(payer).nonce, nonce],
    );
    assert.equal(relaying().nonceIn(nonce), nonce);
    assert.notEqual(nonce, orderOf(payer).nonce);
  });

  it('is accepted with the payer’s own signature of the unchanged entry alone', async () => {
    const payer = await world.lab.person();
    const order = orderOf(payer.publicKey());
    const { entry, preimage } = await entryFor(order);
    const good = signatureBy(payer, preimage);
    const read = (text: string, signature: string) => wallets().signedEntry?.(text, signature) ?? null;
    const forged = read(entry, signatureBy(Keypair.random(), preimage)) ?? assert.fail();
    assert.equal(await isAccepted(forged, order), false);
    const altered = xdr.SorobanAuthorizationEntry.fromXDR(entry, 'base64');
    altered
      .credentials()
      .address()
      .signatureExpirationLedger(altered.credentials().address().signatureExpirationLedger() + 1);
    const late = read(altered.toXDR('base64'), good) ?? assert.fail();
    assert.equal(await isAccepted(late, order), false);
    for (const [text, signature] of [
      ['AAAA', good],
      ['', good],
      [entry, ''],
      [entry, 'AAAA'],
      [entry, `${good} `],
      [`${entry}AAAA`, good],
      ['A'.repeat(2_000), good],
    ] as const)
      assert.equal(read(text, signature), null, text.slice(0, 20));
  });

  it('is none for too little, no account, an account of ours, and an address with a memo', async () => {
    const pointerOf = async (payer: string) => {
      const prepared = await wallets().prepare(orderOf(payer), await wallets().readTerms(), signal);
      return isRefusal(prepared) ? prepared.pointer : assert.fail('it was prepared');
    };
    assert.equal(await pointerOf((await world.lab.person(1n)).publicKey()), '/token');
    assert.equal(await pointerOf(Keypair.random().publicKey()), '/token');
    for (const own of [relay.publicKey(), world.treasury.publicKey(), orderOf(relay.publicKey()).payTo])
      assert.equal(await pointerOf(own), '/account');
  });
});
