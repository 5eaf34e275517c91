/** What payers may choose to pay from besides a payment's own source: as the request says, else as the app's settings do. */
import { type Chain, findChain, findToken, type Token } from '../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import type { PayFrom } from '../domain/merchant/events.ts';
import { type Alternative, alternativesMax, canExpress } from '../domain/payment/sources.ts';
import { type FeeOf, feePolicyOf } from './appTerms.ts';
import { type AppSettings, type NewPayment, notOffered, type ReadDeps, readSide, type Side } from './paymentRequest.ts';

/** The app's setting, as its owner states it. A refusal names the entry. */
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
  /** Whether this installation has deposits of the chain's family. */
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
  /** In the destination's units; null where any amount is taken. */
  readonly payout: bigint | null;
}

/**
 * A request is taken at its word: what it names and cannot be is refused. Settings are older than the payment: what cannot be, because a
 * chain is not offered any more or a token is too coarse for the amount, is left out.
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
      return refuse('invalidRequest', `intent ${intent} is paid from one source alone: leave payFrom out`, '/payFrom');
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
