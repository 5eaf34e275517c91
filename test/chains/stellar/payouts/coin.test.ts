import assert from 'node:assert/strict';
import { Keypair } from '@stellar/stellar-sdk';
import { PayoutBlocked, SigningRefused, type TransferOrder } from '../../../../commands/transferPorts.ts';
import { coinOf } from '../../../../domain/money.ts';
import { orderTo, type PayingWorld, payingWorld } from '../paying.ts';
import { signal } from '../world.ts';

const form = { kind: 'coin' } as const;
const withdrawal = { kind: 'withdrawal', reference: 'operation-1' } as const;
const orderOf = (receiver: string, amount: bigint, memo: string | null = null): TransferOrder => ({
  ...orderTo(receiver, amount, memo),
  token: coinOf(1500),
  form,
});
const blockedBy = (reason: PayoutBlocked['reason'], said: RegExp) => (error: unknown) =>
  error instanceof PayoutBlocked && error.reason === reason && said.test(error.message);

describe('withdrawals of lumens', () => {
  let world: PayingWorld;
  let receiver: string;
  before(async () => {
    world = await payingWorld({ ledger_ms: 'manual', channels: 1 });
    receiver = (await world.lab.person(0n)).publicKey();
  });
  after(() => world.lab.stop());
  const lumens = async (account = receiver) =>
    BigInt((await world.lab.server.getAccountEntry(account)).balance().toString());
  const withdraw = async (order: TransferOrder, account = world.treasury.publicKey()) => {
    const numbering = (await world.rail.numbering.accounts(signal))?.find((each) => each.account === account);
    const unsigned = await world.rail.numbering.prepare(order, numbering?.minedNonce ?? 0n, undefined, account);
    const attempt = { ...(await world.sign(unsigned, 1, withdrawal)), form };
    await world.rail.broadcast(attempt.bytes);
    world.stellar.closeLedgers(1, 5);
    return world.rail.fate([attempt], signal);
  };

  it('reach their receiver with its memo, to the last stroop, whichever account numbers them', async () => {
    const before = await lumens();
    const fates = [await withdraw(orderOf(receiver, 7_0000001n, '42'))];
    fates.push(await withdraw(orderOf(receiver, 1n), world.channels[0]?.publicKey()));
    assert.deepEqual(
      fates.map(({ kind }) => kind),
      ['final', 'final'],
    );
    assert.equal(await lumens(), before + 7_0000002n);
  });

  it('reach a contract', async () => {
    assert.equal((await withdraw(orderOf(world.payinContract, 3_0000000n))).kind, 'final');
  });

  it('wait for as much as covers them and the fee, and for an account that exists', async () => {
    const nonce = await world.nextNonce();
    const prepare = (order: TransferOrder) => world.rail.numbering.prepare(order, nonce);
    const all = await lumens(world.treasury.publicKey());
    await assert.rejects(prepare(orderOf(receiver, all)), blockedBy('float', /top it up/));
    const nobody = Keypair.random().publicKey();
    await assert.rejects(prepare(orderOf(nobody, 1n)), blockedBy('refusedByToken', /does not exist/));
  });

  it('are signed exactly as ordered, as withdrawals and nothing else', async () => {
    const unsigned = await world.rail.numbering.prepare(orderOf(receiver, 5n), await world.nextNonce());
    const refused = (error: unknown) => error instanceof SigningRefused && error.reason === 'mismatch';
    for (const kind of ['payout', 'refund', 'sweep', 'deployment', 'cancel'] as const)
      await assert.rejects(world.sign(unsigned, 1, { ...withdrawal, kind }), refused);
    const { order } = unsigned;
    for (const other of [{ amount: 6n }, { receiver: Keypair.random().publicKey() }, { receiverMemo: '1' }])
      await assert.rejects(world.sign({ ...unsigned, order: { ...order, ...other } }, 1, withdrawal), refused);
  });
});
