/** What came: each transfer that the chain shows beside the payin, or unmatched money, that the log has of it. */
import type { Claim, Evidence, InflowClaim } from './claims.ts';
import { type Compared, findAtClaim as find, type World } from './comparing.ts';
import { findingAt } from './findings.ts';

export const isInflow = (claim: Claim): claim is InflowClaim => claim.kind === 'payin' || claim.kind === 'unmatched';
/** Unmatched money that was given to a payment is that payment's, and only its. */
export function checkCreditedOnce(inflows: readonly InflowClaim[], out: Compared): void {
  for (const same of Map.groupBy(inflows, ({ transferId }) => transferId).values()) {
    const [first, ...others] = same.filter(({ kind, phase }) => kind === 'payin' && phase !== 'gone');
    for (const other of others)
      find(out, 'payinTwice', other, `${other.transferId} is credited to ${first?.where.stream} as well`);
    const unmatched = same.find(({ kind }) => kind === 'unmatched');
    if (unmatched && first && first.where.stream !== `payment-${unmatched.givenTo}`)
      find(out, 'payinTwice', first, `${first.transferId} is unmatched money that was not given to this payment`);
  }
}

/** Each transfer once, whichever streams tell of it. */
export const counted = (inflows: readonly InflowClaim[]): readonly InflowClaim[] => [
  ...new Map(inflows.map((claim) => [claim.transferId, claim])).values(),
];

export function compareDeposit(evidence: Evidence, inflows: readonly InflowClaim[], world: World, out: Compared): void {
  const { chainId, account, changes, time } = evidence;
  const place = { chainId, hash: evidence.txHash, block: evidence.block };
  const here = { stream: `deposit ${account}`, revision: null, id: null };
  for (const { amount, counterparty } of changes) {
    if (BigInt(amount) >= 0n || counterparty === null || world.accountAt(chainId, counterparty) !== null) continue;
    out.find(findingAt('sweptElsewhere', here, `${-BigInt(amount)} went to ${counterparty}`, place));
  }
  matchInflows(evidence, counted(inflows.filter(({ to }) => to === account)), out, (asset, amount) => {
    if (time < world.settledBefore)
      out.find(findingAt('inflowUnrecorded', here, `${amount} of ${asset} came, and no payment has it`, place));
  });
}

/** Matches each amount that came with a claim of it. What the chain has more is told; what the log has more is forged. */
export function matchInflows(
  { changes, succeeded }: Evidence,
  claims: readonly InflowClaim[],
  out: Compared,
  more: (asset: string, amount: bigint) => void,
): void {
  const open = [...claims];
  for (const { asset, amount } of changes) {
    if (!succeeded || BigInt(amount) <= 0n) continue;
    const at = open.findIndex((claim) => claim.asset === asset && claim.amount === amount);
    const [claim] = at < 0 ? [] : open.splice(at, 1);
    if (!claim) more(asset, BigInt(amount));
    else if (claim.phase === 'gone') find(out, 'payinDisowned', claim, `${amount} is there, in block ${claim.block}`);
  }
  for (const claim of open.filter(({ phase }) => phase === 'confirmed'))
    find(
      out,
      'payinForged',
      claim,
      `${claim.amount} of ${claim.asset} to ${claim.to} is not what the transaction brought`,
    );
}
