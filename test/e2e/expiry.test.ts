/** The block time of a payin decides whether its payment expires, not the time of detection. The spec sets the service's clock. */
import assert from 'node:assert/strict';
import type { Clock } from '../../commands/ports.ts';
import type { ChainId } from '../../domain/chains.ts';
import { hour_ms, plus } from '../../domain/time.ts';
import { systemClock } from '../../src/process/system.ts';
import { createLocalService } from '../support/localService.ts';
import type { Answer } from '../support/shop.ts';

const source = 8453;
const destination = 1;
/** Three passes poll four times per second; expiry once. */
const scansOfSomeSeconds = 30;

describe('payments at their expiry', () => {
  let ahead_ms = 0;
  const clock: Clock = { ...systemClock, now: () => plus(systemClock.now(), ahead_ms) };
  const shop = createLocalService([source, destination], clock);
  before(() => shop.open());
  after(() => shop.close());

  it('complete if they were paid in time while the service was down, and end if not', async () => {
    const [inTime, tooLate, tooLittle, never] = [await create(), await create(), await create(), await create()];
    await shop.stop();
    await shop.pay(inTime);
    await shop.pay(tooLittle, '1.00');
    await passOnChain(source, 2 * hour_ms);
    await shop.pay(tooLate);
    ahead_ms += 2 * hour_ms;
    await shop.start();

    const outcomes = await Promise.all([
      shop.follow(inTime.id),
      // Late money may be detected after the payment's end: until then the payment is expired.
      shop.follow(tooLate.id, ({ status }) => status === 'payment_bounced'),
      shop.follow(tooLittle.id),
      shop.follow(never.id),
    ]);
    assert.deepEqual(
      outcomes.map(({ status, errorCode }) => [status, errorCode]),
      [
        ['payment_payout_completed', null],
        ['payment_bounced', 'latePayin'],
        ['payment_bounced', 'amountTooLow'],
        ['payment_expired', null],
      ],
    );
  });

  it('wait for the chain’s clock, however far ours is ahead', async () => {
    const payment = await create();
    ahead_ms += 2 * hour_ms;
    const begun = await scans();
    await shop.until(async () => (await scans()) > begun + scansOfSomeSeconds);
    assert.equal((await shop.call('GET', `/payment-api/payments/${payment.id}`)).body.status, 'payment_unpaid');
    await shop.pay(payment);
    assert.equal((await shop.follow(payment.id)).status, 'payment_payout_completed');
  });

  it('wait for every chain that their payer may pay on', async () => {
    const payment = await create({ payFrom: [{ chainId: destination, tokenSymbol: 'USDC' }] });
    const alone = await create();
    ahead_ms += 2 * hour_ms;
    await passOnChain(source, ahead_ms);
    assert.equal((await shop.follow(alone.id)).status, 'payment_expired');
    const begun = await scans();
    await shop.until(async () => (await scans()) > begun + scansOfSomeSeconds);
    assert.equal((await shop.call('GET', `/payment-api/payments/${payment.id}`)).body.status, 'payment_unpaid');
    await passOnChain(destination, ahead_ms);
    assert.equal((await shop.follow(payment.id)).status, 'payment_expired');
  });

  async function create(more: object = {}): Promise<Answer['body']> {
    const created = await shop.create({
      appId: shop.wallet().appId,
      type: 'exactOut',
      display: { title: 'Tea' },
      source: { chainId: source, tokenSymbol: 'USDC' },
      destination: {
        chainId: destination,
        tokenSymbol: 'USDC',
        receiverAddress: '0x1111111111111111111111111111111111111111',
        amount: '3.00',
      },
      ...more,
    });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    return created.body;
  }

  /** Moves the time of later blocks forward, and waits for the next block. */
  async function passOnChain(chainId: ChainId, duration_ms: number): Promise<void> {
    await shop.rpc(chainId, 'evm_increaseTime', [duration_ms / 1_000]);
    await shop.rpc(chainId, 'evm_mine', []);
  }

  /** Number of scans of the source chain's passes: the service is running, and expiry has had its rounds. */
  async function scans(): Promise<number> {
    const { body } = await shop.operations('/metrics');
    return Number(
      new RegExp(`^pi_work_total\\{worker="payins:${source}",result="done"\\} (\\d+)`, 'm').exec(body)?.[1] ?? 0,
    );
  }
});
