/** Transactions that wallets in pages on Solana sign for the relay account, on a local chain and signed by Solana's own library. */
import assert from 'node:assert/strict';
import { Keypair, PublicKey, VersionedTransaction } from 'solana-web3-v1';
import { isRefusal } from '../../../domain/decider.ts';
import { fundWallet } from '../../../sandbox/solana/controls.ts';
import type { AuthorizationOrder, Relaying, SignedAuthorization } from '../../../src/chains/ports.ts';
import { createSolanaRelaying } from '../../../src/chains/solana/relaying.ts';
import { createSolanaRpc } from '../../../src/chains/solana/rpc.ts';
import { ownerKey, ownerScheme } from '../../../src/chains/solana/signer/keys.ts';
import { depositSeed, type SolanaWorld, signal, solanaWorld, usdcToken } from './world.ts';

const amount = 3_000000n;
const salt = '01'.padStart(64, '0');
const { address: payTo } = ownerKey(depositSeed, salt);

describe('a transaction for a wallet of Solana without gas', () => {
  let world: SolanaWorld;
  const relay = Keypair.generate().publicKey.toBase58();
  before(async () => {
    world = await solanaWorld();
    await fundWallet(world.solana.rpcUrl, relay, { lamports: 10_000_000_000n });
    world.settle();
  });
  after(() => world.lab.stop());

  function relayingOf(account = relay): Relaying {
    const config = world.config();
    return createSolanaRelaying(config, account, createSolanaRpc(config));
  }

  const orderOf = (payer: string, more: Partial<AuthorizationOrder> = {}): AuthorizationOrder => ({
    token: usdcToken,
    amount,
    deposit: { address: payTo, salt, scheme: ownerScheme, memo: null, contract: null, contractMemo: null },
    payTo,
    payer,
    nonce: relayingOf().nonceOf('payment-1 1'),
    ...more,
  });

  async function preparedFor(order: AuthorizationOrder, relaying = relayingOf()) {
    const { wallets = assert.fail() } = relaying;
    return wallets.prepare(order, await wallets.readTerms(), signal);
  }

  /** @returns the transaction's bytes as wallets get them */
  async function transactionFor(order: AuthorizationOrder): Promise<Uint8Array> {
    const prepared = await preparedFor(order);
    if (isRefusal(prepared) || !('transaction' in prepared)) assert.fail(JSON.stringify(prepared));
    return Buffer.from(prepared.transaction, 'base64');
  }

  function signedBy(payer: Keypair, bytes: Uint8Array): string {
    const transaction = VersionedTransaction.deserialize(bytes);
    transaction.sign([payer]);
    return Buffer.from(transaction.serialize()).toString('base64');
  }

  async function person(units?: bigint): Promise<Keypair> {
    const payer = await world.lab.person(units);
    world.settle();
    return payer;
  }

  const isAccepted = async (read: SignedAuthorization) =>
    (await relayingOf().signatureOf(
      {
        token: usdcToken,
        payer: read.from,
        receiver: payTo,
        amount,
        nonce: read.nonce,
        validAfter: 0n,
        validBefore: 0n,
      },
      { kind: 'transaction', feePayer: relay },
      read.signature,
    )) !== null;

  it('has the relay account as its fee payer, and moves the amount from the payer’s account to the deposit', async () => {
    const payer = await person();
    const order = orderOf(payer.publicKey.toBase58());
    const bytes = await transactionFor(order);
    const { message, signatures } = VersionedTransaction.deserialize(bytes);
    assert.deepEqual(
      message.staticAccountKeys.slice(0, 2).map((key) => key.toBase58()),
      [relay, order.payer],
    );
    assert.ok(signatures.every((signature) => signature.every((byte) => byte === 0)));
    const read = relayingOf().read?.(signedBy(payer, bytes)) ?? assert.fail();
    assert.deepEqual([read.from, read.value, read.tokenAddress], [order.payer, String(amount), usdcToken.address]);
    assert.equal(read.to, relayingOf().accountAt?.(payTo, usdcToken));
    assert.equal(await isAccepted(read), true);
    const memo = Buffer.from(message.compiledInstructions.at(-1)?.data ?? []).toString();
    assert.equal(memo, order.nonce);
    assert.notEqual(relayingOf().nonceOf('payment-1 2'), order.nonce);
  });

  it('is the same for two requests while the blockhash is the same: two tabs sign one transaction', async () => {
    const payer = await person();
    const { wallets = assert.fail() } = relayingOf();
    const terms = await wallets.readTerms();
    const order = orderOf(payer.publicKey.toBase58());
    assert.deepEqual(await wallets.prepare(order, terms, signal), await wallets.prepare(order, terms, signal));
  });

  it('is accepted without its payer’s signature by nobody', async () => {
    const payer = await person();
    const bytes = await transactionFor(orderOf(payer.publicKey.toBase58()));
    const unsigned = relayingOf().read?.(Buffer.from(bytes).toString('base64')) ?? assert.fail();
    assert.equal(await isAccepted(unsigned), false);
  });

  it('is refused once a wallet has changed its fee payer', async () => {
    const payer = await person();
    const transaction = VersionedTransaction.deserialize(await transactionFor(orderOf(payer.publicKey.toBase58())));
    transaction.message.staticAccountKeys[0] = Keypair.generate().publicKey;
    transaction.sign([payer]);
    assert.equal(relayingOf().read?.(Buffer.from(transaction.serialize()).toString('base64')), null);
  });

  it('is none for too little, an account of ours, an expired blockhash, and a relay account without SOL', async () => {
    const pointerOf = async (order: AuthorizationOrder, relaying?: Relaying) => {
      const prepared = await preparedFor(order, relaying);
      return isRefusal(prepared) ? [prepared.refused, prepared.pointer] : assert.fail('it was prepared');
    };
    const poor = (await person(1n)).publicKey.toBase58();
    assert.deepEqual(await pointerOf(orderOf(poor)), ['conflict', '/token']);
    assert.deepEqual(await pointerOf(orderOf(Keypair.generate().publicKey.toBase58())), ['conflict', '/token']);
    for (const own of [relay, world.treasury.publicKey.toBase58()])
      assert.deepEqual(await pointerOf(orderOf(own)), ['invalidRequest', '/account']);
    const payer = (await person()).publicKey.toBase58();
    const bare = relayingOf(new PublicKey(Keypair.generate().publicKey).toBase58());
    assert.deepEqual(await pointerOf(orderOf(payer), bare), ['relayTooDear', undefined]);
    const { wallets = assert.fail() } = relayingOf();
    const old = await wallets.readTerms();
    world.settle(160);
    const late = await wallets.prepare(orderOf(payer), old, signal);
    assert.ok(isRefusal(late) && late.pointer === '/expired', JSON.stringify(late));
  });
});
