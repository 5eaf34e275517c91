/** Pass three: transaction by transaction, what the chain shows beside what the log says. The chain is asked first. */
import { coinAddress } from '../../domain/coins.ts';
import type { AnchorClaim, AttemptClaim, BatchClaim, Claim, Evidence, Fact, Once, OwnClaim } from './claims.ts';
import { compareBatch, outOfBatch } from './compareBatch.ts';
import { checkCreditedOnce, compareDeposit, counted, isInflow, matchInflows } from './compareInflows.ts';
import { compareNews } from './compareNews.ts';
import { comparePaired } from './comparePaired.ts';
import { type Compared, findAtClaim as find, type World } from './comparing.ts';
import { findingAt } from './findings.ts';

/** @param facts all of one key */
export function compareFacts(facts: readonly Fact[], world: World, out: Compared): void {
  const said = facts.filter((fact): fact is Once => fact.side === 'once');
  for (const { where, says, code } of said.slice(1))
    out.find(findingAt(code, where, `${says}, and ${said[0]?.where.stream} says so as well`));
  comparePaired(facts, out);
  compareNews(facts, world, out);
  const claims = facts.filter((fact): fact is Claim => fact.side === 'log');
  const shown = facts.filter((fact): fact is Evidence => fact.side === 'chain');
  const inflows = claims.filter(isInflow);
  checkCreditedOnce(inflows, out);
  compareBatch(claims, shown, world, out);
  for (const evidence of shown) {
    if (evidence.of === 'deposit') compareDeposit(evidence, inflows, world, out);
    else compareAccount(evidence, claims, world, out);
  }
  const shownAt = new Set(shown.map(({ account }) => account));
  for (const claim of claims) checkShown(claim, shownAt, world, out);
}

const isAttempt = (claim: Claim): claim is AttemptClaim => claim.kind === 'attempt';
const isAnchor = (claim: Claim): claim is AnchorClaim => claim.kind === 'anchor';
const isBatch = (claim: Claim): claim is BatchClaim => claim.kind === 'batch';
const isOwn = (claim: Claim): claim is OwnClaim =>
  claim.kind === 'cancel' || claim.kind === 'topUp' || claim.kind === 'adopted';

/** What recorded things should have done to the account, by asset, and who is behind each. */
function compareAccount(evidence: Evidence, claims: readonly Claim[], world: World, out: Compared) {
  const { account, chainId, outgoing, succeeded, time } = evidence;
  const isOld = time < world.settledBefore;
  const payins = counted(claims.filter(isInflow).filter(({ to }) => world.accountAt(chainId, to) === account));
  const attempts = claims.filter(isAttempt);
  const batches = claims.filter(isBatch);
  const own = claims.filter(isOwn);
  const here = { stream: `treasury-${chainId}-${account}`, revision: null, id: null };
  const place = { chainId, hash: evidence.txHash, block: evidence.block };
  for (const anchor of claims.filter(isAnchor)) checkAnchor(anchor, evidence, out);
  const isLeft = evidence.changes.some(({ amount }) => BigInt(amount) < 0n);
  if ((outgoing || isLeft) && attempts.length + batches.length + own.length === 0)
    return out.find(findingAt('outflowUnrecorded', here, `it moved ${moves(evidence)}`, place));
  for (const attempt of [...batches, ...attempts]) checkAttempt(attempt, evidence, isOld, out);
  checkCost(evidence, claims, isOld, out);
  const adopted = own.find(({ kind }) => kind === 'adopted');
  if (adopted) return checkAdopted(adopted, evidence, out);
  if (!succeeded) return;
  const expected = [
    ...attempts
      .filter(({ fate }) => fate === 'settled' || fate === 'short')
      .flatMap((attempt) => outOf(attempt, evidence, world)),
    ...batches.flatMap((batch) => outOfBatch(batch, attempts, account)),
    ...own.filter(({ account: of }) => of === account).flatMap(({ changes }) => changes),
  ];
  const { rest, unmet } = restOf(evidence, expected, attempts.length + batches.length > 0);
  const came = rest.filter(({ amount }) => BigInt(amount) > 0n);
  const left = rest.filter(({ amount }) => BigInt(amount) < 0n);
  matchInflows({ ...evidence, changes: came }, payins, out, (asset, amount) => out.unclaimed(evidence, asset, amount));
  if ([...attempts, ...batches].some(({ fate }) => fate === 'live') || left.length + unmet.length === 0) return;
  const what = `it moved ${moves({ changes: left })} that nothing records; of what is recorded it did not move ${moves({ changes: unmet })}`;
  out.find(findingAt('outflowElsewhere', whoseFault(unmet, attempts, batches, world) ?? here, what, place));
}

/** Who was not paid as the log says; of what went to nobody whom it knows, who signed it. */
function whoseFault(
  unmet: Evidence['changes'],
  attempts: readonly AttemptClaim[],
  batches: readonly BatchClaim[],
  world: World,
): Claim['where'] | undefined {
  const missed = attempts.filter(({ chainId, receiver }) =>
    unmet.some(({ counterparty }) => counterparty === world.holderOf(chainId, receiver)),
  );
  return (missed.at(-1) ?? batches[0] ?? attempts[0])?.where;
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

function checkAttempt(attempt: AttemptClaim | BatchClaim, evidence: Evidence, isOld: boolean, out: Compared): void {
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
function outOf(attempt: AttemptClaim, { account, changes }: Evidence, world: World): Evidence['changes'] {
  const { chainId, owner, asset, amount, receiver, form, cost, arrived } = attempt;
  if ((owner ?? cost?.payer ?? attempt.account) !== account || form === 'deploy') return [];
  const own = changes.filter((change) => change.asset === asset);
  if (form === 'flush') {
    const brought = BigInt(arrived ?? amount);
    const came = own.reduce((sum, each) => (BigInt(each.amount) > 0n ? sum + BigInt(each.amount) : sum), 0n);
    return came === brought
      ? own.filter((each) => BigInt(each.amount) > 0n)
      : [{ asset, amount: brought.toString(), counterparty: null }];
  }
  return [
    { asset, amount: (-BigInt(cost?.left ?? amount)).toString(), counterparty: world.holderOf(chainId, receiver) },
  ];
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
  if (world.isOfClosedNetwork(claim)) {
    out.skipped(claim);
    return;
  }
  const { chainId, block } = claim;
  if (isInflow(claim)) {
    const account = world.accountAt(chainId, claim.to) ?? claim.to;
    if (claim.phase === 'confirmed' && !shownAt.has(account) && world.wasRead(chainId, claim.to, block))
      find(out, 'payinForged', claim, `no transaction brings ${claim.amount} of ${claim.asset} to ${claim.to}`);
    return;
  }
  const isSaid =
    isAttempt(claim) || isBatch(claim) ? claim.fate === 'settled' || claim.fate === 'short' : block !== null;
  const account = isAttempt(claim) ? (claim.owner ?? claim.account) : claim.account;
  if (isSaid && !shownAt.has(account) && !shownAt.has(claim.account) && world.wasRead(chainId, account, block))
    find(out, 'settlementForged', claim, `the chain shows no such transaction of ${account}`);
}
