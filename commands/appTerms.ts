/** An app's own fee and its policy for wrong amounts, as they apply to a payment. */

import { type Chain, chains, findChain, findToken, type Token } from '../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import type { FeeTier, PayFrom } from '../domain/merchant/events.ts';
import { type FeeRoute, feeFor } from '../domain/merchant/settings.ts';
import { convert, unitsText, usMillionth } from '../domain/money.ts';
import type { AmountPolicy, StatedPolicy } from '../domain/payment/amountPolicy.ts';
import type { AskedTerms } from '../domain/payment/create.ts';
import type { FeePolicy } from '../domain/payment/fees.ts';
import type { Intent } from '../domain/payment/intent.ts';
import { type Alternative, alternativesMax, canExpress } from '../domain/payment/sources.ts';
import {
  type AppSettings,
  type NewPayment,
  notOffered,
  type ReadDeps,
  readMicroUsd,
  readSide,
  type Side,
} from './paymentRequest.ts';

/** Fixed fee in millionths of a dollar and basis points of a route, before the payout's cost. */
export type FeeOf = (
  source: Chain,
  destination: Chain,
) => { readonly fixed_microUsd: bigint; readonly basisPoints: number };

interface FeeDeps {
  readonly feeOf: FeeOf;
}

/**
 * The app's own fee for the route, else the installation's.
 *
 * @param keyless a caller without a key names the receiver, so the fee is never below the payout's cost
 */
export function feePolicyOf(
  { feeOf }: FeeDeps,
  { fees = [], keyless = false }: Pick<AppSettings, 'fees'> & { readonly keyless?: boolean },
  { chain, token }: { readonly chain: Chain; readonly token: Token },
  destination: Chain,
): FeePolicy {
  const own = feeFor(fees, chain.id, destination.id);
  const { fixed_microUsd, basisPoints } = own ?? feeOf(chain, destination);
  const fixed = convert(BigInt(fixed_microUsd), usMillionth, token);
  return { fixed, basisPoints, ...(own?.belowCost && !keyless && { belowCost: true }) };
}

interface PolicyDeps extends FeeDeps {
  readonly offers: (chain: Chain) => boolean;
  readonly hasDeposits: (chain: Chain) => boolean;
}

/** The app's policy, and all sources that payers may use by mistake: those that deposits watch. */
export function policyOf(
  deps: PolicyDeps,
  app: Pick<AppSettings, 'fees' | 'policy'> & { readonly keyless: boolean },
  intent: Intent | null,
  destination: Chain,
): Pick<AskedTerms, 'policy' | 'tolerable'> {
  const { policy } = app;
  if (!policy) return {};
  // A contract accepts a single token.
  if (intent !== null || !takesMistakes(policy)) return { policy };
  const watched = chains.filter((chain) => deps.offers(chain) && deps.hasDeposits(chain));
  const tolerable = watched.flatMap((chain) =>
    chain.tokens.map(
      (token): Alternative => ({ chain, token, feePolicy: feePolicyOf(deps, app, { chain, token }, destination) }),
    ),
  );
  return { policy, tolerable };
}

const takesMistakes = ({ wrongToken, wrongChain }: AmountPolicy): boolean =>
  wrongToken === 'accept' || wrongChain === 'accept';

// Sources that payers may choose besides a payment's own: from the request, else from the app's settings.

/** Reads the owner's setting. A refusal names the entry. */
export function readPayFromSetting(deps: Pick<ReadDeps, 'offers'>, stated: readonly Side[]): PayFrom | Refusal {
  const payFrom: PayFrom = [];
  for (const [index, side] of stated.entries()) {
    const asset = readSide(deps, side, `/payFrom/${index}`);
    if (isRefusal(asset)) return asset;
    payFrom.push({ chainId: asset.chain.id, tokenSymbol: asset.token.symbol });
  }
  return payFrom;
}

export interface PayFromDeps extends ReadDeps {
  /** True if this installation has deposits of the chain's family. */
  readonly hasDeposits: (chain: Chain) => boolean;
  readonly feeOf: FeeOf;
}

interface Asset {
  readonly chain: Chain;
  readonly token: Token;
}

interface Route {
  readonly source: Asset;
  readonly destination: Asset;
  /** In the destination's units; null if any amount is accepted. */
  readonly payout: bigint | null;
}

/**
 * Refuses impossible sources of a request. Silently skips impossible sources of the settings, which are older than the payment: a chain may
 * no longer be offered, or a token too coarse for the amount.
 */
export function readPayFrom(
  deps: PayFromDeps,
  request: NewPayment,
  app: AppSettings & { readonly keyless: boolean },
  { source, destination, payout }: Route,
): readonly Alternative[] | Refusal {
  const found = request.payFrom ? stated(deps, request, destination.token, payout) : [];
  if (isRefusal(found)) return found;
  const assets = request.payFrom ? found : ofSettings(deps, request, app, destination.token, payout);
  const others = assets.filter(
    ({ token }, index) => token !== source.token && assets.findIndex((each) => each.token === token) === index,
  );
  return others
    .slice(0, alternativesMax)
    .map((asset) => ({ ...asset, feePolicy: feePolicyOf(deps, app, asset, destination.chain) }));
}

function stated(
  deps: PayFromDeps,
  { payFrom, intent }: NewPayment,
  destination: Token,
  payout: bigint | null,
): readonly Asset[] | Refusal {
  const assets: Asset[] = [];
  for (const [index, side] of (payFrom ?? []).entries()) {
    const pointer = `/payFrom/${index}`;
    if (intent !== null)
      return refuse('invalidRequest', `intent ${intent} is paid from one source: remove payFrom`, '/payFrom');
    const asset = readSide(deps, side, pointer);
    if (isRefusal(asset)) return asset;
    if (!deps.hasDeposits(asset.chain)) return notOffered(asset.chain, `${pointer}/chainId`);
    if (payout !== null && !canExpress(asset.token, payout, destination)) {
      const message = `${asset.token.symbol} on ${asset.chain.name} has ${asset.token.decimals} decimals, too few for this amount: leave it out`;
      return refuse('invalidRequest', message, pointer);
    }
    assets.push(asset);
  }
  return assets;
}

function ofSettings(
  deps: PayFromDeps,
  { intent }: NewPayment,
  { payFrom = [] }: AppSettings,
  destination: Token,
  payout: bigint | null,
): readonly Asset[] {
  if (intent !== null) return [];
  return payFrom.flatMap(({ chainId, tokenSymbol }) => {
    const chain = findChain(chainId);
    const token = chain && findToken(chain, tokenSymbol);
    if (!chain || !token || !deps.offers(chain) || !deps.hasDeposits(chain)) return [];
    if (deps.canSeePayins?.(chain) === false) return [];
    return payout === null || canExpress(token, payout, destination) ? [{ chain, token }] : [];
  });
}

// Reads an app's amount policy and its fees from requests: amounts in dollars as decimal texts.

export function readPolicy(stated: StatedPolicy): AmountPolicy | Refusal {
  const { tolerance = { basisPoints: 0, most: '0' }, lateWithinMinutes = 0 } = stated;
  const most = readMicroUsd(tolerance.most, '/tolerance/most');
  if (isRefusal(most)) return most;
  const { under = 'hold', over = 'hold', late = 'hold', wrongToken = 'hold', wrongChain = 'hold' } = stated;
  return {
    tolerance: { basisPoints: tolerance.basisPoints, most_microUsd: unitsText(most) },
    under,
    over,
    late,
    lateWithin_minutes: lateWithinMinutes,
    wrongToken,
    wrongChain,
  };
}

/** From one chain to another; omitted for every chain. */
export interface StatedRoute {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface StatedFee extends StatedRoute {
  /** In dollars. */
  readonly fixed: string;
  readonly basisPoints: number;
  readonly belowCost: boolean;
}

export function readRoute({ from, to }: StatedRoute): FeeRoute | Refusal {
  const [source, destination] = [from, to].map((text) => (text === undefined ? null : findChain(text)));
  if (source === undefined) return refuse('invalidRequest', `${from} is not a known chain`, '/from');
  if (destination === undefined) return refuse('invalidRequest', `${to} is not a known chain`, '/to');
  return { sourceChainId: source?.id ?? null, destinationChainId: destination?.id ?? null };
}

export function readFee(stated: StatedFee): FeeTier | Refusal {
  const route = readRoute(stated);
  if (isRefusal(route)) return route;
  const fixed = readMicroUsd(stated.fixed, '/fixed');
  if (isRefusal(fixed)) return fixed;
  const { basisPoints, belowCost } = stated;
  return { ...route, fixed_microUsd: unitsText(fixed), basisPoints, belowCost };
}
