/**
 * Money is conserved: what a transaction did to an account of the treasury is what the log says was received, paid, refunded, charged and
 * moved. It compares sums alone, so it holds whatever the comparisons of single transfers believe.
 */
import { coinAddress } from '../../domain/coins.ts';
import type { AttemptClaim, BatchClaim, Claim, Entered, Evidence } from './claims.ts';
import { outOfBatch } from './compareBatch.ts';
import { isInflow } from './compareInflows.ts';
import type { World } from './comparing.ts';

/** @param claims all of the transaction */
export function enteredBy(evidence: Evidence, claims: readonly Claim[], world: World): readonly Entered[] {
  const { account, chainId, succeeded } = evidence;
  const fees = feesOf(evidence, claims);
  if (!succeeded) return fees;
  const inflows = claims.filter(isInflow).filter((claim) => world.accountAt(chainId, claim.to) === account);
  const came = new Map(inflows.filter(({ phase }) => phase !== 'gone').map((claim) => [claim.transferId, claim]));
  const attempts = claims.filter((claim): claim is AttemptClaim => claim.kind === 'attempt');
  const batches = claims.filter((claim): claim is BatchClaim => claim.kind === 'batch');
  const own = claims.flatMap((claim) => ('changes' in claim && claim.account === account ? claim.changes : []));
  return [
    ...fees,
    ...[...came.values()].map(({ asset, amount }) => ({ asset, column: 'received' as const, amount: BigInt(amount) })),
    ...attempts.flatMap((attempt) => leftBy(attempt, account)),
    ...batches
      .flatMap((batch) => outOfBatch(batch, attempts, account))
      .map(({ asset, amount }) => ({ asset, column: 'paid' as const, amount: BigInt(amount) })),
    ...own.map(({ asset, amount }) => ({ asset, column: 'moved' as const, amount: BigInt(amount) })),
  ];
}

function leftBy({ fate, form, owner, cost, arrived, purpose, ...attempt }: AttemptClaim, account: string): Entered[] {
  const hasLanded = fate === 'settled' || fate === 'short';
  if (!hasLanded || form === 'deploy' || (owner ?? cost?.payer ?? attempt.account) !== account) return [];
  const { asset, amount } = attempt;
  if (form === 'flush') return [{ asset, column: 'moved', amount: BigInt(arrived ?? amount) }];
  return [{ asset, column: purpose, amount: -BigInt(cost?.left ?? amount) }];
}

/** One transaction costs once, however many claims state it. Older events state no cost: then the chain's fee counts. */
function feesOf({ account, fee }: Evidence, claims: readonly Claim[]): readonly Entered[] {
  const costs = claims.flatMap((claim) => (!isInflow(claim) && claim.cost?.payer === account ? [claim.cost] : []));
  const [cost] = costs;
  const spent = cost ? BigInt(cost.fee) + BigInt(cost.rent ?? 0) : BigInt(fee);
  return spent === 0n ? [] : [{ asset: coinAddress, column: 'fees', amount: -spent }];
}

/** By asset, what the chain shows beside what the log says; assets that add up are omitted. */
export function differencesOf({ changes, fee }: Evidence, entered: readonly Entered[]): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>([[coinAddress, -BigInt(fee)]]);
  for (const { asset, amount } of changes) sums.set(asset, (sums.get(asset) ?? 0n) + BigInt(amount));
  for (const { asset, amount } of entered) sums.set(asset, (sums.get(asset) ?? 0n) - amount);
  return new Map([...sums].filter(([, difference]) => difference !== 0n));
}
