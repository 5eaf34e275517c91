/** What the treasury's keys may spend, per transfer and in any sixty minutes over all chains together, and whether the treasury holds it. */
import type { Clock } from '../../../commands/ports.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { convertUp, tokenIn, usMillionth } from '../../../domain/dollars.ts';
import { dividedUp, formatAmount, larger, microUsdDecimals } from '../../../domain/money.ts';
import { type CoinPrice, coinInMicroUsd } from '../../../domain/payment/fees.ts';
import { epochMs, hour_ms } from '../../../domain/time.ts';
import { moneyLeaves } from '../../../domain/transfer/shapes.ts';
import { PayoutBlocked, type SigningPurpose, SigningRefused, type TransferOrder, type Unsigned } from '../ports.ts';

// What was signed in the last hour, with its sums at hand: they are asked for before each signature, and there may be many.

/** What a transfer that was signed within the hour takes of it. */
export interface Spent {
  readonly chainId: ChainId;
  /** What it was signed for: a payment. */
  readonly reference: string;
  readonly appId: string | null;
  /** In millionths of a dollar. */
  readonly amount: bigint;
  /** Of the chain's coin, in smallest units, at most. */
  readonly coin: bigint;
  readonly at_ms: number;
}

/** In memory, and from the log after a restart. */
export interface SpentLately {
  /** By where it was signed: what shares a nonce lands once. */
  readonly entries: ReadonlyMap<string, Spent>;
  put(key: string, spent: Spent): void;
  forget(key: string): void;
  /** Leaves out what is older than an hour; looks for it once a second. */
  expire(now_ms: number): void;
  /** Adds what the log has and this memory does not. */
  recall(recorded: readonly Spent[]): void;
  /** The sums of all but these, and of what is about to be signed in the same transaction. */
  besides(keys: readonly string[], together?: readonly Spent[]): Sums;
}

export interface Sums {
  readonly count: number;
  /** All dollars, or those of an app, in millionths. */
  usd(by?: { readonly appId: string | null }): bigint;
  /** The coin of a chain, all or an app's, in smallest units. */
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

/** Nobody's money has no app's name, and no app's name is empty. */
const suffix = (by: By): string => (by ? ` of ${by.appId ?? ''}` : '');
const usdOf = (by?: By): string => `usd${suffix(by)}`;
const coinOf = (chainId: ChainId, by?: By): string => `coin ${chainId}${suffix(by)}`;

const partOf = (all: readonly Spent[], name: string): bigint =>
  all.flatMap(spentPartsOf).reduce((sum, [part, value]) => (part === name ? sum + value : sum), 0n);

/** Each sum that it is part of. */
const spentPartsOf = (spent: Spent): readonly (readonly [string, bigint])[] => [
  [usdOf(), spent.amount],
  [usdOf(spent), spent.amount],
  [coinOf(spent.chainId), spent.coin],
  [coinOf(spent.chainId, spent), spent.coin],
];

/** Signatures remembered for the hourly limits, fifty a second; more in an hour are refused. */
const rememberedMax = 200_000;

export interface SpendingLimits {
  /** Whole tokens in one transfer. */
  readonly perTransfer_usd: bigint;
  /** Whole tokens in the transfers of any sixty minutes, over all chains. */
  readonly perHour_usd: bigint;
  /** How much of what may be spent in an hour one app's payments may take; all of it when left out. */
  readonly appShare_percent?: number;
  /** Most of each chain's coin, in smallest units, that transactions of any sixty minutes may cost; any when left out. */
  readonly coinPerHour?: ReadonlyMap<ChainId, bigint>;
  /** What each chain's coin is worth, for transfers of it; without it none is signed. */
  readonly coinPrices?: ReadonlyMap<ChainId, CoinPrice>;
}

/**
 * Checks a transaction against the limits.
 * @param coin the most that it can cost of its chain's coin, in smallest units
 * @returns what counts it, once it is really signed
 * @throws SigningRefused perTransfer, perHour, appPerHour, coinPerHour
 */
export type Spending = (unsigned: Unsigned, purpose: SigningPurpose, coin?: bigint) => () => void;

/**
 * Sums what was signed in the last hour. A nonce of an account counts once, however often it is signed; without nonces, a purpose does.
 * Cancels are never refused: they set free what is stuck. They and sweeps move nothing away, and cost coin.
 */
export function createSpending(
  limits: SpendingLimits,
  clock: Pick<Clock, 'now'>,
  lately: SpentLately = createSpentLately(),
): Spending {
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

/** Each payment of a batch counts by itself, for its own app, as if it were signed alone, and bears its share of what all of them may cost. */
function partsOf(
  unsigned: Unsigned,
  { reference, appId }: { readonly reference: string; readonly appId: string | null },
  coin: bigint,
): readonly Part[] {
  const { order } = unsigned;
  // Where there are no nonces, a purpose is signed again only after what was signed for it is dead.
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

/** Sweeps have no more of the coin together than an app has, and anchors: payouts never wait for them. No app is called so. */
export const spenderOf = (kind: SigningPurpose['kind'], appId: string | null): string | null =>
  kind === 'sweep' ? 'sweeps' : kind === 'anchor' ? 'anchors' : appId;

/** Where what was signed is remembered: of those that share a nonce only one lands, and a purpose without nonces has one that can. */
export const spendingKey = (
  { chainId, account, nonce }: Pick<Unsigned, 'chainId' | 'account' | 'nonce'>,
  reference: string,
): string => `${chainId}:${account}:${nonce ?? reference}`;

/** Of transactions that share a nonce one lands, whichever: a cancel does not undo what a payout may still take. */
function either(spent: Spent, before: Spent | undefined): Spent {
  if (!before) return spent;
  const of = spent.amount >= before.amount ? spent : before;
  return { ...of, coin: larger(spent.coin, before.coin), at_ms: spent.at_ms };
}

/** @throws SigningRefused when it would take more than all, or more than its app's share, of an hour's dollars or coin */
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

/** Rounded up: a limit is never passed by fractions. @throws SigningRefused for a coin whose price is not known */
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

/**
 * The same for the chain's own coin, which pays the fees besides.
 * @throws PayoutBlocked when that is less than the order's amount, what is signed already, and the fee, twice
 */
export function checkCoinFloat(
  held: bigint,
  treasury: string,
  order: TransferOrder,
  { most }: Pick<Fee, 'most'>,
): void {
  const fees = most * reserve;
  checkFloat(held > fees ? held - fees : 0n, treasury, order);
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
