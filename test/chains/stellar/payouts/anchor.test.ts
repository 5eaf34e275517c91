import assert from 'node:assert/strict';
import { Keypair, Memo, type Transaction } from '@stellar/stellar-sdk';
import { SigningRefused, type TransferOrder, type Unsigned } from '../../../../commands/transferPorts.ts';
import { coinOf } from '../../../../domain/money.ts';
import { buildTransaction, innermost, nothing } from '../../../../src/chains/stellar/payouts/transaction.ts';
import { orderTo, type PayingWorld, payingWorld, withEnvelope } from '../paying.ts';
import { signal } from '../world.ts';

const anchor = { kind: 'anchor', reference: 'operation-anchor-1500-G-1' } as const;
const hash = '9f'.repeat(32);

describe('hashes on Stellar', () => {
  let world: PayingWorld;
  before(async () => {
    world = await payingWorld({ ledger_ms: 'manual', channels: 1 });
  });
  after(() => world.lab.stop());
  const order = (more: Partial<TransferOrder> = {}): TransferOrder => ({
    ...{ chainId: 1500, token: coinOf(1500), receiver: world.treasury.publicKey(), receiverMemo: null, amount: 0n },
    form: { kind: 'anchor', hash },
    ...more,
  });
  const lumens = async () =>
    BigInt((await world.lab.server.getAccountEntry(world.treasury.publicKey())).balance().toString());
  const prepared = async (account = world.treasury.publicKey()): Promise<Unsigned> => {
    const numbering = (await world.rail.numbering.accounts(signal))?.find((each) => each.account === account);
    return world.rail.numbering.prepare(order(), numbering?.minedNonce ?? 0n, undefined, account);
  };
  const refused = (error: unknown) => error instanceof SigningRefused && error.reason === 'mismatch';

  it('are the memo of a transaction that moves its fee and nothing else, whichever account numbers it', async () => {
    for (const account of [world.treasury.publicKey(), world.channels[0]?.publicKey()]) {
      const before = await lumens();
      const attempt = {
        ...(await world.sign(await prepared(account), 1, anchor)),
        form: { kind: 'anchor', hash } as const,
      };
      await world.rail.broadcast(attempt.bytes);
      world.stellar.closeLedgers(1, 5);
      const fate = await world.rail.fate([attempt], signal);
      assert.ok(fate.kind === 'final');
      assert.equal(await lumens(), before - BigInt(fate.cost?.fee ?? 0));
      assert.equal(fate.cost?.payer, world.treasury.publicKey());
      const landed = await world.lab.server.getTransaction(fate.hash);
      assert.ok(landed.status === 'SUCCESS');
      const { memo } = innermost(landed.envelopeXdr.toXDR('base64'), world.lab.passphrase);
      assert.deepEqual([memo.type, Buffer.from(memo.value ?? '').toString('hex')], ['hash', hash]);
    }
  });

  it('outbid themselves, and only one of the two can land', async () => {
    const first = await world.sign(await prepared(), 1, anchor);
    const bump = await world.rail.numbering.prepare(order(), BigInt(first.nonce ?? 0), first, first.account);
    const second = await world.sign(bump, 2, anchor);
    await world.rail.broadcast(second.bytes);
    world.stellar.closeLedgers(1, 5);
    assert.equal((await world.rail.fate([first, second], signal)).kind, 'final');
  });

  it('are signed as that and as nothing else, and nothing that moves money is signed as one', async () => {
    const unsigned = await prepared();
    for (const kind of ['payout', 'refund', 'withdrawal', 'sweep', 'deployment', 'cancel', 'batch'] as const)
      await assert.rejects(world.sign(unsigned, 1, { ...anchor, kind }), refused, kind);
    for (const other of [
      { amount: 1n },
      { receiver: Keypair.random().publicKey() },
      { form: { kind: 'anchor', hash: '9e'.repeat(32) } as const },
    ])
      await assert.rejects(world.sign({ ...unsigned, order: order(other) }, 1, anchor), refused);
    const receiver = (await world.lab.person(0n)).publicKey();
    const paying = await world.rail.numbering.prepare(orderTo(receiver), await world.nextNonce());
    for (const kind of ['anchor', 'deployment'] as const)
      await assert.rejects(world.sign(paying, 1, { ...anchor, kind }), refused);
    await assert.rejects(world.sign({ ...paying, order: order() }, 1, anchor), refused);
    const forged = (memo: Memo, validUntil_s = Number(unsigned.validUntil)) => {
      const { account, nonce } = unsigned;
      const building = { account, nonce: nonce ?? 0n, networkPassphrase: world.lab.passphrase, inclusion: 100n };
      const built: Transaction = buildTransaction({ operation: nothing(), memo }, { ...building, validUntil_s });
      return withEnvelope(unsigned, built.toEnvelope().toXDR('base64'));
    };
    await world.sign(forged(Memo.hash(hash)), 1, anchor);
    for (const memo of [Memo.none(), Memo.text('9f'), Memo.return(hash), Memo.hash('9e'.repeat(32))])
      await assert.rejects(world.sign(forged(memo), 1, anchor), refused);
    await assert.rejects(world.sign(forged(Memo.hash(hash), 0), 1, anchor), refused);
  });
});
