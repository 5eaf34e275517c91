/** Pass three: transaction by transaction, what the chain shows beside what the log says. The chain is asked first. */
import type { ChainId } from '../../domain/chains.ts';
import { coinAddress } from '../../domain/coins.ts';
import type { AnchorClaim, AttemptClaim, Claim, Evidence, Fact, InflowClaim, Once, OwnClaim } from './claims.ts';
import { type Finding, type FindingCode, findingAt } from './findings.ts';

export interface Compared {
  find(finding: Finding): void;
  /** Money that came to an account of the treasury without a word in the log about its transaction: sums may tell of it. */
  unclaimed(evidence: Evidence, asset: string, amount: bigint): void;
}

export interface World {
  /** Whose money it is that comes to an address of the treasury: payin contracts pass it on. Null for any other address. */
  accountAt(chainId: ChainId, address: string): string | null;
  /** Whether the chain was read there: an account's, or a deposit's, transactions as far as this block. */
  wasRead(chainId: ChainId, address: string, block: string | null): boolean;
  /** What is younger may still be under way. */
  readonly settledBefore: string;
}

/** @param facts all of one key */
export function compareFacts(facts: readonly Fact[], world: World, out: Compared): void {
  const said = facts.filter((fact): fact is Once => fact.side === 'once');
  for (const { where, says, code } of said.slice(1))
    out.find(findingAt(code, where, `${says}, and ${said[0]?.where.stream} says so as well`));
  const claims = facts.filter((fact): fact is Claim => fact.side === 'log');
  const shown = facts.filter((fact): fact is Evidence => fact.side === 'chain');
  const inflows = claims.filter(isInflow);
  checkCreditedOnce(inflows, out);
  for (const evidence of shown) {
    if (evidence.of === 'deposit') compareDeposit(evidence, inflows, world, out);
    else compareAccount(evidence, claims, world, out);
  }
  const shownAt = new Set(shown.map(({ account }) => account));
  for (const claim of claims) checkShown(claim, shownAt, world, out);
}

export const isInflow = (claim: Claim): claim is InflowClaim => claim.kind === 'payin' || claim.kind === 'unmatched';
const isAttempt = (claim: Claim): claim is AttemptClaim => claim.kind === 'attempt';
const isAnchor = (claim: Claim): claim is AnchorClaim => claim.kind === 'anchor';
const isOwn = (claim: Claim): claim is OwnClaim => !isInflow(claim) && !isAttempt(claim) && !isAnchor(claim);

const find = (out: Compared, code: FindingCode, claim: Claim, message: string): void =>
  out.find(findingAt(code, claim.where, message, { chainId: claim.chainId, hash: claim.txHash, block: claim.block }));

/** Unmatched money that was given to a payment is that payment's, and only its. */
function checkCreditedOnce(inflows: readonly InflowClaim[], out: Compared): void {
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
const counted = (inflows: readonly InflowClaim[]): readonly InflowClaim[] => [
  ...new Map(inflows.map((claim) => [claim.transferId, claim])).values(),
];

function compareDeposit(evidence: Evidence, inflows: readonly InflowClaim[], world: World, out: Compared): void {
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
function matchInflows(
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

/** What recorded things should have done to the account, by asset, and who is behind each. */
function compareAccount(evidence: Evidence, claims: readonly Claim[], world: World, out: Compared) {
  const { account, chainId, outgoing, succeeded, time } = evidence;
  const isOld = time < world.settledBefore;
  const payins = counted(claims.filter(isInflow).filter(({ to }) => world.accountAt(chainId, to) === account));
  const attempts = claims.filter(isAttempt);
  const own = claims.filter(isOwn);
  const here = { stream: `treasury-${chainId}-${account}`, revision: null, id: null };
  const place = { chainId, hash: evidence.txHash, block: evidence.block };
  for (const anchor of claims.filter(isAnchor)) checkAnchor(anchor, evidence, out);
  const isLeft = evidence.changes.some(({ amount }) => BigInt(amount) < 0n);
  if ((outgoing || isLeft) && attempts.length + own.length === 0)
    return out.find(findingAt('outflowUnrecorded', here, `it moved ${moves(evidence)}`, place));
  for (const attempt of attempts) checkAttempt(attempt, evidence, isOld, out);
  checkCost(evidence, claims, isOld, out);
  const adopted = own.find(({ kind }) => kind === 'adopted');
  if (adopted) return checkAdopted(adopted, evidence, out);
  if (!succeeded) return;
  const expected = [
    ...attempts
      .filter(({ fate }) => fate === 'settled' || fate === 'short')
      .flatMap((attempt) => outOf(attempt, evidence)),
    ...own.filter(({ account: of }) => of === account).flatMap(({ changes }) => changes),
  ];
  const { rest, unmet } = restOf(evidence, expected, attempts.length > 0);
  const came = rest.filter(({ amount }) => BigInt(amount) > 0n);
  const left = rest.filter(({ amount }) => BigInt(amount) < 0n);
  matchInflows({ ...evidence, changes: came }, payins, out, (asset, amount) => out.unclaimed(evidence, asset, amount));
  if (attempts.some(({ fate }) => fate === 'live') || left.length + unmet.length === 0) return;
  const what = `it moved ${moves({ changes: left })} that nothing records; of what is recorded it did not move ${moves({ changes: unmet })}`;
  out.find(findingAt('outflowElsewhere', attempts[0]?.where ?? here, what, place));
}

const moves = ({ changes }: Pick<Evidence, 'changes'>): string =>
  changes
    .map(
      ({ asset, amount, counterparty }) => `${amount} of ${asset}${counterparty === null ? '' : ` (${counterparty})`}`,
    )
    .join(', ') || 'nothing';

function checkAnchor(anchor: AnchorClaim, { account, succeeded, hashMemo }: Evidence, out: Compared): void {
  if (anchor.account !== account || (succeeded && hashMemo === anchor.hash)) return;
  const says = succeeded ? `its memo is ${hashMemo ?? 'no hash'}` : 'it failed';
  find(out, 'anchorWrong', anchor, `the log says that it anchors ${anchor.hash}; ${says}`);
}

function checkAttempt(attempt: AttemptClaim, evidence: Evidence, isOld: boolean, out: Compared): void {
  const { fate, settledBy, txHash } = attempt;
  const { succeeded, block } = evidence;
  if (fate === 'settled' && !succeeded) find(out, 'settledByFailed', attempt, `it failed in block ${block}`);
  if (!succeeded) return;
  if (settledBy !== null && settledBy !== txHash)
    find(out, 'paidTwice', attempt, `it landed in block ${block}, and so did ${settledBy}`);
  else if (fate === 'dead')
    find(out, 'landedUnrecorded', attempt, `the log says it can never land; it did, in block ${block}`);
  else if (fate === 'live' && isOld) find(out, 'landedUnrecorded', attempt, `it landed in block ${block}`);
}

/** What a transfer of ours does to the account whose money it is. */
function outOf(attempt: AttemptClaim, { account, changes }: Evidence): Evidence['changes'] {
  const { owner, asset, amount, receiver, form, cost, arrived } = attempt;
  if ((owner ?? cost?.payer ?? attempt.account) !== account || form === 'deploy') return [];
  const own = changes.filter((change) => change.asset === asset);
  if (form === 'flush') {
    const brought = BigInt(arrived ?? amount);
    const came = own.reduce((sum, each) => (BigInt(each.amount) > 0n ? sum + BigInt(each.amount) : sum), 0n);
    return came === brought
      ? own.filter((each) => BigInt(each.amount) > 0n)
      : [{ asset, amount: brought.toString(), counterparty: null }];
  }
  return [{ asset, amount: (-BigInt(cost?.left ?? amount)).toString(), counterparty: receiver }];
}

/**
 * What is left of the changes when each expected one has met its like: same asset, same amount, nobody else behind it.
 * @param rents whether coin went into accounts, which costs tell
 */
function restOf({ changes }: Evidence, expected: Evidence['changes'], rents: boolean) {
  const rest = [...changes];
  const isLike = (change: Evidence['changes'][number], due: Evidence['changes'][number]): boolean =>
    change.asset === due.asset &&
    change.amount === due.amount &&
    (change.counterparty === null || due.counterparty === null || change.counterparty === due.counterparty);
  const unmet = expected.filter((due) => {
    const at = rest.findIndex((change) => isLike(change, due));
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
  const isRent = ({ asset }: Evidence['changes'][number]): boolean =>
    rents && asset === coinAddress && !expected.some((due) => due.asset === coinAddress);
  return { rest: rest.filter((change) => !isRent(change)), unmet };
}

/** Whoever tells of a transaction tells what all of it cost: payouts that share one say the same. */
function checkCost(evidence: Evidence, claims: readonly Claim[], isOld: boolean, out: Compared): void {
  const { account, fee, changes, outgoing, succeeded } = evidence;
  const moved = changes.reduce((sum, { asset, amount }) => (asset === coinAddress ? sum + BigInt(amount) : sum), 0n);
  for (const claim of claims) {
    if (isInflow(claim) || claim.cost?.payer !== account) continue;
    const { fee: said, rent = '0' } = claim.cost;
    if (outgoing && isOld && said !== fee)
      find(out, 'costWrong', claim, `it cost ${fee} of the coin, the log says ${said}`);
    const paysToken = isAttempt(claim) && claim.form === null && claim.asset !== coinAddress;
    if (succeeded && paysToken && -moved !== BigInt(rent))
      find(out, 'costWrong', claim, `${-moved} of the coin went into accounts, the log says ${rent}`);
  }
}

function checkAdopted(claim: OwnClaim, evidence: Evidence, out: Compared): void {
  const text = (changes: Evidence['changes']) =>
    changes
      .map(({ asset, amount }) => `${amount} of ${asset}`)
      .sort()
      .join(', ');
  const [said, done] = [text(claim.changes), text(evidence.succeeded ? evidence.changes : [])];
  if (said !== done || claim.fee !== evidence.fee)
    find(
      out,
      'adoptionWrong',
      claim,
      `adopted as ${said || 'nothing'}; the transaction moved ${done || 'nothing'}, fee ${evidence.fee}`,
    );
}

/** The log says what no chain shows. */
function checkShown(claim: Claim, shownAt: ReadonlySet<string>, world: World, out: Compared): void {
  const { chainId, block } = claim;
  if (isInflow(claim)) {
    const account = world.accountAt(chainId, claim.to) ?? claim.to;
    if (claim.phase === 'confirmed' && !shownAt.has(account) && world.wasRead(chainId, claim.to, block))
      find(out, 'payinForged', claim, `no transaction brings ${claim.amount} of ${claim.asset} to ${claim.to}`);
    return;
  }
  const isSaid = isAttempt(claim) ? claim.fate === 'settled' || claim.fate === 'short' : block !== null;
  const account = isAttempt(claim) ? (claim.owner ?? claim.account) : claim.account;
  if (isSaid && !shownAt.has(account) && !shownAt.has(claim.account) && world.wasRead(chainId, account, block))
    find(out, 'settlementForged', claim, `the chain shows no such transaction of ${account}`);
}
