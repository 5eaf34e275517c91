import assert from 'node:assert/strict';
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Keypair,
  type ParsedInstruction,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from 'solana-web3-v1';
import { token2022Program } from '../../../sandbox/solana/chain/tokens.ts';
import { lamportsPerSol, type SolanaLab, solanaLab, tokenAccount, usdcMint } from '../../support/solana.ts';

const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;

describe('local Solana: transactions', () => {
  let lab: SolanaLab;
  let payer: Keypair;
  before(async () => {
    lab = await solanaLab();
    payer = await lab.person();
  });
  after(() => lab.stop());
  const receiver = () => Keypair.generate().publicKey;
  async function landed(signature: string) {
    lab.solana.advanceSlots();
    const got = await lab.connection.getTransaction(signature, options);
    assert.ok(got?.meta);
    return { ...got, meta: got.meta };
  }
  const lamports = (toPubkey: PublicKey, amount: number) =>
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports: amount });

  it('are accepted in the legacy form, too, which needs no version option', async () => {
    const to = receiver();
    const transaction = new Transaction({
      feePayer: payer.publicKey,
      ...(await lab.connection.getLatestBlockhash('processed')),
    }).add(...(await lab.payment({ from: payer, to, amount: 3n })));
    transaction.sign(payer);
    const signature = await lab.connection.sendRawTransaction(transaction.serialize());
    lab.solana.advanceSlots();
    const got = await lab.connection.getTransaction(signature, { commitment: 'confirmed' });
    assert.equal(got?.meta?.err, null);
    assert.equal(got?.transaction.message.recentBlockhash, transaction.recentBlockhash);
    assert.equal(await lab.balance(to), 3n);
    const { result } = await lab.call('getTransaction', signature, options);
    assert.equal((result as { version: unknown }).version, 'legacy');
  });

  it('state balances before and after: lamports of every account, tokens of every token account', async () => {
    const to = receiver();
    await lab.pay({ from: payer, to, amount: 10n });
    const { meta, transaction } = await landed(await lab.pay({ from: payer, to, amount: 5n }));
    const keys = transaction.message.staticAccountKeys.map(String);
    const change = async (owner: PublicKey) => {
      const place = keys.indexOf(String(await tokenAccount(owner)));
      const amount = (all: typeof meta.preTokenBalances) => {
        const entry = all?.find(({ accountIndex }) => accountIndex === place);
        assert.equal(entry?.mint, String(usdcMint));
        assert.equal(entry?.owner, String(owner));
        return BigInt(entry?.uiTokenAmount.amount ?? 0);
      };
      return amount(meta.postTokenBalances) - amount(meta.preTokenBalances);
    };
    assert.equal(await change(to), 5n);
    assert.equal(await change(payer.publicKey), -5n);
    assert.equal(meta.fee, 5_000);
    assert.equal((meta.preBalances[0] ?? 0) - (meta.postBalances[0] ?? 0), 5_000);
    assert.equal(keys.length, meta.preBalances.length);
  });

  it('state no tokens when they name no token program, even for a token account that they pay lamports to', async () => {
    const to = receiver();
    await lab.pay({ from: payer, to, amount: 10n });
    const account = await tokenAccount(to);
    const alone = await landed(await lab.send(await lab.signed(payer, [lamports(account, 7)])));
    assert.ok(alone.transaction.message.staticAccountKeys.some((key) => key.equals(account)));
    assert.deepEqual([alone.meta.preTokenBalances, alone.meta.postTokenBalances], [[], []]);

    const named = lamports(account, 7);
    named.keys.push({ pubkey: new PublicKey(token2022Program), isSigner: false, isWritable: false });
    const { meta } = await landed(await lab.send(await lab.signed(payer, [named])));
    assert.deepEqual(
      meta.postTokenBalances?.map(({ owner, uiTokenAmount }) => [owner, uiTokenAmount.amount]),
      [[String(to), '10']],
    );
  });

  it('state the inner calls of programs', async () => {
    const to = receiver();
    const { meta, transaction } = await landed(await lab.pay({ from: payer, to, amount: 5n }));
    const [created] = meta.innerInstructions ?? [];
    assert.equal(meta.innerInstructions?.length, 1);
    assert.equal(created?.index, 0);
    const parsed = await lab.connection.getParsedTransaction(transaction.signatures[0] ?? '', options);
    const inside = parsed?.meta?.innerInstructions?.[0]?.instructions as ParsedInstruction[];
    const types = inside.map(({ program, parsed: { type } }) => `${program} ${type}`);
    assert.deepEqual(types, [
      'spl-token getAccountDataSize',
      'system createAccount',
      'spl-token initializeImmutableOwner',
      'spl-token initializeAccount3',
    ]);
  });

  it('are decoded on request', async () => {
    const to = receiver();
    const signature = await lab.pay({ from: payer, to, amount: 1_500000n, memo: 'tea' });
    lab.solana.advanceSlots();
    const got = await lab.connection.getParsedTransaction(signature, options);
    const [create, transfer, memo] = (got?.transaction.message.instructions ?? []) as ParsedInstruction[];
    assert.equal(create?.program, 'spl-associated-token-account');
    assert.equal(create?.parsed.type, 'createIdempotent');
    assert.equal(create?.parsed.info.wallet, String(to));
    assert.equal(transfer?.program, 'spl-token');
    assert.deepEqual(transfer?.parsed, {
      type: 'transferChecked',
      info: {
        source: String(await tokenAccount(payer.publicKey)),
        mint: String(usdcMint),
        destination: String(await tokenAccount(to)),
        authority: String(payer.publicKey),
        tokenAmount: { amount: '1500000', decimals: 6, uiAmount: 1.5, uiAmountString: '1.5' },
      },
    });
    assert.equal(memo?.program, 'spl-memo');
    assert.equal(memo?.parsed, 'tea');
    const [first] = got?.transaction.message.accountKeys ?? [];
    assert.deepEqual([String(first?.pubkey), first?.signer, first?.writable], [String(payer.publicKey), true, true]);
  });

  it('are returned as the sent bytes', async () => {
    const transaction = await lab.signed(payer, await lab.payment({ from: payer, to: receiver(), amount: 1n }));
    const signature = await lab.send(transaction);
    lab.solana.advanceSlots();
    const { result } = await lab.call('getTransaction', signature, { ...options, encoding: 'base64' });
    const bytes = Buffer.from(transaction.serialize()).toString('base64');
    assert.deepEqual((result as { transaction: unknown }).transaction, [bytes, 'base64']);
  });

  it('take addresses out of lookup tables, and count them behind those that are written out', async () => {
    const [to, stranger] = [receiver(), receiver()];
    lab.solana.advanceSlots();
    const recentSlot = (await lab.connection.getSlot('processed')) - 1;
    const authority = { authority: payer.publicKey, payer: payer.publicKey };
    const [create, table] = AddressLookupTableProgram.createLookupTable({ ...authority, recentSlot });
    const extend = AddressLookupTableProgram.extendLookupTable({
      ...authority,
      lookupTable: table,
      addresses: [stranger, to],
    });
    await lab.send(await lab.signed(payer, [create, extend]));
    lab.solana.advanceSlots();
    const { value } = await lab.connection.getAddressLookupTable(table);
    assert.ok(value instanceof AddressLookupTableAccount);
    const { blockhash: recentBlockhash } = await lab.connection.getLatestBlockhash('processed');
    const instructions = [lamports(to, Number(lamportsPerSol))];
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions });
    const transaction = new VersionedTransaction(message.compileToV0Message([value]));
    transaction.sign([payer]);
    assert.ok(!transaction.message.staticAccountKeys.some((key) => key.equals(to)));
    const signature = await lab.send(transaction);
    const { meta } = await landed(signature);
    assert.deepEqual(meta.loadedAddresses?.writable.map(String), [String(to)]);
    const place = transaction.message.staticAccountKeys.length;
    assert.equal((meta.postBalances[place] ?? 0) - (meta.preBalances[place] ?? 0), Number(lamportsPerSol));
    const [found] = await lab.connection.getSignaturesForAddress(to, {}, 'confirmed');
    assert.equal(found?.signature, signature);
  });

  it('cost the price of getFeeForMessage, including priority', async () => {
    const transaction = await lab.signed(payer, [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 40_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 250_000 }),
      lamports(receiver(), Number(lamportsPerSol)),
    ]);
    const { value } = await lab.connection.getFeeForMessage(transaction.message, 'processed');
    assert.equal(value, 5_000 + 10_000);
    const { meta } = await landed(await lab.send(transaction));
    assert.equal(meta.fee, value);
    assert.equal(typeof meta.computeUnitsConsumed, 'number');
  });

  it('fail with an instruction’s place and error, pay the fee and change nothing else', async () => {
    const to = receiver();
    const before = await lab.connection.getBalance(payer.publicKey);
    const instructions = [lamports(to, 10 ** 9), ...(await lab.payment({ from: payer, to, amount: 10n ** 15n }))];
    const { meta } = await landed(await lab.send(await lab.signed(payer, instructions), { skipPreflight: true }));
    assert.deepEqual(meta.err, { InstructionError: [2, { Custom: 1 }] });
    assert.ok(meta.logMessages?.some((line) => /insufficient funds/.test(line)));
    assert.deepEqual(meta.preTokenBalances, meta.postTokenBalances);
    assert.equal(await lab.connection.getBalance(payer.publicKey), before - 5_000);
    assert.equal(await lab.connection.getBalance(to), 0);
  });

  it('fail for a token account that is not the receiver’s, for another mint, for another’s money', async () => {
    const [thief, to] = [await lab.person(0n), receiver()];
    await lab.pay({ from: payer, to, amount: 5n });
    const [transfer] = (await lab.payment({ from: payer, to, amount: 5n })).slice(1);
    assert.ok(transfer);
    const reason = async (transaction: VersionedTransaction) =>
      (await lab.connection.simulateTransaction(transaction, { commitment: 'processed' })).value.err;
    const [source, mint, , authority] = transfer.keys;
    assert.ok(source && mint && authority);
    transfer.keys = [source, mint, { ...source, pubkey: receiver() }, authority];
    assert.deepEqual(await reason(await lab.signed(payer, [transfer])), {
      InstructionError: [0, 'InvalidAccountData'],
    });
    transfer.keys = [source, mint, source, { ...authority, pubkey: thief.publicKey }];
    assert.deepEqual(await reason(await lab.signed(thief, [transfer])), { InstructionError: [0, { Custom: 4 }] });
  });

  it('cannot leave an account with less than its rent', async () => {
    const transaction = await lab.signed(payer, [lamports(receiver(), 1)]);
    await assert.rejects(lab.send(transaction), /insufficient funds for rent/);
  });

  it('state a failed preflight with -32002, the machine’s logs and its used units', async () => {
    const transaction = await lab.signed(payer, await lab.payment({ from: payer, to: receiver(), amount: 10n ** 15n }));
    const bytes = Buffer.from(transaction.serialize()).toString('base64');
    const { error } = await lab.call('sendTransaction', bytes, {
      encoding: 'base64',
      preflightCommitment: 'processed',
    });
    assert.equal(error?.code, -32002);
    assert.equal(
      error?.message,
      'Transaction simulation failed: Error processing Instruction 1: custom program error: 0x1',
    );
    const { err, logs, unitsConsumed, accounts } = (error?.data ?? {}) as Record<string, unknown>;
    assert.deepEqual(err, { InstructionError: [1, { Custom: 1 }] });
    assert.ok((logs as string[]).length > 5);
    assert.ok(Number(unitsConsumed) > 0);
    assert.equal(accounts, null);
    const badlySigned = Buffer.from(transaction.serialize());
    badlySigned[5] = (badlySigned[5] ?? 0) ^ 1;
    const refused = await lab.call('sendTransaction', badlySigned.toString('base64'), { encoding: 'base64' });
    assert.equal(refused.error?.code, -32002);
    assert.match(refused.error?.message ?? '', /did not pass signature verification/);
    assert.equal((refused.error?.data as { err?: unknown } | undefined)?.err, 'SignatureFailure');
  });

  it('may be sent again with a preflight on a block that does not know them yet', async () => {
    const to = receiver();
    lab.solana.advanceSlots(4);
    const { blockhash: recentBlockhash } = await lab.connection.getLatestBlockhash('finalized');
    const instructions = await lab.payment({ from: payer, to, amount: 5n });
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    transaction.sign([payer]);
    const signature = await lab.send(transaction, { preflightCommitment: 'finalized' });
    assert.equal(await lab.send(transaction, { preflightCommitment: 'finalized' }), signature);
    await assert.rejects(lab.send(transaction), /already been processed/);
    assert.equal(await lab.balance(to), 5n);
  });

  it('are simulated without effect, signed or not', async () => {
    const to = receiver();
    const { blockhash: recentBlockhash } = await lab.connection.getLatestBlockhash('processed');
    const instructions = await lab.payment({ from: payer, to, amount: 5n });
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    const before = await lab.connection.getBalance(payer.publicKey);
    const { value } = await lab.connection.simulateTransaction(transaction);
    assert.equal(value.err, null);
    assert.ok((value.unitsConsumed ?? 0) > 0);
    const checked = await lab.connection.simulateTransaction(transaction, { sigVerify: true });
    assert.equal(checked.value.err, 'SignatureFailure');
    assert.equal(await lab.connection.getBalance(payer.publicKey), before);
    await assert.rejects(lab.balance(to), /could not find account/);
  });

  it('are in the block of their slot', async () => {
    lab.solana.advanceSlots();
    const slot = await lab.connection.getSlot('processed');
    const sent = [
      await lab.pay({ from: payer, to: receiver(), amount: 1n }),
      await lab.pay({ from: payer, to: receiver(), amount: 2n }),
    ];
    lab.solana.advanceSlots();
    const block = await lab.connection.getBlock(slot, options);
    assert.deepEqual(
      block?.transactions.map(({ transaction }) => transaction.signatures[0]),
      sent,
    );
    assert.equal(block?.parentSlot, slot - 1);
    const { blockhash } = await lab.connection.getBlockSignatures(slot - 1, 'confirmed');
    assert.equal(block?.previousBlockhash, blockhash);
    assert.deepEqual((await lab.connection.getBlockSignatures(slot, 'confirmed')).signatures, sent);
    assert.deepEqual(await lab.connection.getBlocks(slot - 2, slot, 'confirmed'), [slot - 2, slot - 1, slot]);
  });

  it('are refused if they use a durable nonce: the local network has none', async () => {
    const transaction = await lab.signed(payer, [lamports(receiver(), 10 ** 9)]);
    transaction.message.recentBlockhash = String(receiver());
    transaction.sign([payer]);
    await assert.rejects(lab.send(transaction), /Blockhash not found/);
  });
});
