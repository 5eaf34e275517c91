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
import { publicReferenceOf } from '../../../../src/chains/solana/payouts/transaction.ts';
import { tokenAccount, usdcMint } from '../../../support/solana.ts';
import { signal } from '../world.ts';
import { briefly, eachWithDeposit, watching } from './watching.ts';

describe('reading payins on Solana', () => {
  const own = eachWithDeposit();

  describe('a detected payin', () => {
    it('is a transfer, first when it is confirmed and then when it is final', async () => {
      const watcher = watching(own.world, [own.deposit]);
      const txHash = await own.pay(5_123456n);
      assert.deepEqual(briefly(await watcher.poll('head')), []);
      own.world.solana.advanceSlots(1);
      const seen = await watcher.poll('head');
      assert.deepEqual(briefly(seen), [own.paid(5_123456n, txHash)]);
      assert.deepEqual(briefly(await watcher.poll('final')), []);
      own.world.settle();
      const final = await watcher.poll('final');
      assert.deepEqual(briefly(final), [own.paid(5_123456n, txHash)]);

      const [log] = final?.logs ?? [];
      assert.ok(log);
      const slot = own.slotOf(txHash);
      const transfer = transferOf(501, log);
      assert.deepEqual(
        { ...transfer, token: transfer?.token.address },
        {
          ...{ chainId: 501, txHash, index: log.logIndex, memo: null, token: usdcMint.toBase58() },
          ...{ blockNumber: String(slot), blockHash: own.world.solana.chain.blockhashes.at(slot) },
          ...{ from: own.payer.publicKey.toBase58(), to: own.deposit.toBase58(), amount: '5123456' },
          blockTime: new Date(own.world.solana.chain.times.at(slot) * 1_000).toISOString(),
        },
      );
      assert.deepEqual(await watcher.ingester.lookUp(txHash, signal), [transfer]);
    });

    it('is read once: a recorded one is not read again, and a restart reads it again', async () => {
      const watcher = watching(own.world, [own.deposit]);
      const txHash = await own.pay(1n);
      own.world.settle();
      await watcher.pollInVain('final');
      assert.deepEqual(briefly(await watcher.poll('final')), [own.paid(1n, txHash)]);
      assert.equal(await watcher.poll('final'), undefined);
      own.world.settle(1);
      assert.deepEqual(briefly(await watcher.poll('final')), []);
      assert.deepEqual(briefly(await watching(own.world, [own.deposit]).poll('final')), [own.paid(1n, txHash)]);
    });

    it('is every transaction, from wallets and exchanges alike, with memo and reference or without', async () => {
      const watcher = watching(own.world, [own.deposit]);
      const reference = new PublicKey(publicReferenceOf('payin', 'payment-1'));
      const first = await own.world.lab.pay({ from: own.payer, to: own.deposit, amount: 1n, memo: 'tea', reference });
      const second = await own.pay(2n);
      own.world.settle();
      assert.deepEqual(briefly(await watcher.poll('final')), [own.paid(1n, first), own.paid(2n, second)]);
      const third = await own.pay(3n);
      own.world.settle();
      assert.deepEqual(briefly(await watcher.poll('final')), [own.paid(3n, third)]);
    });

    it('is one credit when a transaction pays the same deposit several times, and one each for several deposits', async () => {
      const other = Keypair.generate().publicKey;
      const watcher = watching(own.world, [own.deposit, other]);
      const parts: TransactionInstruction[] = [];
      for (const [to, amount] of [
        [own.deposit, 1n],
        [own.deposit, 20n],
        [other, 300n],
      ] as const)
        parts.push(...(await own.world.lab.payment({ from: own.payer, to, amount })));
      const txHash = await own.world.lab.send(await own.world.lab.signed(own.payer, parts));
      own.world.settle();
      const range = await watcher.poll('final');
      assert.deepEqual(briefly(range), [own.paid(21n, txHash), own.paid(300n, txHash, other)]);
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

    it('is the same in a v0 transaction with a lookup table', async () => {
      const watcher = watching(own.world, [own.deposit]);
      const txHash = await payThroughTable(7n);
      own.world.settle();
      assert.deepEqual(briefly(await watcher.poll('final')), [own.paid(7n, txHash)]);
      assert.equal((await watcher.ingester.lookUp(txHash, signal)).length, 1);
    });

    it('is found among hundreds of deposits', async () => {
      const owners = Array.from({ length: 250 }, () => Keypair.generate().publicKey);
      const watcher = watching(own.world, owners);
      const chosen = owners[201];
      assert.ok(chosen);
      const txHash = await own.pay(9n, chosen);
      own.world.settle();
      assert.deepEqual(briefly(await watcher.poll('final')), [own.paid(9n, txHash, chosen)]);
    });

    it('is late money on payments that are over, searched once a minute', async () => {
      const watcher = watching(own.world, []);
      watcher.late.push(own.deposit.toBase58());
      await watcher.poll('final');
      const txHash = await own.pay(4n);
      own.world.settle();
      assert.deepEqual(briefly(await watcher.poll('final')), []);
      own.world.solana.advanceSlots(150);
      assert.deepEqual(briefly(await watcher.poll('final')), [own.paid(4n, txHash)]);
    });
  });

  describe('a transaction that is no payin', () => {
    it('may have failed', async () => {
      const watcher = watching(own.world, [own.deposit]);
      const instructions = await own.world.lab.payment({ from: own.payer, to: own.deposit, amount: 1n });
      const beyond = await own.world.lab.payment({ from: own.payer, to: own.deposit, amount: 600_000000n });
      await own.pay(5n);
      const failing = await own.world.lab.signed(own.payer, [...instructions, ...beyond]);
      const txHash = await own.world.lab.send(failing, { skipPreflight: true });
      own.world.settle();
      assert.deepEqual(
        briefly(await watcher.poll('final')).map(({ amount }) => amount),
        [5n],
      );
      assert.ok(own.slotOf(txHash) > 0);
      assert.deepEqual(await watcher.ingester.lookUp(txHash, signal), []);
    });

    it('may move another mint that looks like USDC, of the token program or of Token-2022', async () => {
      const watcher = watching(own.world, [own.deposit]);
      for (const program of [undefined, token2022Program]) {
        const mint = Keypair.generate().publicKey.toBase58();
        await plantMint(own.world.solana.rpcUrl, mint, 6, program);
        await fundWallet(own.world.solana.rpcUrl, own.deposit.toBase58(), { tokens: { [mint]: 1_000_000n } });
      }
      const mint = Keypair.generate().publicKey.toBase58();
      await plantMint(own.world.solana.rpcUrl, mint);
      await fundWallet(own.world.solana.rpcUrl, own.payer.publicKey.toBase58(), { tokens: { [mint]: 1_000_000n } });
      const from = { from: own.payer.publicKey, to: own.deposit, decimals: 6, amount: 1_000_000n };
      const txHash = await own.world.lab.send(
        await own.world.lab.signed(own.payer, await transferInstructions({ ...from, mint })),
      );
      own.world.settle();
      assert.deepEqual(briefly(await watcher.poll('final')), []);
      assert.deepEqual(await watcher.ingester.lookUp(txHash, signal), []);
    });

    it('may be unknown', async () => {
      const watcher = watching(own.world, [own.deposit]);
      assert.deepEqual(await watcher.ingester.lookUp('2'.repeat(88), signal), []);
    });
  });

  /** Pays with a transaction whose accounts are in an address lookup table. */
  async function payThroughTable(amount: bigint): Promise<string> {
    const instructions = await own.world.lab.payment({ from: own.payer, to: own.deposit, amount });
    const slot = own.world.solana.chain.head();
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: own.payer.publicKey,
      payer: own.payer.publicKey,
      recentSlot: slot - 1,
    });
    const extend = AddressLookupTableProgram.extendLookupTable({
      payer: own.payer.publicKey,
      authority: own.payer.publicKey,
      lookupTable: table,
      addresses: [own.deposit, usdcMint, await tokenAccount(own.deposit)],
    });
    await own.world.lab.send(await own.world.lab.signed(own.payer, [create, extend]));
    own.world.solana.advanceSlots(2);
    const { value: lookupTable } = await own.world.lab.connection.getAddressLookupTable(table);
    assert.ok(lookupTable);
    const { blockhash: recentBlockhash } = await own.world.lab.connection.getLatestBlockhash('processed');
    const message = new TransactionMessage({ payerKey: own.payer.publicKey, recentBlockhash, instructions });
    const transaction = new VersionedTransaction(message.compileToV0Message([lookupTable]));
    assert.ok(transaction.message.addressTableLookups.length > 0);
    transaction.sign([own.payer]);
    return own.world.lab.send(transaction);
  }
});
