import assert from 'node:assert/strict';
import { Keypair, type PublicKey } from 'solana-web3-v1';
import { of, type SolanaLab, solanaLab, tokenAccount } from '../../support/solana.ts';

describe('local Solana: history of an address', () => {
  let lab: SolanaLab;
  let payer: Keypair;
  let to: PublicKey;
  let account: PublicKey;
  /** Oldest first. */
  const sent: string[] = [];
  before(async () => {
    lab = await solanaLab();
    payer = await lab.person();
    to = Keypair.generate().publicKey;
    account = await tokenAccount(to);
    for (let amount = 1n; amount <= 5n; amount++) {
      sent.push(await lab.pay({ from: payer, to, amount }));
      if (amount % 2n === 0n) lab.solana.advanceSlots();
    }
    lab.solana.advanceSlots();
  });
  after(() => lab.stop());
  const newestFirst = () => sent.toReversed();
  const ask = async (options: object = {}) =>
    (await lab.connection.getSignaturesForAddress(account, options, 'confirmed')).map(({ signature }) => signature);

  it('is returned newest first, in a block in order', async () => {
    assert.deepEqual(await ask(), newestFirst());
  });

  it('is returned page by page', async () => {
    assert.deepEqual(await ask({ limit: 2 }), newestFirst().slice(0, 2));
    assert.deepEqual(await ask({ before: sent[3], limit: 2 }), [sent[2], sent[1]]);
    assert.deepEqual(await ask({ before: sent[0] }), []);
  });

  it('is returned up to a known transaction', async () => {
    assert.deepEqual(await ask({ until: sent[3] }), [sent[4]]);
    assert.deepEqual(await ask({ before: sent[4], until: sent[1] }), [sent[3], sent[2]]);
    assert.deepEqual(await ask({ until: sent[4] }), []);
  });

  it('refuses a page before or after a signature that is not in the chain', async () => {
    const unknown = '1'.repeat(64);
    const refusal = { code: -32020, message: `Transaction ${unknown} not found` };
    for (const bound of ['before', 'until']) {
      const { error } = await lab.call('getSignaturesForAddress', account.toBase58(), { [bound]: unknown });
      assert.deepEqual(error, refusal);
    }
  });

  it('refuses a page before a transaction that has not reached the commitment', async () => {
    const signature = await lab.pay({ from: payer, to: Keypair.generate().publicKey, amount: 1n });
    await assert.rejects(ask({ before: signature }), /not found/);
    lab.solana.advanceSlots();
    assert.deepEqual(await ask({ before: signature }), newestFirst());
  });

  it('accepts any transaction as a place in time, also of another address', async () => {
    const other = await lab.pay({ from: payer, to: Keypair.generate().publicKey, amount: 1n });
    const last = await lab.pay({ from: payer, to, amount: 6n });
    lab.solana.advanceSlots();
    assert.deepEqual(await ask({ until: other }), [last]);
    assert.deepEqual(await ask({ before: other }), newestFirst());
    sent.push(last);
  });

  it('belongs to the wallet only where the wallet is named: transfers to its token account are found there', async () => {
    const asked = await lab.connection.getSignaturesForAddress(to, {}, 'confirmed');
    assert.deepEqual(
      asked.map(({ signature }) => signature),
      newestFirst(),
      'creating the account names the wallet',
    );
    const bare = (await lab.payment({ from: payer, to, amount: 7n })).slice(1);
    const signature = await lab.send(await lab.signed(payer, bare));
    lab.solana.advanceSlots();
    sent.push(signature);
    assert.equal((await ask())[0], signature);
    const [newest] = await lab.connection.getSignaturesForAddress(to, {}, 'confirmed');
    assert.notEqual(newest?.signature, signature);
  });

  it('contains failures, memos, slots and times', async () => {
    const reference = Keypair.generate().publicKey;
    const transfer = { from: payer, to, amount: 10n ** 15n, memo: 'crème', reference };
    const failing = await lab.signed(payer, await lab.payment(transfer));
    const signature = await lab.send(failing, { skipPreflight: true });
    const slot = await lab.connection.getSlot('processed');
    lab.solana.advanceSlots();
    const [told] = await lab.rpc.getSignaturesForAddress(of(reference), { commitment: 'confirmed' }).send();
    const blockTime = await lab.connection.getBlockTime(slot);
    const plain = JSON.parse(JSON.stringify(told, (_, each) => (typeof each === 'bigint' ? Number(each) : each)));
    assert.deepEqual(plain, {
      signature,
      slot,
      err: { InstructionError: [1, { Custom: 1 }] },
      memo: '[6] crème',
      transactionIndex: 0,
      blockTime,
      confirmationStatus: 'confirmed',
    });
  });

  it('is kept for as many transactions as the node is configured to remember', async () => {
    const small = await solanaLab({ transactionsMax: 3 });
    const from = await small.person();
    const all: string[] = [];
    for (let amount = 1n; amount <= 5n; amount++) all.push(await small.pay({ from, to, amount }));
    small.solana.advanceSlots();
    const asked = await small.connection.getSignaturesForAddress(account, {}, 'confirmed');
    assert.deepEqual(
      asked.map(({ signature }) => signature),
      all.slice(2).toReversed(),
    );
    const { value } = await small.connection.getSignatureStatuses(all, { searchTransactionHistory: true });
    assert.deepEqual(
      value.map((status) => status !== null),
      [false, false, true, true, true],
    );
    assert.equal(await small.balance(to), 15n);
    await small.stop();
  });
});
