/** What an app's own settings say of a payment's fee and of money that is not what was agreed. */
import { type Chain, chains, type Token } from '../domain/chains.ts';
import { feeFor } from '../domain/merchant/fees.ts';
import { microUsdDecimals, rescale } from '../domain/money.ts';
import type { AmountPolicy } from '../domain/payment/amountPolicy.ts';
import type { AskedTerms } from '../domain/payment/create.ts';
import type { FeePolicy } from '../domain/payment/fees.ts';
import type { Intent } from '../domain/payment/intent.ts';
import type { Alternative } from '../domain/payment/sources.ts';
import type { AppSettings } from './paymentRequest.ts';

/** Fixed fee in millionths of a dollar and basis points of a route, wherever the payout costs no more. */
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
 * @param keyless whoever creates a payment without a key names its receiver: its fee is never below what the payout costs
 */
export function feePolicyOf(
  { feeOf }: FeeDeps,
  { fees = [], keyless = false }: Pick<AppSettings, 'fees'> & { readonly keyless?: boolean },
  { chain, token }: { readonly chain: Chain; readonly token: Token },
  destination: Chain,
): FeePolicy {
  const own = feeFor(fees, chain.id, destination.id);
  const { fixed_microUsd, basisPoints } = own ?? feeOf(chain, destination);
  const fixed = rescale(BigInt(fixed_microUsd), microUsdDecimals, token.decimals);
  return { fixed, basisPoints, ...(own?.belowCost && !keyless && { belowCost: true }) };
}

interface PolicyDeps extends FeeDeps {
  readonly offers: (chain: Chain) => boolean;
  readonly hasDeposits: (chain: Chain) => boolean;
}

/** The app's policy, and all that its payers may have sent by mistake: whatever deposits are watched for. */
export function policyOf(
  deps: PolicyDeps,
  app: Pick<AppSettings, 'fees' | 'policy'> & { readonly keyless: boolean },
  intent: Intent | null,
  destination: Chain,
): Pick<AskedTerms, 'policy' | 'tolerable'> {
  const { policy } = app;
  if (!policy) return {};
  // A contract is called with the one token that it takes.
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
