import assert from 'node:assert/strict';
import { address } from '@solana/kit';
import { findAssociatedTokenPda, getTransferCheckedInstruction } from '@solana-program/token';
import { Keypair, PublicKey, SystemProgram } from 'solana-web3-v1';
import { token2022Program, tokenProgram } from '../../../sandbox/solana/chain/tokens.ts';
import { fundWallet, plantMint } from '../../../sandbox/solana/controls.ts';
import { of, type SolanaLab, solanaLab, tokenAccount, toWeb3, usdcMint } from '../../support/solana.ts';

describe('local Solana: tokens', () => {
  let lab: SolanaLab;
  let payer: Keypair;
  before(async () => {
    lab = await solanaLab();
    payer = await lab.person();
  });
  after(() => lab.stop());
  const newKey = () => Keypair.generate().publicKey;
  const programs = { [tokenProgram]: 'spl-token', [token2022Program]: 'spl-token-2022' };

  it('has USDC where the public network has it', async () => {
    const { value } = await lab.connection.getParsedAccountInfo(usdcMint, 'finalized');
    assert.equal(String(usdcMint), 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
    assert.equal(String(value?.owner), tokenProgram);
    assert.ok(value && 'parsed' in value.data);
    assert.equal(value.data.parsed.type, 'mint');
    assert.equal(value.data.parsed.info.decimals, 6);
    const { value: supply } = await lab.connection.getTokenSupply(usdcMint);
    assert.equal(supply.amount, '500000000');
  });

  it('returns a wallet’s balances, by mint and by program', async () => {
    const owner = newKey();
    const other = newKey();
    await plantMint(lab.solana.rpcUrl, String(other), 2);
    await fundWallet(lab.solana.rpcUrl, String(owner), { usdc: 12_345678n, tokens: { [String(other)]: 5n } });
    const byMint = await lab.connection.getParsedTokenAccountsByOwner(owner, { mint: usdcMint });
    const [only] = byMint.value;
    assert.equal(byMint.value.length, 1);
    assert.equal(String(only?.pubkey), String(await tokenAccount(owner)));
    assert.deepEqual(only?.account.data.parsed.info, {
      isNative: false,
      mint: String(usdcMint),
      owner: String(owner),
      state: 'initialized',
      tokenAmount: { amount: '12345678', decimals: 6, uiAmount: 12.345678, uiAmountString: '12.345678' },
    });
    const of = async (programId: string) =>
      (await lab.connection.getTokenAccountsByOwner(owner, { programId: new PublicKey(programId) })).value.length;
    assert.equal(await of(tokenProgram), 2);
    assert.equal(await of(token2022Program), 0);
  });

  it('returns a hundred accounts in one call, missing ones as null', async () => {
    const keys = [await tokenAccount(payer.publicKey), ...Array.from({ length: 99 }, newKey)];
    const { value } = await lab.rpc
      .getMultipleAccounts(keys.map(of), { encoding: 'base64', commitment: 'processed' })
      .send();
    assert.equal(value.length, 100);
    assert.equal(value[0]?.owner, tokenProgram);
    assert.equal(value[0]?.lamports, 2_039_280n);
    assert.ok(value.slice(1).every((account) => account === null));
  });

  it('returns exactly the requested bytes', async () => {
    const account = await tokenAccount(payer.publicKey);
    const dataSlice = { offset: 64, length: 8 };
    const info = await lab.connection.getAccountInfo(account, { dataSlice });
    assert.equal(info?.data.readBigUInt64LE(), await lab.balance(payer.publicKey));
  });

  it('returns the rent of a closed token account', async () => {
    const owner = await lab.person(5n);
    await lab.pay({ from: owner, to: payer.publicKey, amount: 5n });
    const before = await lab.connection.getBalance(owner.publicKey);
    const account = await tokenAccount(owner.publicKey);
    await lab.send(await lab.signed(owner, [lab.close(owner.publicKey, account)]));
    assert.equal(await lab.connection.getAccountInfo(account), null);
    assert.equal(await lab.connection.getBalance(owner.publicKey), before + 2_039_280 - 5_000);
  });

  for (const [program, name] of Object.entries(programs)) {
    it(`moves tokens of the program ${name}, and distinguishes them from the other’s`, async () => {
      const mint = newKey();
      const to = newKey();
      await plantMint(lab.solana.rpcUrl, String(mint), 2, program);
      const owner = { mint: of(mint), tokenProgram: address(program) };
      await fundWallet(lab.solana.rpcUrl, String(payer.publicKey), { tokens: { [String(mint)]: 900n } });
      const accounts = await fundWallet(lab.solana.rpcUrl, String(to), { tokens: { [String(mint)]: 0n } });
      const [source] = await findAssociatedTokenPda({ ...owner, owner: of(payer.publicKey) });
      const [destination] = await findAssociatedTokenPda({ ...owner, owner: of(to) });
      assert.equal(accounts[String(mint)], destination);
      const move = { source, mint: of(mint), destination, authority: of(payer.publicKey), amount: 250n, decimals: 2 };
      const transfer = toWeb3(getTransferCheckedInstruction(move, { programAddress: address(program) }));
      for (const key of transfer.keys) key.isSigner = key.pubkey.equals(payer.publicKey);
      const signature = await lab.send(await lab.signed(payer, [transfer]));
      lab.solana.advanceSlots();
      const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
      const got = await lab.connection.getParsedTransaction(signature, options);
      const credited = got?.meta?.postTokenBalances?.find((each) => each.owner === String(to));
      assert.equal(credited?.programId, program);
      assert.equal(credited?.uiTokenAmount.uiAmountString, '2.5');
      const [instruction] = got?.transaction.message.instructions ?? [];
      assert.equal(instruction && 'program' in instruction && instruction.program, name);
      const { value } = await lab.connection.getParsedAccountInfo(new PublicKey(destination));
      assert.ok(value && 'parsed' in value.data);
      assert.equal(value.data.program, name);
    });
  }

  it('does not confuse a mint’s program with another', async () => {
    const mint = newKey();
    await plantMint(lab.solana.rpcUrl, String(mint), 6, token2022Program);
    const accounts = await fundWallet(lab.solana.rpcUrl, String(payer.publicKey), { tokens: { [String(mint)]: 9n } });
    const account = address(accounts[String(mint)] ?? '');
    const authority = of(payer.publicKey);
    const move = { source: account, mint: of(mint), destination: account, authority, amount: 1n, decimals: 6 };
    const transfer = toWeb3(getTransferCheckedInstruction(move));
    for (const key of transfer.keys) key.isSigner = key.pubkey.equals(payer.publicKey);
    const { value } = await lab.connection.simulateTransaction(await lab.signed(payer, [transfer]));
    assert.deepEqual(value.err, { InstructionError: [0, 'IncorrectProgramId'] });
  });

  it('creates only a wallet’s own token account for it', async () => {
    const [create] = await lab.payment({ from: payer, to: payer.publicKey, amount: 1n });
    assert.ok(create);
    const [, , owner] = create.keys;
    assert.ok(owner);
    owner.pubkey = newKey();
    const { value } = await lab.connection.simulateTransaction(await lab.signed(payer, [create]));
    assert.deepEqual(value.err, { InstructionError: [0, 'InvalidSeeds'] });
  });

  it('leaves an empty wallet as the system’s account, or none', async () => {
    const wallet = newKey();
    assert.equal(await lab.connection.getAccountInfo(wallet), null);
    await fundWallet(lab.solana.rpcUrl, String(wallet), { lamports: 1_000_000n });
    const info = await lab.connection.getAccountInfo(wallet);
    assert.equal(String(info?.owner), String(SystemProgram.programId));
    assert.equal(info?.executable, false);
    assert.equal((await lab.connection.getAccountInfo(new PublicKey(tokenProgram)))?.executable, true);
  });
});
