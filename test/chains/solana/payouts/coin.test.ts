import assert from 'node:assert/strict';
import { PublicKey } from 'solana-web3-v1';
import { PayoutBlocked, SigningRefused, type TransferOrder } from '../../../../commands/transferPorts.ts';
import { coinOf } from '../../../../domain/money.ts';
import { lamportsPerSol } from '../../../support/solana.ts';
import { orderTo, type SolanaWorld, signal, solanaWorld } from '../world.ts';

const form = { kind: 'coin' } as const;
const withdrawal = { kind: 'withdrawal', reference: 'operation-1' } as const;

describe('withdrawals of SOL', () => {
  let world: SolanaWorld;
  before(async () => {
    world = await solanaWorld();
  });
  after(() => world.lab.stop());
  let ordinals = 0;
  const orderOf = (amount: bigint, receiver = world.nobody()): TransferOrder => {
    ordinals += 1;
    return orderTo(receiver, amount, {
      ...{ token: coinOf(501), form },
      ...{ reference: withdrawal.reference, referenceOrdinal: ordinals },
    });
  };
  const lamports = async (order: TransferOrder) =>
    (await world.lab.connection.getAccountInfo(new PublicKey(order.receiver), 'processed'))?.lamports ?? 0;

  it('reach a wallet that does not exist yet, to the last lamport, once', async () => {
    const order = orderOf(1_500_000_001n);
    const attempt = { ...(await world.sign(await world.rail.numbering.prepare(order), 1, withdrawal)), form };
    for (const _ of [1, 2]) await world.rail.broadcast(attempt.bytes);
    world.settle();
    const fate = await world.rail.fate([attempt], signal);
    assert.ok(fate.kind === 'final' && fate.cost);
    assert.deepEqual([await lamports(order), fate.cost.rent], [1_500_000_001, undefined]);
    await assert.rejects(world.rail.numbering.prepare(order), blockedBy('treasuryBehindChain'), 'it was paid already');
  });

  it('wait for as much as covers them and the fee, and for an amount that can open a wallet', async () => {
    await assert.rejects(world.rail.numbering.prepare(orderOf(10n * lamportsPerSol)), blockedBy('float'));
    await assert.rejects(world.rail.numbering.prepare(orderOf(5n)), blockedBy('refusedByToken'));
  });

  it('are signed exactly as ordered, as withdrawals and nothing else', async () => {
    const order = orderOf(1_000_000_000n);
    const unsigned = await world.rail.numbering.prepare(order);
    const refused = (error: unknown) => error instanceof SigningRefused && error.reason === 'mismatch';
    for (const kind of ['payout', 'refund', 'sweep', 'deployment', 'cancel'] as const)
      await assert.rejects(world.sign(unsigned, 1, { ...withdrawal, kind }), refused);
    for (const other of [{ amount: 1_000_000_001n }, { receiver: orderOf(1n).receiver }])
      await assert.rejects(world.sign({ ...unsigned, order: { ...unsigned.order, ...other } }, 1, withdrawal), refused);
    await assert.rejects(world.sign(unsigned, 1, { ...withdrawal, reference: 'operation-2' }), refused);
  });
});

const blockedBy = (reason: PayoutBlocked['reason']) => (error: unknown) =>
  error instanceof PayoutBlocked && error.reason === reason;
