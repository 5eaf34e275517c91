import assert from 'node:assert/strict';
import {
  AddressLookupTableProgram,
  Keypair,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from 'solana-web3-v1';
import { transferOf } from '../../../../commands/chainPorts.ts';
import { token2022Program } from '../../../../sandbox/solana/chain/tokens.ts';
import { fundWallet, plantMint } from '../../../../sandbox/solana/controls.ts';
import { transferInstructions } from '../../../../sandbox/solana/wallet.ts';
import { referenceOf } from '../../../../src/chains/solana/payouts/transaction.ts';
import { tokenAccount, usdcMint } from '../../../support/solana.ts';
import { type SolanaWorld, signal } from '../world.ts';
import { briefly, depositWorld, watching } from './watching.ts';

describe('reading payins on Solana', () => {
  let world: SolanaWorld;
  let payer: Keypair;
  let deposit: PublicKey;
  beforeEach(async () => {
    ({ world, payer, deposit } = await depositWorld());
  });
  afterEach(() => world.lab.stop());

  const pay = (amount: bigint, to = deposit) => world.lab.pay({ from: payer, to, amount });
  const paid = (amount: bigint, txHash: string, to = deposit) => ({
    ...{ to: to.toBase58(), from: payer.publicKey.toBase58(), amount, txHash },
  });
  const slotOf = (signature: string) => world.solana.chain.history.find(signature)?.slot ?? -1;

  describe('what is seen', () => {
    it('is a transfer, first when it is confirmed and then when it is final', async () => {
      const watcher = watching(world, [deposit]);
      const txHash = await pay(5_123456n);
      assert.deepEqual(briefly(await watcher.poll('head')), []);
      world.solana.advanceSlots(1);
      const seen = await watcher.poll('head');
      assert.deepEqual(briefly(seen), [paid(5_123456n, txHash)]);
      assert.deepEqual(briefly(await watcher.poll('final')), []);
      world.settle();
      const final = await watcher.poll('final');
      assert.deepEqual(briefly(final), [paid(5_123456n, txHash)]);

      const [log] = final?.logs ?? [];
      assert.ok(log);
      const slot = slotOf(txHash);
      const transfer = transferOf(501, log);
      assert.deepEqual(
        { ...transfer, token: transfer?.token.address },
        {
          ...{ chainId: 501, txHash, index: log.logIndex, memo: null, token: usdcMint.toBase58() },
          ...{ blockNumber: String(slot), blockHash: world.solana.chain.blockhashes.at(slot) },
          ...{ from: payer.publicKey.toBase58(), to: deposit.toBase58(), amount: '5123456' },
          blockTime: new Date(world.solana.chain.times.at(slot) * 1_000).toISOString(),
        },
      );
      assert.deepEqual(await watcher.ingester.lookUp(txHash, signal), [transfer]);
    });

    it('once: what was recorded is not read again, and a start anew reads it again', async () => {
      const watcher = watching(world, [deposit]);
      const txHash = await pay(1n);
      world.settle();
      await watcher.pollInVain('final');
      assert.deepEqual(briefly(await watcher.poll('final')), [paid(1n, txHash)]);
      assert.equal(await watcher.poll('final'), undefined);
      world.settle(1);
      assert.deepEqual(briefly(await watcher.poll('final')), []);
      assert.deepEqual(briefly(await watching(world, [deposit]).poll('final')), [paid(1n, txHash)]);
    });

    it('is every transaction, from wallets and exchanges alike, with memo and reference or without', async () => {
      const watcher = watching(world, [deposit]);
      const reference = new PublicKey(referenceOf('payin', 'payment-1'));
      const first = await world.lab.pay({ from: payer, to: deposit, amount: 1n, memo: 'tea', reference });
      const second = await pay(2n);
      world.settle();
      assert.deepEqual(briefly(await watcher.poll('final')), [paid(1n, first), paid(2n, second)]);
      const third = await pay(3n);
      world.settle();
      assert.deepEqual(briefly(await watcher.poll('final')), [paid(3n, third)]);
    });

    it('is one credit when a transaction pays the same deposit several times, and one each for several deposits', async () => {
      const other = Keypair.generate().publicKey;
      const watcher = watching(world, [deposit, other]);
      const parts: TransactionInstruction[] = [];
      for (const [to, amount] of [
        [deposit, 1n],
        [deposit, 20n],
        [other, 300n],
      ] as const)
        parts.push(...(await world.lab.payment({ from: payer, to, amount })));
      const txHash = await world.lab.send(await world.lab.signed(payer, parts));
      world.settle();
      const range = await watcher.poll('final');
      assert.deepEqual(briefly(range), [paid(21n, txHash), paid(300n, txHash, other)]);
      const indexes = range?.logs.map(({ logIndex }) => logIndex) ?? [];
      assert.equal(new Set(indexes).size, 2);
      const found = await watcher.ingester.lookUp(txHash, signal);
      assert.deepEqual(
        found.map(({ index, amount }) => [index, amount]).toSorted(),
        [
          [indexes[0], '21'],
          [indexes[1], '300'],
        ].toSorted(),
      );
    });

    it('of a v0 transaction with a lookup table is the same', async () => {
      const watcher = watching(world, [deposit]);
      const txHash = await payThroughTable(7n);
      world.settle();
      assert.deepEqual(briefly(await watcher.poll('final')), [paid(7n, txHash)]);
      assert.equal((await watcher.ingester.lookUp(txHash, signal)).length, 1);
    });

    it('among hundreds of deposits', async () => {
      const owners = Array.from({ length: 250 }, () => Keypair.generate().publicKey);
      const watcher = watching(world, owners);
      const chosen = owners[201];
      assert.ok(chosen);
      const txHash = await pay(9n, chosen);
      world.settle();
      assert.deepEqual(briefly(await watcher.poll('final')), [paid(9n, txHash, chosen)]);
    });

    it('of payments that are over is late money, looked for once a minute', async () => {
      const watcher = watching(world, []);
      watcher.late.push(deposit.toBase58());
      await watcher.poll('final');
      const txHash = await pay(4n);
      world.settle();
      assert.deepEqual(briefly(await watcher.poll('final')), []);
      world.solana.advanceSlots(150);
      assert.deepEqual(briefly(await watcher.poll('final')), [paid(4n, txHash)]);
    });
  });

  describe('what is not money', () => {
    it('failed', async () => {
      const watcher = watching(world, [deposit]);
      const instructions = await world.lab.payment({ from: payer, to: deposit, amount: 1n });
      const beyond = await world.lab.payment({ from: payer, to: deposit, amount: 600_000000n });
      await pay(5n);
      const failing = await world.lab.signed(payer, [...instructions, ...beyond]);
      const txHash = await world.lab.send(failing, { skipPreflight: true });
      world.settle();
      assert.deepEqual(
        briefly(await watcher.poll('final')).map(({ amount }) => amount),
        [5n],
      );
      assert.ok(slotOf(txHash) > 0);
      assert.deepEqual(await watcher.ingester.lookUp(txHash, signal), []);
    });

    it('is of another mint that looks like USDC, of the token program or of Token-2022', async () => {
      const watcher = watching(world, [deposit]);
      for (const program of [undefined, token2022Program]) {
        const mint = Keypair.generate().publicKey.toBase58();
        await plantMint(world.solana.rpcUrl, mint, 6, program);
        await fundWallet(world.solana.rpcUrl, deposit.toBase58(), { tokens: { [mint]: 1_000_000n } });
      }
      const mint = Keypair.generate().publicKey.toBase58();
      await plantMint(world.solana.rpcUrl, mint);
      await fundWallet(world.solana.rpcUrl, payer.publicKey.toBase58(), { tokens: { [mint]: 1_000_000n } });
      const from = { from: payer.publicKey, to: deposit, decimals: 6, amount: 1_000_000n };
      const txHash = await world.lab.send(await world.lab.signed(payer, await transferInstructions({ ...from, mint })));
      world.settle();
      assert.deepEqual(briefly(await watcher.poll('final')), []);
      assert.deepEqual(await watcher.ingester.lookUp(txHash, signal), []);
    });

    it('nor what is unknown', async () => {
      const watcher = watching(world, [deposit]);
      assert.deepEqual(await watcher.ingester.lookUp('2'.repeat(88), signal), []);
    });
  });

  /** A table holds the accounts of the transfer. */
  async function payThroughTable(amount: bigint): Promise<string> {
    const instructions = await world.lab.payment({ from: payer, to: deposit, amount });
    const slot = world.solana.chain.head();
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: payer.publicKey,
      payer: payer.publicKey,
      recentSlot: slot - 1,
    });
    const extend = AddressLookupTableProgram.extendLookupTable({
      payer: payer.publicKey,
      authority: payer.publicKey,
      lookupTable: table,
      addresses: [deposit, usdcMint, await tokenAccount(deposit)],
    });
    await world.lab.send(await world.lab.signed(payer, [create, extend]));
    world.solana.advanceSlots(2);
    const { value: lookupTable } = await world.lab.connection.getAddressLookupTable(table);
    assert.ok(lookupTable);
    const { blockhash: recentBlockhash } = await world.lab.connection.getLatestBlockhash('processed');
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions });
    const transaction = new VersionedTransaction(message.compileToV0Message([lookupTable]));
    assert.ok(transaction.message.addressTableLookups.length > 0);
    transaction.sign([payer]);
    return world.lab.send(transaction);
  }
});
