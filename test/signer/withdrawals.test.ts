/** A separate signer pays a merchant's credit out, for any number of buyers who paid by credit. */
import assert from 'node:assert/strict';
import { SigningRefused, type TransferOrder } from '../../commands/transferPorts.ts';
import {
  type CashbackEvent,
  type CashbackState,
  cashback,
  receive,
  type Withdrawal,
  withdraw,
} from '../../domain/cashback.ts';
import { isRefusal } from '../../domain/decider.ts';
import { payOutCashback } from '../../domain/payment/cashback.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import * as p from '../support/payments.ts';
import { accepted } from '../support/processes.ts';
import { forgedLog } from './forgedLog.ts';

const facts = { cause: 'worker:test', appId: null } as const;
const asset = p.ethereumUsdc;
const terms = p.terms({ type: 'exactIn', from: asset, to: asset });
const { paymentId, appId } = terms;
const withdrawal: Withdrawal = {
  ...{
    paymentId,
    cents: '1000',
    chainId: 1,
    token: asset.token,
    receiverAddress: p.merchantWallet,
    receiverMemo: null,
  },
  fee: { fixed: '10000', basisPoints: 0 },
};
const order: TransferOrder = {
  ...{ chainId: 1, token: asset.token, receiver: p.merchantWallet, receiverMemo: null, amount: p.of('9.99', asset) },
};
const perAppend = 500;

const receivedAfter = (state: CashbackState): CashbackEvent => {
  const payment = { ordinal: state.received + 1, account: 'buyer', digest: 'a'.repeat(64), orderId: null, cents: 1n };
  const decided = receive(state, payment, p.minute(1));
  assert.ok(!isRefusal(decided) && decided[0]);
  return decided[0];
};

type World = ReturnType<typeof forgedLog>;

async function receives({ handle }: World, payments: number): Promise<void> {
  for (let left = payments; left > 0; left -= perAppend)
    await accepted(
      handle(
        cashback,
        appId,
        (state) => {
          const events: CashbackEvent[] = [];
          let at = state;
          for (let n = Math.min(left, perAppend); n > 0; n -= 1) {
            const event = receivedAfter(at);
            events.push(event);
            at = event.data.after;
          }
          return events;
        },
        facts,
      ),
    );
}

const withdraws = ({ handle }: World, asked: Withdrawal = withdrawal) =>
  accepted(handle(cashback, appId, (state) => withdraw(state, asked, { seen: state, now: p.minute(90) }), facts));

const createsPayment = ({ handle }: World, change: Partial<typeof terms> = {}) =>
  accepted(
    handle(
      paymentDecider,
      paymentId,
      (state) => payOutCashback(state, { ...terms, ...change, now: p.minute(90) }),
      facts,
    ),
  );

const signs = (world: World, asked: TransferOrder = order) => world.sign('payout', paymentId, asked);
const notOrdered = (error: unknown): boolean => error instanceof SigningRefused && error.reason === 'notOrdered';

describe('a withdrawal of credit, requested from a separate signer', () => {
  it('is signed for a merchant with more than 100,000 credit payments before it, and more after it', async function () {
    this.timeout(120_000);
    const world = forgedLog([]);
    await receives(world, 100_001);
    await withdraws(world);
    await createsPayment(world);
    await receives(world, 1_200);
    await signs(world);
  });

  it('is refused if the merchant has made none, or none with that name', async () => {
    const world = forgedLog([]);
    await createsPayment(world);
    await assert.rejects(signs(world), notOrdered);
    await receives(world, 1_100);
    await withdraws(world, { ...withdrawal, paymentId: 'another' });
    await assert.rejects(signs(world), notOrdered);
  });

  it('is refused if its payment pays more than was withdrawn, another receiver, or another token', async () => {
    const lies: readonly Partial<Withdrawal>[] = [
      { cents: '998' },
      { cents: '1' },
      { receiverAddress: p.customerWallet },
      { receiverMemo: 'memo' },
      { chainId: 137, token: p.polygonUsdc.token },
      { token: p.ethereumUsdt.token },
    ];
    for (const lie of lies) {
      const world = forgedLog([]);
      await receives(world, 1_000);
      await withdraws(world, { ...withdrawal, ...lie });
      await createsPayment(world);
      await assert.rejects(signs(world), notOrdered, JSON.stringify(lie));
    }
  });
});
