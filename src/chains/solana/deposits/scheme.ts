import { Unavailable } from '../../../../commands/ports.ts';
import type { Deposit } from '../../../../domain/payment/events.ts';
import type { DepositOwner } from '../../family.ts';
import type { DepositScheme } from '../../ports.ts';

/** Addresses taken out of the shared stock at a time. Those that a crash forgets are never used, which costs nothing. */
const stockMax = 32;
const retryAfter_s = 2;

/**
 * One wallet for each payment, made beforehand by an instance that has the seed; no key is needed here. The customer pays the wallet, the
 * money lies in its token account.
 *
 * @param take takes up to `max` addresses out of the stock, each of which is given out once
 */
export function createSolanaDeposits(take: (max: number) => Promise<readonly DepositOwner[]>): DepositScheme {
  const stock: DepositOwner[] = [];
  let underWay: Promise<number> | undefined;

  /** @returns how many came */
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

  /** Many creates may wait for one refill: one that gets no address asks again, as long as refills bring any. */
  async function next(): Promise<DepositOwner> {
    for (let came = 1; came > 0; came = await refill()) {
      const owner = stock.shift();
      if (!owner) continue;
      // In the background: this create has its address, whether the refill succeeds or not.
      if (stock.length < stockMax / 2) refill().catch(() => {});
      return owner;
    }
    throw new Unavailable('no deposit address is ready on Solana: try again in a moment', retryAfter_s);
  }

  return {
    intents: [],
    async assign(): Promise<Deposit> {
      const { address, scheme, salt } = await next();
      return { scheme, address, salt, memo: null, contract: null, contractMemo: null };
    },
  };
}
