import { createHash } from 'node:crypto';
import { Unavailable } from '../../../../commands/ports.ts';
import type { Deposit } from '../../../../domain/payment/events.ts';
import type { DepositOwner } from '../../family.ts';
import type { DepositScheme } from '../../ports.ts';

/** Addresses taken from the shared stock at a time. A crash loses unused ones at no cost. */
const stockMax = 32;
const retryAfter_s = 2;

/** Salt of the deposit that is derived from a payment's id. A salt is no secret: only the seed protects the keys. */
const saltOf = (paymentId: string): string =>
  createHash('sha256').update(`payment-intents/deposit-of-payment-1/${paymentId}`).digest('hex');

const depositOf = ({ address, scheme, salt }: DepositOwner): Deposit => ({
  ...{ scheme, address, salt },
  ...{ memo: null, contract: null, contractMemo: null },
});

/**
 * One wallet per payment, made in advance by an instance with the seed; no key is needed here. The customer pays the wallet, and its token
 * account holds the money.
 *
 * @param take takes up to `max` addresses from the stock, each assigned once
 * @param ownerOf derives the address of a salt; null on an instance that cannot
 */
export function createSolanaDeposits(
  take: (max: number) => Promise<readonly DepositOwner[]>,
  ownerOf: ((salt: string) => Promise<DepositOwner>) | null = null,
): DepositScheme {
  const stock: DepositOwner[] = [];
  let underWay: Promise<number> | undefined;

  /** @returns number of new addresses */
  function refill(): Promise<number> {
    underWay ??= take(stockMax)
      .then((owners) => {
        stock.push(...owners);
        return owners.length;
      })
      .finally(() => {
        underWay = undefined;
      });
    return underWay;
  }

  /** Many creates may wait for one refill: one without an address retries as long as refills bring any. */
  async function next(): Promise<DepositOwner> {
    for (let came = 1; came > 0; came = await refill()) {
      const owner = stock.shift();
      if (!owner) continue;
      // In the background: this create has its address even if the refill fails.
      if (stock.length < stockMax / 2) refill().catch(() => {});
      return owner;
    }
    throw new Unavailable('no deposit address is ready on Solana: try again in a moment', retryAfter_s);
  }

  return {
    intents: [],
    assign: async () => depositOf(await next()),
    ...(ownerOf && { derive: async (paymentId) => depositOf(await ownerOf(saltOf(paymentId))) }),
  };
}
