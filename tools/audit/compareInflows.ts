/** Receipts: each transfer on the chain against the log's payin, or unmatched money. */
import { type ChainId, chainOf } from '../../domain/chains.ts';
import {
  type AttemptClaim,
  type AuditFact,
  type BatchClaim,
  type Claim,
  type ComparisonOutput,
  type Evidence,
  findAtClaim as find,
  findAtClaim,
  type InflowClaim,
  type SharedPlace,
  tokenFeeMax,
  type World,
} from './claims.ts';
import { findingAt } from './findings.ts';

export const isInflow = (claim: Claim): claim is InflowClaim => claim.kind === 'payin' || claim.kind === 'unmatched';
/** Unmatched money that was assigned to a payment belongs only to that payment. Any other payin is at its payment's own deposit. */
export function checkCreditedOnce(inflows: readonly InflowClaim[], { isWhole }: World, out: ComparisonOutput): void {
  for (const same of Map.groupBy(inflows, ({ transferId }) => transferId).values()) {
    const payins = same.filter(({ kind, phase }) => kind === 'payin' && phase !== 'gone');
    const [first, ...others] = payins;
    for (const other of others)
      find(out, 'payinTwice', other, `${other.transferId} is credited to ${first?.where.stream} as well`);
    const unmatched = same.find(({ kind }) => kind === 'unmatched');
    if (unmatched && first && first.where.stream !== `payment-${unmatched.givenTo}`)
      find(out, 'payinTwice', first, `${first.transferId} is unmatched money that was not given to this payment`);
    for (const { atOwnDeposit, to, memo, where, ...claim } of unmatched || !isWhole ? [] : payins)
      if (!atOwnDeposit)
        find(
          out,
          'payinForged',
          { ...claim, atOwnDeposit, to, memo, where },
          `${to} (${memo ?? 'no memo'}) is none of the payment’s deposits`,
        );
  }
}

/** A payment records at most 100 transfers, half of them small ones; later ones are unmatched. */
const payinsOfFull = 50;

/**
 * Unmatched funds with the memo of a payment belong to that payment, unless it could record no more transfers. @param facts all of one memo
 */
export function compareSharedPlaces(facts: readonly AuditFact[], { find }: Pick<ComparisonOutput, 'find'>): void {
  const places = facts.filter((fact): fact is SharedPlace => fact.side === 'place');
  for (const fact of facts) {
    if (fact.side !== 'unmatchedAt') continue;
    const { where, beyond, message } = fact;
    const owner = places.find(({ paymentId, payins }) => paymentId !== beyond || payins < payinsOfFull);
    if (owner) find(findingAt('payinForged', where, `${message}, which is of payment ${owner.paymentId}`));
  }
}

/** Each transfer once, in whichever streams it appears. */
export const uniqueInflows = (inflows: readonly InflowClaim[]): readonly InflowClaim[] => [
  ...new Map(inflows.map((claim) => [claim.transferId, claim])).values(),
];

export function compareDeposit(
  evidence: Evidence,
  inflows: readonly InflowClaim[],
  world: World,
  out: ComparisonOutput,
): void {
  const { chainId, account, changes, time } = evidence;
  const place = { chainId, hash: evidence.txHash, block: evidence.block };
  const here = { stream: `deposit ${account}`, revision: null, id: null };
  for (const { asset, amount, counterparty } of changes) {
    const isOurs = counterparty !== null && world.accountAt(chainId, counterparty) !== null;
    if (BigInt(amount) >= 0n || isOurs || isTokenFee(evidence, asset, world)) continue;
    out.find(
      findingAt('sweptElsewhere', here, `${-BigInt(amount)} of ${asset} went to ${counterparty ?? 'several'}`, place),
    );
  }
  const own = uniqueInflows(inflows.filter(({ to }) => to === account));
  matchInflows(evidence, own, world, out, (asset, amount) => {
    if (time < world.settledBefore)
      out.find(findingAt('inflowUnrecorded', here, `${amount} of ${asset} came, and no payment has it`, place));
  });
}

/** True if a deposit's outgoing amount to strangers is only the token's fee for a transfer to the treasury. */
function isTokenFee({ chainId, changes }: Evidence, asset: string, world: World): boolean {
  const left = changes.filter((change) => change.asset === asset && BigInt(change.amount) < 0n);
  const sumOf = (of: typeof left) => of.reduce((sum, { amount }) => sum - BigInt(amount), 0n);
  const away = left.filter(
    ({ counterparty }) => counterparty === null || world.accountAt(chainId, counterparty) === null,
  );
  return away.length === 1 && sumOf(away) <= tokenFeeMax(chainId, asset, sumOf(left));
}

/** Checks that money from deposits to an account arrived there. @param shown all evidence of one transaction */
export function compareSwept(shown: readonly Evidence[], world: World, out: ComparisonOutput): void {
  const left = shown
    .filter(({ of }) => of === 'deposit')
    .flatMap((evidence) => evidence.changes.map((change) => ({ ...change, evidence })))
    .filter(({ amount, counterparty }) => BigInt(amount) < 0n && counterparty !== null);
  const toAccounts = Map.groupBy(left, ({ asset, counterparty, evidence }) =>
    JSON.stringify([asset, world.accountAt(evidence.chainId, counterparty ?? '')]),
  );
  for (const [key, of] of toAccounts) {
    const [asset, account] = JSON.parse(key) as [string, string | null];
    const there = shown.find((each) => each.of === 'treasury' && each.account === account);
    const [first] = of;
    if (account === null || !there || !first) continue;
    const sent = of.reduce((sum, { amount }) => sum - BigInt(amount), 0n);
    const arrived = receivedIn(there, asset);
    if (arrived >= sent) continue;
    const { account: deposit, chainId, txHash: hash, block } = first.evidence;
    const here = { stream: `deposit ${deposit}`, revision: null, id: null };
    const what = `${sent} of ${asset} left deposits, and ${arrived} arrived at ${account}`;
    out.find(findingAt('sweptElsewhere', here, what, { chainId, hash, block }));
  }
}

export const receivedIn = ({ changes }: Pick<Evidence, 'changes'>, asset: string): bigint =>
  changes.reduce(
    (sum, change) => (change.asset === asset && BigInt(change.amount) > 0n ? sum + BigInt(change.amount) : sum),
    0n,
  );

type Change = Evidence['changes'][number];

/**
 * Matches each received amount with a claim of it. Reports an excess of the chain; an excess of the log, or another sender or memo, is
 * forged.
 */
export function matchInflows(
  { changes, succeeded }: Evidence,
  claims: readonly InflowClaim[],
  world: World,
  out: ComparisonOutput,
  more: (asset: string, amount: bigint) => void,
): void {
  const open = [...claims];
  for (const change of changes) {
    const { asset, amount } = change;
    if (!succeeded || BigInt(amount) <= 0n) continue;
    const like = open.filter((claim) => claim.asset === asset && claim.amount === amount);
    const claim = like.find((each) => misattribution(each, change, world) === null) ?? like[0];
    if (!claim) {
      more(asset, BigInt(amount));
      continue;
    }
    open.splice(open.indexOf(claim), 1);
    const problem = misattribution(claim, change, world);
    if (claim.phase === 'gone') find(out, 'payinDisowned', claim, `${amount} is there, in block ${claim.block}`);
    else if (problem !== null) find(out, 'payinForged', claim, problem);
  }
  for (const claim of open.filter(({ phase }) => phase === 'confirmed'))
    find(
      out,
      'payinForged',
      claim,
      `${claim.amount} of ${claim.asset} to ${claim.to} is not what the transaction brought`,
    );
}

/** Null if the chain has the claim's sender and memo. A chain without senders proves none. */
function misattribution({ chainId, from, memo }: InflowClaim, change: Change, world: World): string | null {
  const { counterparty } = change;
  if (counterparty !== null && counterparty !== from && counterparty !== world.holderOf(chainId, from))
    return `it came from ${counterparty}, the log says ${from}`;
  if (hasMemos(chainId) && memo !== (change.memo ?? null))
    return `it came with ${change.memo === undefined ? 'no memo' : `the memo ${change.memo}`}, the log says ${memo ?? 'none'}`;
  return null;
}

/** True if a chain's history has the memo of each transfer. */
export const hasMemos = (chainId: ChainId): boolean => chainOf(chainId).family === 'stellar';

const streamOf = ({ paymentId }: BatchClaim['members'][number]): string => `payment-${paymentId}`;

/** Members whose payment records no part of it. */
const untold = ({ members }: BatchClaim, attempts: readonly AttemptClaim[]): BatchClaim['members'] => {
  const told = new Set(attempts.map(({ where }) => where.stream));
  return members.filter((member) => !told.has(streamOf(member)));
};

/** Amounts of members without a payment's record; the others are checked there. */
export function outOfBatch(
  { account, asset, ...batch }: BatchClaim,
  attempts: readonly AttemptClaim[],
  shownAt: string,
): Evidence['changes'] {
  if (account !== shownAt || (batch.fate !== 'settled' && batch.fate !== 'short')) return [];
  return untold({ account, asset, ...batch }, attempts).map(({ receiver, amount }) => ({
    asset,
    amount: `-${amount}`,
    counterparty: receiver,
  }));
}

/**
 * Compares a batch's record of each payout in its transaction with the payment's own record. A transaction has one batch, and each of its
 * payouts is one member: no other receiver, no receiver twice, and equal amounts.
 */
export function compareBatch(
  claims: readonly Claim[],
  shown: readonly Evidence[],
  world: Pick<World, 'settledBefore' | 'isWhole'>,
  out: ComparisonOutput,
): void {
  const attempts = claims.filter((claim): claim is AttemptClaim => claim.kind === 'attempt');
  const [batch, ...others] = claims.filter((claim): claim is BatchClaim => claim.kind === 'batch');
  const find = (claim: Claim, message: string): void => findAtClaim(out, 'payoutWrong', claim, message);
  for (const other of others) find(other, `${batch?.where.stream} has this transaction as well`);
  if (!batch) {
    const [first, ...more] = attempts;
    for (const each of more) find(each, `it is paid with ${first?.where.stream}, and no batch says so`);
    return;
  }
  const left = [...batch.members];
  for (const attempt of attempts) {
    const at = left.findIndex((member) => streamOf(member) === attempt.where.stream);
    const [member] = at < 0 ? [] : left.splice(at, 1);
    if (!member) find(attempt, `${batch.where.stream} pays it as well, and does not have it among its members`);
    else if (member.receiver !== attempt.receiver || member.amount !== attempt.amount)
      find(
        batch,
        `${member.amount} to ${member.receiver}; ${attempt.where.stream} says ${attempt.amount} to ${attempt.receiver}`,
      );
  }
  const landed = shown.some(({ succeeded, time }) => succeeded && time < world.settledBefore);
  if (!world.isWhole || !(landed || batch.fate === 'settled')) return;
  for (const member of left)
    find(batch, `it pays ${member.amount} to ${member.receiver}, and ${streamOf(member)} does not say so`);
}
