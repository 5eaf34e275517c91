/** What the treasury's keys may spend, per transfer and in any sixty minutes over all chains together, and whether the treasury holds it. */
import type { Clock } from '../../../commands/ports.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { formatAmount, rescale } from '../../../domain/money.ts';
import { epochMs, hour_ms } from '../../../domain/time.ts';
import { PayoutBlocked, type SigningPurpose, SigningRefused, type TransferOrder, type Unsigned } from '../ports.ts';

const microUsd_decimals = 6;
/** Signatures remembered for the hourly limit; more in an hour are refused. */
const rememberedMax = 100_000;

export interface SpendingLimits {
  /** Whole tokens in one transfer. */
  readonly perTransfer_usd: bigint;
  /** Whole tokens in the transfers of any sixty minutes, over all chains. The count begins when the process starts. */
  readonly perHour_usd: bigint;
}

/**
 * Checks a transfer against the limits.
 * @returns what counts it, once it is really signed
 * @throws SigningRefused perTransfer, perHour
 */
export type Spending = (unsigned: Unsigned, purpose: SigningPurpose) => () => void;

/** Sums what was signed in the last hour. A nonce of an account counts once, however often it is signed; without nonces, a purpose does. */
export function createSpending({ perTransfer_usd, perHour_usd }: SpendingLimits, clock: Pick<Clock, 'now'>): Spending {
  const mostAtOnce = inMicroUsd(perTransfer_usd);
  const mostPerHour = inMicroUsd(perHour_usd);
  const signed = new Map<string, { readonly at_ms: number; readonly amount: bigint }>();

  return ({ chainId, account, nonce, order }, { kind, reference }) => {
    // Where there are no nonces, a purpose is signed again only after what was signed for it is dead.
    const key = `${chainId}:${account}:${nonce ?? reference}`;
    const amount = microUsd(order);
    if (amount > mostAtOnce) {
      const message = `${kind} ${reference} is above the limit of ${perTransfer_usd} per transfer`;
      throw new SigningRefused('perTransfer', message);
    }
    const now_ms = epochMs(clock.now());
    for (const [old, { at_ms }] of signed) if (at_ms <= now_ms - hour_ms) signed.delete(old);
    let sum = amount;
    for (const [other, entry] of signed) if (other !== key) sum += entry.amount;
    if (sum > mostPerHour || signed.size >= rememberedMax) {
      throw new SigningRefused('perHour', `the limit of ${perHour_usd} per hour is reached: wait, or raise it`);
    }
    return () => void signed.set(key, { at_ms: now_ms, amount });
  };
}

const inMicroUsd = (whole: bigint): bigint => whole * 10n ** BigInt(microUsd_decimals);

/** Rounded up: a limit is never passed by fractions. */
function microUsd({ amount, token }: TransferOrder): bigint {
  const down = rescale(amount, token.decimals, microUsd_decimals);
  return rescale(down, microUsd_decimals, token.decimals) < amount ? down + 1n : down;
}

/**
 * Checked before anything is signed.
 *
 * @param held what the treasury can spend of the order's token, in smallest units
 * @throws PayoutBlocked when that is less than the order's amount and what is signed already
 */
export function checkFloat(held: bigint, treasury: string, order: TransferOrder): void {
  const { chainId, token, amount, spokenFor = 0n } = order;
  if (held - spokenFor >= amount) return;
  const text = (units: bigint) => `${formatAmount(units, token.decimals)} ${token.symbol}`;
  const signed = spokenFor > 0n ? `, ${text(spokenFor)} of it in payouts under way,` : '';
  throw new PayoutBlocked(
    'float',
    `the treasury ${treasury} holds ${text(held)} on ${chainOf(chainId).name}${signed} and ${text(amount)} are to be paid: top it up`,
  );
}

/** The coin must pay for two transactions: the transfer, and one that replaces it or follows when it is dead. */
const reserve = 2n;

export interface Fee {
  readonly chainId: ChainId;
  /** The coin's smallest unit, in the plural: wei, lamports, stroops. */
  readonly unit: string;
  /** What one transaction can cost at most. */
  readonly most: bigint;
}

/**
 * @param held what the treasury can spend of the chain's coin, in smallest units
 * @throws PayoutBlocked when that cannot pay the fee, twice
 */
export function checkCoin(held: bigint, treasury: string, { chainId, unit, most }: Fee): void {
  const need = most * reserve;
  if (held >= need) return;
  const { name } = chainOf(chainId);
  throw new PayoutBlocked(
    'gas',
    `the treasury ${treasury} can spend ${held} ${unit} on ${name}, a transfer needs ${need}: top it up`,
  );
}
