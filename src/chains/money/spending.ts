/** Limits on the treasury's keys, per transfer and in any sixty minutes over all chains, and the balance check. */
import type { Clock } from '../../../commands/ports.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import {
  convertUp,
  dividedUp,
  formatAmount,
  larger,
  microUsdDecimals,
  tokenIn,
  usMillionth,
} from '../../../domain/money.ts';
import { type CoinPrice, coinInMicroUsd } from '../../../domain/payment/fees.ts';
import { epochMs, hour_ms } from '../../../domain/time.ts';
import { moneyLeaves } from '../../../domain/transfer/shapes.ts';
import { PayoutBlocked, type SigningPurpose, SigningRefused, type TransferOrder, type Unsigned } from '../ports.ts';

// Signed amounts of the last hour with running sums, which are needed before each signature.

/** Contribution of a transfer signed within the hour. */
export interface Spent {
  readonly chainId: ChainId;
  /** Reference of the signature: a payment. */
  readonly reference: string;
  readonly appId: string | null;
  /** In millionths of a dollar. */
  readonly amount: bigint;
  /** Maximum, in smallest units of the chain's coin. */
  readonly coin: bigint;
  readonly at_ms: number;
}

/** In memory, restored from the log after a restart. */
export interface SpentLately {
  /** By signing key: attempts that share a nonce land once. */
  readonly entries: ReadonlyMap<string, Spent>;
  put(key: string, spent: Spent): void;
  forget(key: string): void;
  /** Removes entries older than an hour; checks once a second. */
  expire(now_ms: number): void;
  /** Adds entries of the log that this memory lacks. */
  recall(recorded: readonly Spent[]): void;
  /** Sums without these entries, plus those of the same pending transaction. */
  besides(keys: readonly string[], together?: readonly Spent[]): Sums;
}

export interface Sums {
  readonly count: number;
  /** Dollars of all apps or of one, in millionths. */
  usd(by?: { readonly appId: string | null }): bigint;
  /** Coin of a chain, for all apps or one, in smallest units. */
  coin(chainId: ChainId, by?: { readonly appId: string | null }): bigint;
}

const expire_ms = 1_000;

export const recalledKey = (reference: string): string => `recalled ${reference}`;

export function createSpentLately(): SpentLately {
  const entries = new Map<string, Spent>();
  const sums = new Map<string, bigint>();
  let expired_ms = Number.NEGATIVE_INFINITY;

  function add(spent: Spent, sign: 1n | -1n): void {
    for (const [name, value] of spentPartsOf(spent)) {
      const sum = (sums.get(name) ?? 0n) + sign * value;
      if (sum === 0n) sums.delete(name);
      else sums.set(name, sum);
    }
  }

  function forget(key: string): void {
    const known = entries.get(key);
    if (!known) return;
    entries.delete(key);
    add(known, -1n);
  }

  function put(key: string, spent: Spent): void {
    forget(key);
    entries.set(key, spent);
    add(spent, 1n);
  }

  return {
    entries,
    put,
    forget,
    expire(now_ms) {
      if (Math.abs(now_ms - expired_ms) < expire_ms) return;
      expired_ms = now_ms;
      for (const [key, { at_ms }] of entries) if (at_ms <= now_ms - hour_ms) forget(key);
    },
    recall(recorded) {
      const known = new Set([...entries.values()].map(({ reference }) => reference));
      for (const spent of recorded) if (!known.has(spent.reference)) put(recalledKey(spent.reference), spent);
    },
    besides(keys, together = []) {
      const out = keys.flatMap((key) => entries.get(key) ?? []);
      const sumOf = (name: string) => (sums.get(name) ?? 0n) - partOf(out, name) + partOf(together, name);
      return {
        count: entries.size - out.length + together.length,
        usd: (by) => sumOf(usdOf(by)),
        coin: (chainId, by) => sumOf(coinOf(chainId, by)),
      };
    },
  };
}

type By = { readonly appId: string | null } | undefined;

/** The treasury's own spending uses the empty app id, which no app can have. */
const suffix = (by: By): string => (by ? ` of ${by.appId ?? ''}` : '');
const usdOf = (by?: By): string => `usd${suffix(by)}`;
const coinOf = (chainId: ChainId, by?: By): string => `coin ${chainId}${suffix(by)}`;

const partOf = (all: readonly Spent[], name: string): bigint =>
  all.flatMap(spentPartsOf).reduce((sum, [part, value]) => (part === name ? sum + value : sum), 0n);

/** Each sum that it contributes to. */
const spentPartsOf = (spent: Spent): readonly (readonly [string, bigint])[] => [
  [usdOf(), spent.amount],
  [usdOf(spent), spent.amount],
  [coinOf(spent.chainId), spent.coin],
  [coinOf(spent.chainId, spent), spent.coin],
];

/** Maximum remembered signatures, fifty a second; more in an hour are refused. */
const rememberedMax = 200_000;

export interface SpendingLimits {
  /** Whole tokens in one transfer. */
  readonly perTransfer_usd: bigint;
  /** Whole tokens in the transfers of any sixty minutes, over all chains. */
  readonly perHour_usd: bigint;
  /** Maximum share of the hourly limit for one app. Default: all of it. */
  readonly appShare_percent?: number;
  /** Maximum cost of transactions in any sixty minutes per chain, in smallest units of its coin. Default: no limit. */
  readonly coinPerHour?: ReadonlyMap<ChainId, bigint>;
  /** Price of each chain's coin, for transfers of it; without a price none is signed. */
  readonly coinPrices?: ReadonlyMap<ChainId, CoinPrice>;
}

/**
 * Checks a transaction against the limits.
 * @param coin maximum cost in its chain's coin, in smallest units
 * @returns the function that counts it once it is signed
 * @throws SigningRefused perTransfer, perHour, appPerHour, coinPerHour
 */
export type CheckSpending = (unsigned: Unsigned, purpose: SigningPurpose, coin?: bigint) => () => void;

/**
 * Sums the signatures of the last hour. A nonce of an account counts once, however often it is signed; without nonces, a purpose does.
 * Cancels are never refused, because they unblock the account. Cancels and sweeps move no money out, and cost coin.
 */
export function createSpending(
  limits: SpendingLimits,
  clock: Pick<Clock, 'now'>,
  lately: SpentLately = createSpentLately(),
): CheckSpending {
  const mostAtOnce = inMicroUsd(limits.perTransfer_usd);
  return (unsigned, { kind, reference, appId = null }, coin = 0n) => {
    const now_ms = epochMs(clock.now());
    lately.expire(now_ms);
    const { chainId } = unsigned;
    const own = partsOf(unsigned, { reference, appId }, coin).map((part) => {
      const amount = moneyLeaves(kind) ? microUsd(part.order, limits.coinPrices) : 0n;
      if (amount > mostAtOnce) {
        const message = `${kind} ${part.reference} is above the limit of ${limits.perTransfer_usd} per transfer`;
        throw new SigningRefused('perTransfer', message);
      }
      const spent = { chainId, reference: part.reference, appId: spenderOf(kind, part.appId), amount, coin: part.coin };
      return { key: part.key, spent: { ...spent, at_ms: now_ms } };
    });
    const known = own.flatMap(({ key, spent }) => [key, recalledKey(spent.reference)]);
    const earlier: Spent[] = [];
    for (const { spent } of own) {
      if (kind !== 'cancel') checkHour(limits, spent, lately.besides(known, earlier));
      earlier.push(spent);
    }
    return () => {
      for (const { key, spent } of own) {
        lately.forget(recalledKey(spent.reference));
        lately.put(key, either(spent, lately.entries.get(key)));
      }
    };
  };
}

interface Part extends Pick<Spent, 'reference' | 'appId' | 'coin'> {
  readonly key: string;
  readonly order: TransferOrder;
}

/** Each payment of a batch counts for its own app, as if it were signed alone, and bears its share of the maximum cost. */
function partsOf(
  unsigned: Unsigned,
  { reference, appId }: { readonly reference: string; readonly appId: string | null },
  coin: bigint,
): readonly Part[] {
  const { order } = unsigned;
  // Without nonces, a purpose is signed again only after its earlier signatures are dead.
  const key = spendingKey(unsigned, reference);
  if (order.form?.kind !== 'payMany') return [{ key, order, reference, appId, coin }];
  const { payments } = order.form;
  const share = payments.length === 0 ? 0n : dividedUp(coin, BigInt(payments.length));
  return payments.map(({ paymentId, amount, appId: payer }, at) => ({
    key: at === 0 ? key : `${key} ${paymentId}`,
    order: { ...order, amount },
    reference: paymentId,
    appId: payer,
    coin: share,
  }));
}

/** Sweeps together get one app's share of the coin, and so do anchors, so payouts never wait for them. No app has these names. */
export const spenderOf = (kind: SigningPurpose['kind'], appId: string | null): string | null =>
  kind === 'sweep' ? 'sweeps' : kind === 'anchor' ? 'anchors' : appId;

/** Key of a remembered signature: of attempts that share a nonce only one lands, and a purpose without nonces has one live attempt. */
export const spendingKey = (
  { chainId, account, nonce }: Pick<Unsigned, 'chainId' | 'account' | 'nonce'>,
  reference: string,
): string => `${chainId}:${account}:${nonce ?? reference}`;

/** Only one of the transactions with a common nonce lands: a cancel does not release the amount that a payout may still use. */
function either(spent: Spent, before: Spent | undefined): Spent {
  if (!before) return spent;
  const of = spent.amount >= before.amount ? spent : before;
  return { ...of, coin: larger(spent.coin, before.coin), at_ms: spent.at_ms };
}

/** @throws SigningRefused above the hourly limit of dollars or coin, or above its app's share */
function checkHour(limits: SpendingLimits, spent: Spent, others: Sums): void {
  const { perHour_usd, coinPerHour, appShare_percent = 100 } = limits;
  const { chainId, appId, amount, coin } = spent;
  const shareOf = (most: bigint) => (appId === null ? most : (most * BigInt(appShare_percent)) / 100n);
  const mostUsd = inMicroUsd(perHour_usd);
  if (others.usd() + amount > mostUsd || others.count >= rememberedMax) {
    throw new SigningRefused('perHour', `the limit of ${perHour_usd} per hour is reached: wait, or raise it`);
  }
  if (amount > 0n && others.usd({ appId }) + amount > shareOf(mostUsd)) {
    const message = `${appId} has used its ${appShare_percent} % of the ${perHour_usd} per hour: wait, or raise one of the two`;
    throw new SigningRefused('appPerHour', message);
  }
  const mostCoin = coinPerHour?.get(chainId);
  if (mostCoin === undefined) return;
  const unit = `the coin of ${chainOf(chainId).name} that an hour's transactions may cost`;
  if (others.coin(chainId) + coin > mostCoin)
    throw new SigningRefused('coinPerHour', `${unit} is spent: wait, or raise SIGNER_MAX_HOUR_COIN_${chainId}`);
  if (others.coin(chainId, { appId }) + coin > shareOf(mostCoin))
    throw new SigningRefused(
      'appPerHour',
      `${appId} has used its ${appShare_percent} % of ${unit}: wait, or raise one`,
    );
}

const inMicroUsd = (whole: bigint): bigint => whole * 10n ** BigInt(microUsdDecimals);

/** Rounded up, so a limit is never exceeded by fractions. @throws SigningRefused for a coin without a price */
function microUsd({ chainId, amount, token }: TransferOrder, coinPrices: SpendingLimits['coinPrices']): bigint {
  const dollar = tokenIn(token);
  if (!dollar) {
    const price = coinPrices?.get(chainId);
    if (price) return coinInMicroUsd(amount, price);
    throw new SigningRefused('perTransfer', `nobody says what ${token.symbol} is worth: set COIN_PRICE_${chainId}`);
  }
  return convertUp(amount, dollar, usMillionth);
}

/**
 * Balance check before a signature.
 *
 * @param held spendable treasury balance of the order's token, in smallest units
 * @throws PayoutBlocked if that is less than the order's amount plus signed amounts
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

/**
 * Balance check for the chain's own coin, which also pays the fees.
 * @throws PayoutBlocked if the balance is less than the order's amount, signed amounts, and the fee twice
 */
export function checkCoinFloat(
  held: bigint,
  treasury: string,
  order: TransferOrder,
  { most }: Pick<MaximumFee, 'most'>,
): void {
  const fees = most * reserve;
  checkFloat(held > fees ? held - fees : 0n, treasury, order);
}

/** The coin must pay for two transactions: the transfer, and a replacement or successor. */
const reserve = 2n;

export interface MaximumFee {
  readonly chainId: ChainId;
  /** The coin's smallest unit, in the plural: wei, lamports, stroops. */
  readonly unit: string;
  /** Maximum cost of one transaction. */
  readonly most: bigint;
}

/**
 * @param held spendable treasury balance of the chain's coin, in smallest units
 * @throws PayoutBlocked if that cannot pay the fee twice
 */
export function checkCoin(held: bigint, treasury: string, { chainId, unit, most }: MaximumFee): void {
  const need = most * reserve;
  if (held >= need) return;
  const { name } = chainOf(chainId);
  throw new PayoutBlocked(
    'gas',
    `the treasury ${treasury} can spend ${held} ${unit} on ${name}, a transfer needs ${need}: top it up`,
  );
}
