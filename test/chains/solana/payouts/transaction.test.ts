/** The treasury's transactions, pinned as an independent client reads them: every account, its role and every byte of data. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { TransactionMessage, VersionedMessage } from 'solana-web3-v1';
import {
  publicReferenceOf,
  sweepMessage,
  type TransactionTerms,
  termsInMessage,
  transferMessage,
} from '../../../../src/chains/solana/payouts/transaction.ts';
import { ownerKey, solanaKey } from '../../../../src/chains/solana/signer/keys.ts';
import { tokenAccountOf } from '../../../../src/chains/solana/tokenProgram.ts';
import { orderTo, usdcToken } from '../world.ts';

const treasury = 'GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB';
const treasurysUsdc = '7woc3ajaGMMXczFYjxon4aQoHH3j126fMUR9c58eHRsK';
const receiver = '2KW2XRd9kwqet15Aha2oK3tYvd3nWbTFH1MBiRAv1BE1';
const receiversUsdc = 'G8sVqaVs7nUeXfK48nwmaWocw1T9sVGbqUFYYbX63S1q';
const deposit = '57AC95M1hdRUBJ57u9AwDvYv4C6J8UBquvczemqrKn5k';
const depositsUsdc = 'DzALD9hMaBu6vyjguyW9wLgwjgtx9Prm9wjyTfa1Fr8R';
const reference = '32g7EZm7UNJEUsKciCT5stwgkiYRwhcnRMd15htHy7bK';

const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const systemProgram = '11111111111111111111111111111111';
const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const associatedProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const budgetProgram = 'ComputeBudget111111111111111111111111111111';
const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';

const terms: TransactionTerms = {
  blockhash: 'CktRuQ2mttgRGkXJtyksdKHjUdc2C4TgDzyB98oEzy8',
  units: 80_000,
  price_microLamports: 1_000n,
};
const budget = [`${budgetProgram} 0280380100`, `${budgetProgram} 03e803000000000000`];
const creating = (account: string, owner: string) =>
  `${associatedProgram} 01 ${treasury}:sw ${account}:w ${owner}${owner === treasury ? ':sw' : ''} ${usdc} ${systemProgram} ${tokenProgram}`;

describe('transactions on Solana', () => {
  it('use addresses that are derived from keys, seed, salt and payment alone', () => {
    assert.equal(solanaKey(Buffer.alloc(32, 7)).address, treasury);
    assert.equal(solanaKey(Buffer.alloc(32, 8)).address, receiver);
    assert.equal(ownerKey('5e'.repeat(32), 'ab'.repeat(32)).address, deposit);
    assert.equal(tokenAccountOf(treasury, usdc), treasurysUsdc);
    assert.equal(tokenAccountOf(receiver, usdc), receiversUsdc);
    assert.equal(tokenAccountOf(deposit, usdc), depositsUsdc);
    assert.equal(publicReferenceOf('payout', 'payment-1'), reference);
    assert.equal(publicReferenceOf('payin', 'payment-1'), '4xqtG95mtWoXfEeJ7y2dntb5ctgsERw4ktszLpgL3s6J');
  });

  it('pay into the receiver’s token account, which they create, with reference and memo', () => {
    const transfer = `${tokenProgram} 0c404b4c000000000006 ${treasurysUsdc}:w ${usdc} ${receiversUsdc}:w ${treasury}:sw ${reference}`;
    const memos = [
      [null, reference],
      ['invoice ✓ 7', 'invoice ✓ 7'],
    ] as const;
    for (const [receiverMemo, memo] of memos) {
      const order = orderTo(receiver, 5_000000n, { receiverMemo });
      assert.deepEqual(read(transferMessage(treasury, order, reference, terms)), {
        payer: treasury,
        blockhash: terms.blockhash,
        signers: 1,
        instructions: [
          ...budget,
          creating(receiversUsdc, receiver),
          transfer,
          `${memoProgram} ${Buffer.from(memo).toString('hex')}`,
        ],
      });
    }
  });

  it('sweep a deposit into the treasury’s token account and close it', () => {
    assert.deepEqual(read(sweepMessage(treasury, { owner: deposit, token: usdcToken, amount: 7_000000n }, terms)), {
      payer: treasury,
      blockhash: terms.blockhash,
      signers: 2,
      instructions: [
        ...budget,
        creating(treasurysUsdc, treasury),
        `${tokenProgram} 0cc0cf6a000000000006 ${depositsUsdc}:w ${usdc} ${treasurysUsdc}:w ${deposit}:s`,
        `${tokenProgram} 09 ${depositsUsdc}:w ${treasury}:sw ${deposit}:s`,
      ],
    });
  });

  it('are the same bytes each time', () => {
    const order = orderTo(receiver, 5_000000n);
    const deposited = { owner: deposit, token: usdcToken, amount: 7_000000n };
    const pinned = [
      [
        '830b2bef8145225f405f7d86c90958c70fafb3fba3659724c2cbb8abe5925772',
        transferMessage(treasury, order, reference, terms),
      ],
      ['a9dcaefdba07c0bb4f8bbe7c6e7eeeba23edfc17b107b34092b7b194039f951c', sweepMessage(treasury, deposited, terms)],
    ] as const;
    for (const [hash, message] of pinned) assert.equal(createHash('sha256').update(message).digest('hex'), hash);
  });

  it('state their terms', () => {
    assert.deepEqual(termsInMessage(transferMessage(treasury, orderTo(receiver), reference, terms)), terms);
    assert.equal(termsInMessage(new Uint8Array([0x80, 1, 2, 3])), undefined);
  });
});

/** Each instruction as its program, its data and its accounts: `s` signs, `w` is written. */
function read(message: Uint8Array) {
  const whole = VersionedMessage.deserialize(message);
  assert.ok(whole.version === 0 && whole.addressTableLookups.length === 0);
  const { payerKey, recentBlockhash, instructions } = TransactionMessage.decompile(whole);
  return {
    payer: payerKey.toBase58(),
    blockhash: recentBlockhash,
    signers: whole.header.numRequiredSignatures,
    instructions: instructions.map(({ programId, data, keys }) =>
      [programId.toBase58(), data.toString('hex'), ...keys.map(roleIn)].join(' '),
    ),
  };
}

function roleIn({ pubkey, isSigner, isWritable }: TransactionMessage['instructions'][number]['keys'][number]): string {
  const roles = `${isSigner ? 's' : ''}${isWritable ? 'w' : ''}`;
  return roles === '' ? pubkey.toBase58() : `${pubkey.toBase58()}:${roles}`;
}
