/** Sources that an app offers its payers. */
import { type ChainId, chainOf, findToken } from '../chains.ts';
import { type Decision, isRefusal, type Refusal, refuse } from '../decider.ts';
import { type AmountPolicy, isSamePolicy, lateMax_minutes, toleranceMax } from '../payment/amountPolicy.ts';
import type { FeeTier, MerchantEvent, PayFrom } from './events.ts';
import { type MerchantState, ofRegistered } from './state.ts';

/** Sets the chains and tokens that new payments offer besides their own source. An empty list offers none. */
export function setPayFrom(state: MerchantState, payFrom: PayFrom): Decision<MerchantEvent> {
  const unknown = payFrom.findIndex(({ chainId, tokenSymbol }) => !findToken(chainOf(chainId), tokenSymbol));
  if (unknown >= 0) return refuse('invalidRequest', 'the chain has no such token', `/payFrom/${unknown}/tokenSymbol`);
  const keys = payFrom.map(keyOf);
  const twice = keys.findIndex((key, index) => keys.indexOf(key) < index);
  if (twice >= 0) return refuse('invalidRequest', 'is in the list twice: remove one', `/payFrom/${twice}`);
  const isSame = state.payFrom.map(keyOf).join() === keys.join();
  return ofRegistered(state, isSame ? [] : [{ type: 'PayFromSet', data: { payFrom } }]);
}

const keyOf = ({ chainId, tokenSymbol }: PayFrom[number]): string => `${chainId} ${tokenSymbol}`;

// The app's policy for wrong amounts, for new payments.

export function setPolicy(state: MerchantState, policy: AmountPolicy): Decision<MerchantEvent> {
  const unfit = unfitness(policy);
  if (unfit) return unfit;
  return ofRegistered(state, isSamePolicy(state.policy, policy) ? [] : [{ type: 'PolicySet', data: policy }]);
}

function unfitness({ tolerance, late, lateWithin_minutes: within }: AmountPolicy): Refusal | undefined {
  const { basisPoints, most_microUsd } = tolerance;
  if (!Number.isInteger(basisPoints) || basisPoints < 0 || basisPoints > toleranceMax.basisPoints)
    return wrong(`a whole number of basis points from 0 to ${toleranceMax.basisPoints}`, '/tolerance/basisPoints');
  if (BigInt(most_microUsd) > toleranceMax.most_microUsd)
    return wrong(`at most ${toleranceMax.most_microUsd / 1_000_000n} dollars`, '/tolerance/most');
  // Both bounds apply, so one alone would forgive nothing.
  if (basisPoints > 0 !== BigInt(most_microUsd) > 0n)
    return wrong('both above zero, or both zero: an amount may be short by both at most', '/tolerance');
  if (!Number.isInteger(within) || within < 0 || within > lateMax_minutes)
    return wrong(`a whole number of minutes from 0 to ${lateMax_minutes}`, '/lateWithinMinutes');
  if (late === 'accept' && within === 0)
    return wrong('above zero where late money is accepted: say for how long', '/lateWithinMinutes');
  if (late !== 'accept' && within > 0) return wrong('0 where late money is not accepted', '/lateWithinMinutes');
  return undefined;
}

const wrong = (must: string, pointer: string): Refusal => refuse('invalidRequest', `must be ${must}`, pointer);

// Sites that may frame an app's payment pages. They become a header of those pages, so only plain origins are accepted.

export const embeddingSitesMax = 10;
/** Far above a host's name (253) with scheme and port. */
export const siteMax = 300;

/** Sites of local development: browsers treat these as secure without TLS. */
const onThisMachine = /^http:\/\/(localhost|127\.0\.0\.1)(:\d+)?$/;
/** Labels of letters, digits and hyphens. The last label begins with a letter, which excludes IP addresses. */
const atHttps = /^https:\/\/([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?(:\d+)?$/;

export interface SitesStated {
  readonly sites: readonly string[];
  /** Accepts pages from this machine, for a sandbox. */
  readonly local: boolean;
}

/** Replaces the whole list; an empty list stops all framing. Order, duplicates and letter case do not matter. */
export function setEmbeddingSites(state: MerchantState, { sites, local }: SitesStated): Decision<MerchantEvent> {
  if (sites.length > embeddingSitesMax) return refused(`must hold ${embeddingSitesMax} sites at most`);
  const read: string[] = [];
  for (const [n, text] of sites.entries()) {
    const site = readSite(text, local, `/sites/${n}`);
    if (isRefusal(site)) return site;
    read.push(site);
  }
  const next = [...new Set(read)].toSorted();
  const same = next.join() === state.embeddingSites.join();
  return ofRegistered(state, same ? [] : [{ type: 'EmbeddingSitesSet', data: { sites: next } }]);
}

/**
 * Reads a site as an origin (HTML standard, 7.1.1): scheme, host and a non-default port. A path is refused: an author of one page can frame
 * from the whole site.
 *
 * @returns the spelling of browsers in `event.origin`: lower case, international names in ASCII
 */
function readSite(text: string, local: boolean, pointer: string): string | Refusal {
  const kinds = local ? 'https://, http://localhost or http://127.0.0.1' : 'https://';
  const wrong = `cannot be allowed: state it like https://shop.example, beginning with ${kinds}, without a path, a wildcard or an IP address`;
  // Refuses backslashes, user names, paths, queries and fragments, which a URL parser would silently drop.
  const isOrigin = text.length <= siteMax && /^https?:\/\/[^\s/\\?#@%]+\/?$/i.test(text) && URL.canParse(text);
  const { origin } = isOrigin ? new URL(text) : { origin: 'null' };
  return atHttps.test(origin) || (local && onThisMachine.test(origin)) ? origin : refused(wrong, pointer);
}

const refused = (problem: string, pointer = '/sites'): Refusal =>
  refuse('invalidRequest', `${pointer} ${problem}`, pointer);

// Fees per route that the operator has agreed with a merchant. A payment's terms hold the fee that was in force.

export const feeTiersMax = 64;
/** Maximum fee: ten dollars and ten percent. */
export const feeMax = { fixed_microUsd: 10_000_000n, basisPoints: 1_000 } as const;

/** From one chain to another; null matches every chain. */
export type FeeRoute = Pick<FeeTier, 'sourceChainId' | 'destinationChainId'>;

/** Sets a route's fee and replaces its former one. */
export function setFee(state: MerchantState, tier: FeeTier): Decision<MerchantEvent> {
  const unfit = feesUnfitness(tier);
  if (unfit) return unfit;
  const known = state.fees.find((each) => isSameRoute(each, tier));
  if (known && isSameFee(known, tier)) return [];
  if (!known && state.fees.length >= feeTiersMax)
    return refuse('invalidRequest', `an app has at most ${feeTiersMax} fees: remove one first`);
  const others = state.fees.filter((each) => each !== known);
  return ofRegistered(state, [{ type: 'FeesSet', data: { fees: [...others, tier] } }]);
}

/** Removes a route's fee. The route then uses the fee of a broader route, or the installation's. */
export function removeFee(state: MerchantState, route: FeeRoute): Decision<MerchantEvent> {
  const left = state.fees.filter((each) => !isSameRoute(each, route));
  if (left.length < state.fees.length) return ofRegistered(state, [{ type: 'FeesSet', data: { fees: left } }]);
  return refuse('notFound', 'the app has no fee for this route: list its fees');
}

/** Fee in force for a route. Order of precedence: both chains, the source chain, the destination chain. */
export const feeFor = (fees: readonly FeeTier[], source: ChainId, destination: ChainId): FeeTier | undefined => {
  const of = (from: ChainId | null, to: ChainId | null) =>
    fees.find((each) => each.sourceChainId === from && each.destinationChainId === to);
  return of(source, destination) ?? of(source, null) ?? of(null, destination) ?? of(null, null);
};

const isSameRoute = (a: FeeRoute, b: FeeRoute): boolean =>
  a.sourceChainId === b.sourceChainId && a.destinationChainId === b.destinationChainId;

const isSameFee = (a: FeeTier, b: FeeTier): boolean =>
  a.fixed_microUsd === b.fixed_microUsd && a.basisPoints === b.basisPoints && a.belowCost === b.belowCost;

function feesUnfitness({ fixed_microUsd, basisPoints }: FeeTier): Refusal | undefined {
  if (BigInt(fixed_microUsd) > feeMax.fixed_microUsd)
    return refuse('invalidRequest', `must be at most ${feeMax.fixed_microUsd / 1_000_000n} dollars`, '/fixed');
  if (!Number.isInteger(basisPoints) || basisPoints < 0 || basisPoints > feeMax.basisPoints)
    return refuse('invalidRequest', `must be a whole number from 0 to ${feeMax.basisPoints}`, '/basisPoints');
  return undefined;
}
