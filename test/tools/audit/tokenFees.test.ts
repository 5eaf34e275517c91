/** USDT's contract on Ethereum can keep a part of each transfer. Its own fee is no fraud; any other missing part is one. */
import assert from 'node:assert/strict';
import { chainOf } from '../../../domain/chains.ts';
import type { DomainEvent } from '../../../domain/decider.ts';
import { tokenFeeMax } from '../../../tools/audit/claims.ts';
import {
  attempt,
  confirmed,
  customerWallet,
  depositAddress,
  digits,
  ethereumUsdt,
  event,
  funded,
  hashOf,
  merchantWallet,
  minute,
  payin,
  payoutRequested,
  settled,
  short,
  signed,
  treasuryAccount,
} from '../../support/payments.ts';
import { books, cost, createdAs, landedData, moved, on, paymentA, thief, withCost } from './honest.ts';
import { audit, type Ground, pointed, type Said, type Shown, written } from './world.ts';

const asset = ethereumUsdt.token.address;
/** The token's owner, who receives the fee. */
const keeper = '0xC6CDE7C39eB2f0F0095F41570af89eFC2C1Ea828';
const units = (amount: string) => BigInt(digits(amount, ethereumUsdt));
/** Fee of ten dollars at the highest rate that the contract allows. */
const kept = 19_000n;
const swept = hashOf('swept');
const came = { ...payin({ in: ethereumUsdt, tx: 'usdt', amount: '10.01' }), to: depositAddress };
const [paid, again] = [attempt(1, { to: ethereumUsdt }), attempt(2, { to: ethereumUsdt, nonce: '8' })];
const arrived = (units('10.00') - kept).toString();
const fellShort = withCost({ ...short('9.981', paid), data: { ...short('9.981', paid).data, arrived } });

const payment = (...events: readonly DomainEvent[]): Said[] => {
  const { data } = createdAs(paymentA);
  const { source, destination } = data as never as { source: object; destination: object };
  const on1 = { chainId: 1, token: ethereumUsdt.token };
  const created = {
    type: 'PaymentCreated',
    data: { ...data, source: { ...source, ...on1 }, destination: { ...destination, ...on1 }, webhookUrl: null },
  };
  const funds = funded([came], { source: ethereumUsdt, destination: ethereumUsdt });
  return on(paymentA, created, confirmed(came), funds, payoutRequested('10.00', ethereumUsdt), signed(paid), ...events);
};

const sweep = on(
  'operation-s1',
  {
    type: 'OperationOrdered',
    data: {
      ...{ kind: 'sweep', chainId: 1, account: treasuryAccount, token: ethereumUsdt.token, receiver: treasuryAccount },
      ...{ receiverMemo: null, amount: came.amount, value_microUsd: '0', approvals: 0, reason: 'a sweep' },
      form: { kind: 'flush', deposits: [{ address: depositAddress, salt: '0x01' }] },
      ...{ by: 'worker:sweeps', orderedAt: minute(10) },
    },
  },
  {
    type: 'OperationSigned',
    data: { ...attempt(1, { to: ethereumUsdt, nonce: '9', receiver: treasuryAccount, amount: '10.01' }), hash: swept },
  },
  {
    type: 'OperationConfirmed',
    data: { ...landedData({ hash: swept }, 300), cost },
  },
);

const change = (amount: bigint, counterparty: string) => ({ asset, amount, counterparty });
const fromDeposit: Partial<Shown> = { account: depositAddress, outgoing: false, fee: 0n };
const shownAs = (txHash: string, number: number, changes: Shown['changes'], over: Partial<Shown> = {}): Shown => ({
  ...moved(txHash, number, '-1.00', thief),
  ...{ changes, ...over },
});

interface Chain {
  readonly keptOfPayout?: bigint;
  readonly keptOfSweep?: bigint;
  readonly more?: readonly Shown[];
}

function chain({ keptOfPayout = kept, keptOfSweep = kept, more = [] }: Chain = {}): readonly Ground[] {
  const out = [change(keptOfPayout - units('10.00'), merchantWallet), change(-keptOfPayout, keeper)];
  const left = [change(keptOfSweep - units('10.01'), treasuryAccount), change(-keptOfSweep, keeper)];
  const transactions = [
    shownAs(came.txHash, 100, [change(units('10.01'), customerWallet)], fromDeposit),
    shownAs(paid.hash, 200, out),
    ...more,
    shownAs(swept, 300, left, fromDeposit),
    shownAs(swept, 300, [change(units('10.01') - keptOfSweep, depositAddress)]),
  ];
  const own = transactions.filter(({ account }) => account === treasuryAccount);
  const sum = own.flatMap(({ changes }) => changes).reduce((all, { amount }) => all + amount, 0n);
  const fees = own.reduce((all, { fee }) => all + fee, 0n);
  return [{ chainId: 1, transactions, holds: { [asset]: units('100.00') + sum, coin: 1_000_000n - fees } }];
}

const opened = books(1, { [asset]: units('100.00').toString(), coin: '1000000' });
/** The treasury got less than left the deposit. */
const sweepBrought = (units_: bigint): Said[] =>
  sweep.map((each) =>
    each.event.type === 'OperationConfirmed'
      ? { ...each, event: { ...each.event, data: { ...each.event.data, arrived: units_.toString() } } }
      : each,
  );
const tell = async (said: readonly Said[], grounds: readonly Ground[]) =>
  pointed(await audit({ log: written([...opened, ...said]), grounds }));
const broughtAll = sweepBrought(units('10.01') - kept);

describe('the audit of a token that keeps a fee', () => {
  it('finds nothing if the receiver got less by the fee, whether the payout waits, was accepted or paid again', async () => {
    const accepted = [
      fellShort,
      event('PayoutAccepted', { reason: 'the merchant agrees', acceptedAt: minute(12) }),
      withCost(settled(paid)),
    ];
    for (const events of [[fellShort], accepted])
      assert.deepEqual(await tell([...payment(...events), ...broughtAll], chain()), []);
    const retried = [
      fellShort,
      event('PayoutRetried', { reason: 'the merchant sent it back', retriedAt: minute(12) }),
      signed(again),
      withCost(settled(again, 250)),
    ];
    const more = [shownAs(again.hash, 250, [change(-units('10.00'), merchantWallet)])];
    assert.deepEqual(await tell([...payment(...retried), ...broughtAll], chain({ more })), []);
  });

  it('finds a part above the token’s maximum, of a payout and of a sweep', async () => {
    const much = kept + 1n;
    const more = { ...fellShort, data: { ...fellShort.data, arrived: (units('10.00') - much).toString() } };
    assert.deepEqual(await tell([...payment(more), ...broughtAll], chain({ keptOfPayout: much })), [
      `outflowElsewhere ${paymentA} 4`,
    ]);
    const said = [...payment(fellShort), ...sweepBrought(units('10.01') - 19_020n)];
    assert.deepEqual(await tell(said, chain({ keptOfSweep: 19_020n })), [`sweptElsewhere deposit ${depositAddress} -`]);
  });

  it('finds a fee that the log hides, and one of a token that has none', async () => {
    assert.deepEqual(await tell([...payment(withCost(settled(paid))), ...broughtAll], chain()), [
      `outflowElsewhere ${paymentA} 4`,
    ]);
    const usdc = chainOf(1).tokens.find(({ symbol }) => symbol === 'USDC');
    assert.equal(tokenFeeMax(1, asset, units('10.00')), kept);
    assert.equal(tokenFeeMax(1, asset, units('1000000.00')), units('49.00'));
    assert.equal(tokenFeeMax(1, usdc?.address ?? '', units('10.00')), 0n);
    assert.equal(tokenFeeMax(56, asset, units('10.00')), 0n);
  });
});
