import { Unavailable } from '../../../../commands/ports.ts';
import type { Deposit } from '../../../../domain/payment/events.ts';
import type { DepositOwner } from '../../family.ts';
import type { DepositScheme } from '../../ports.ts';

/** How many are asked for at a time. What a crash forgets of them is nobody's for ever, which costs nothing. */
const stockMax = 32;
const retryAfter_s = 2;

/**
 * One wallet for each payment, made beforehand by an instance that has the seed: here are no keys. The customer pays the wallet, the
 * money lies in its token account.
 *
 * @param take addresses that nobody else gets and no payment has; fewer than asked for when there are not so many
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

  /** Many may wait for the same few; whoever gets none asks again, as long as any come. */
  async function next(): Promise<DepositOwner> {
    for (let came = 1; came > 0; came = await refill()) {
      const owner = stock.shift();
      if (!owner) continue;
      // In the background: the one who has one does not care whether this fails.
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
