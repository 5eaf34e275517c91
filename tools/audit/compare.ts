/** Pass three: compares the chain and the log, transaction by transaction. The chain is queried first. */
import { chainOf, tokenAt } from '../../domain/chains.ts';
import { coinAddress } from '../../domain/money.ts';
import { day_ms } from '../../domain/time.ts';
import { isFirstType } from '../../domain/webhook.ts';
import {
  type AnchorClaim,
  type AttemptClaim,
  type AuditFact,
  type BatchClaim,
  type Claim,
  type ComparisonOutput,
  type Entered,
  type Evidence,
  findAtClaim as find,
  type Once,
  type OwnClaim,
  type Paired,
  type ReportedEvent,
  type Telling,
  tokenFeeMax,
  type World,
} from './claims.ts';
import {
  checkCreditedOnce,
  compareBatch,
  compareDeposit,
  compareSharedPlaces,
  compareSwept,
  hasMemos,
  isInflow,
  matchInflows,
  outOfBatch,
  receivedIn,
  uniqueInflows,
} from './compareInflows.ts';
import { findingAt } from './findings.ts';
import { scaled } from './reckon/funding.ts';

/** Deadline of a consequence: workers of the service make it within seconds. */
const due_ms = day_ms;

/**
 * Compares two streams that report the same facts: each consequence has one cause, and each cause has its consequence within one day.
 * @param facts all of one key
 */
export function comparePaired(
  facts: readonly AuditFact[],
  { settledBefore, isWhole }: Pick<World, 'settledBefore' | 'isWhole'>,
  { find }: Pick<ComparisonOutput, 'find'>,
): void {
  const of = (side: Paired['side']) => facts.filter((fact): fact is Paired => fact.side === side);
  const [causes, consequences] = [of('cause'), of('consequence')];
  for (const [first, ...again] of [causes, consequences])
    for (const { where, words, code } of again)
      find(findingAt(code, where, `${words}: ${first?.where.stream} says so as well`));
  const [cause] = causes;
  const isOverdue = cause && isWhole && !(Date.parse(settledBefore) - Date.parse(cause.at) <= due_ms);
  if (isOverdue && !cause.isOptional && consequences.length === 0)
    find(findingAt(cause.code, cause.where, `${cause.words}: nothing followed from it within a day`));
  for (const { where, words, code } of consequences) {
    if (!cause) find(findingAt(code, where, `${words}: nothing leads to it`));
    else if (cause.words !== words) find(findingAt(code, where, `${words}; ${cause.where.stream} says ${cause.words}`));
  }
}

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

/**
 * Returns, by asset, the difference between the chain and the log; assets that agree are omitted. Money is conserved: a transaction's
 * effect on a treasury account equals the log's received, paid, refunded, charged and moved amounts. Only sums are compared, so this holds
 * regardless of the comparisons of single transfers.
 */
export function differencesOf({ changes, fee }: Evidence, entered: readonly Entered[]): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>([[coinAddress, -BigInt(fee)]]);
  for (const { asset, amount } of changes) sums.set(asset, (sums.get(asset) ?? 0n) + BigInt(amount));
  for (const { asset, amount } of entered) sums.set(asset, (sums.get(asset) ?? 0n) - amount);
  return new Map([...sums].filter(([, difference]) => difference !== 0n));
}

/** @param facts all of one key */
export function compareFacts(facts: readonly AuditFact[], world: World, told: ComparisonOutput): void {
  let found = 0;
  const out: ComparisonOutput = {
    ...told,
    find(finding) {
      found += 1;
      told.find(finding);
    },
  };
  const said = facts.filter((fact): fact is Once => fact.side === 'once');
  for (const { where, says, code } of said.slice(1))
    out.find(findingAt(code, where, `${says}, and ${said[0]?.where.stream} says so as well`));
  comparePaired(facts, world, out);
  compareSharedPlaces(facts, out);
  compareNews(facts, world, out);
  const claims = facts.filter((fact): fact is Claim => fact.side === 'log');
  const shown = facts.filter((fact): fact is Evidence => fact.side === 'chain');
  const inflows = claims.filter(isInflow);
  checkCreditedOnce(inflows, world, out);
  compareBatch(claims, shown, world, out);
  for (const evidence of shown) {
    if (evidence.of === 'deposit') compareDeposit(evidence, inflows, world, out);
    else compareAccount(evidence, claims, world, out);
  }
  compareSwept(shown, world, out);
  const shownAt = new Set(shown.map(({ account }) => account));
  for (const evidence of shown.filter(({ of }) => of === 'treasury'))
    checkConserved(evidence, claims, found === 0, world, out);
  for (const claim of claims) checkShown(claim, shownAt, world, out);
}

/** Remaining differences. Additional money is compared with the books at the end. */
function checkConserved(
  evidence: Evidence,
  claims: readonly Claim[],
  isClean: boolean,
  world: World,
  out: ComparisonOutput,
): void {
  const entered = enteredBy(evidence, claims, world);
  const differences = differencesOf(evidence, entered);
  out.entered(evidence, entered, differences);
  if (!isClean || evidence.time >= world.settledBefore) return;
  const { chainId, account, txHash: hash, block } = evidence;
  const here = { stream: `treasury-${chainId}-${account}`, revision: null, id: null };
  for (const [asset, amount] of differences)
    if (amount < 0n)
      out.find(
        findingAt('moneyMissing', here, `${-amount} of ${asset} more left than the log records`, {
          chainId,
          hash,
          block,
        }),
      );
}

const isAttempt = (claim: Claim): claim is AttemptClaim => claim.kind === 'attempt';
const isAnchor = (claim: Claim): claim is AnchorClaim => claim.kind === 'anchor';
const isBatch = (claim: Claim): claim is BatchClaim => claim.kind === 'batch';
const isOwn = (claim: Claim): claim is OwnClaim =>
  claim.kind === 'cancel' || claim.kind === 'topUp' || claim.kind === 'adopted';

/** Expected effects of records on the account, by asset, with the stream behind each. */
function compareAccount(evidence: Evidence, claims: readonly Claim[], world: World, out: ComparisonOutput) {
  const { account, chainId, outgoing, succeeded, time } = evidence;
  const isOld = time < world.settledBefore;
  const payins = uniqueInflows(claims.filter(isInflow).filter(({ to }) => world.accountAt(chainId, to) === account));
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
  if (adopted) return checkAdopted(adopted, evidence, claims, world, out);
  checkTopUps(own, evidence, out);
  // A failed transaction transferred nothing.
  if (!succeeded) return matchInflows(evidence, payins, world, out, () => {});
  const expected = [
    ...attempts
      .filter(({ fate }) => fate === 'settled' || fate === 'short')
      .flatMap((attempt) => outOf(attempt, evidence, world)),
    ...batches.flatMap((batch) => outOfBatch(batch, attempts, account)),
    ...own.filter(({ account: of }) => of === account).flatMap(({ changes }) => changesOf(changes, evidence)),
  ];
  const { rest, unmet } = restOf(evidence, expected, rentMaxOf(chainId, attempts, batches));
  const came = rest.filter(({ amount }) => BigInt(amount) > 0n);
  const left = rest.filter(({ amount }) => BigInt(amount) < 0n);
  matchInflows({ ...evidence, changes: came }, payins, world, out, (asset, amount) =>
    out.unclaimed(evidence, asset, amount),
  );
  if ([...attempts, ...batches].some(({ fate }) => fate === 'live') || left.length + unmet.length === 0) return;
  const what = `it moved ${moves({ changes: left })} that nothing records; of what is recorded it did not move ${moves({ changes: unmet })}`;
  out.find(findingAt('outflowElsewhere', whoseFault(unmet, attempts, batches, world) ?? here, what, place));
}

/** Stream whose payment was not made; for an unknown receiver, the stream that signed. */
function whoseFault(
  unmet: readonly Due[],
  attempts: readonly AttemptClaim[],
  batches: readonly BatchClaim[],
  world: World,
): Claim['where'] | undefined {
  const missed = attempts.filter(({ chainId, receiver }) =>
    unmet.some(({ counterparty }) => counterparty === world.holderOf(chainId, receiver)),
  );
  return (missed.at(-1) ?? batches[0] ?? attempts[0])?.where;
}

const moves = ({ changes }: { readonly changes: readonly Due[] }): string =>
  changes
    .map(
      ({ asset, amount, counterparty, memo }) =>
        `${amount} of ${asset}${counterparty === null ? '' : ` (${counterparty}${typeof memo === 'string' ? `, memo ${memo}` : ''})`}`,
    )
    .join(', ') || 'nothing';

function checkAnchor(anchor: AnchorClaim, { account, succeeded, hashMemo }: Evidence, out: ComparisonOutput): void {
  if (anchor.account !== account || (succeeded && hashMemo === anchor.hash)) return;
  const says = succeeded ? `its memo is ${hashMemo ?? 'no hash'}` : 'it failed';
  find(out, 'anchorWrong', anchor, `the log says that it anchors ${anchor.hash}; ${says}`);
}

function checkAttempt(
  attempt: AttemptClaim | BatchClaim,
  evidence: Evidence,
  isOld: boolean,
  out: ComparisonOutput,
): void {
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

/** True if money came from a deposit that a sweep empties. A chain without senders proves none. */
const isOfDeposits = ({ from }: AttemptClaim, { counterparty }: Due): boolean =>
  counterparty === null || from === undefined || from.includes(counterparty);

/** Effect of our transfer on the account that owns the money. */
function outOf(attempt: AttemptClaim, { account, changes }: Evidence, world: World): readonly Due[] {
  const { chainId, owner, asset, amount, receiver, memo, form, cost, arrived } = attempt;
  if ((owner ?? cost?.payer ?? attempt.account) !== account || form === 'deploy') return [];
  const own = changes.filter((change) => change.asset === asset);
  if (form === 'flush') {
    const brought = BigInt(arrived ?? amount);
    const came = own.filter((each) => BigInt(each.amount) > 0n && isOfDeposits(attempt, each));
    return receivedIn({ changes: came }, asset) === brought
      ? came
      : [{ asset, amount: brought.toString(), counterparty: attempt.from?.[0] ?? null }];
  }
  const left = BigInt(cost?.left ?? amount);
  const kept = left - BigInt(arrived ?? left);
  // The token's own fee goes to an address of the token's owner.
  const fee = kept > 0n && kept <= tokenFeeMax(chainId, asset, left) ? kept : 0n;
  const counterparty = form === 'burn' ? nobodyThere : world.holderOf(chainId, receiver);
  const due = { asset, amount: (fee - left).toString(), counterparty };
  return [
    ...(left === 0n ? [] : [hasMemos(chainId) ? { ...due, memo: memo ?? world.memoIn(chainId, receiver) } : due]),
    ...(fee === 0n ? [] : [{ asset, amount: (-fee).toString(), counterparty: null }]),
  ];
}

/** Receiver of burned tokens. An address of a chain has no blank. */
const nobodyThere = 'nobody there';

/** An expected change; with a memo on chains with memos: null for none. */
type Due = Omit<Evidence['changes'][number], 'memo'> & { readonly memo?: string | null };

/** A top-up is the sum of one transaction's receipts of an asset. */
function changesOf(changes: readonly Due[], evidence: Evidence): readonly Due[] {
  return changes.flatMap((change) => {
    const isSum = BigInt(change.amount) > 0n && receivedIn(evidence, change.asset) === BigInt(change.amount);
    const parts = evidence.changes.filter(({ asset, amount }) => asset === change.asset && BigInt(amount) > 0n);
    return isSum && parts.length > 1 ? parts : [change];
  });
}

/** Coin besides fees: message fees of sends by USDT0, and on Solana a burn's message and at most one new token account per receiver. */
function rentMaxOf(
  chainId: Evidence['chainId'],
  attempts: readonly AttemptClaim[],
  batches: readonly BatchClaim[],
): bigint {
  const along = attempts.reduce((sum, { coinAlong = '0' }) => sum + BigInt(coinAlong), 0n);
  if (chainOf(chainId).family !== 'solana') return along;
  const members = batches.reduce((sum, batch) => sum + batch.members.length, 0);
  return along + solanaRent * BigInt(Math.max(attempts.length, members));
}

/** Lamports for opening a token account. The number is repeated here on purpose. */
const solanaRent = 2_039_280n;

/**
 * Remaining changes after removing a match for each expected one: same asset, same amount, same counterparty.
 * @param rentMax maximum coin for opened accounts, which costs include
 */
function restOf({ changes }: Evidence, expected: readonly Due[], rentMax: bigint) {
  const rest = [...changes];
  const isLike = (change: Evidence['changes'][number], due: Due): boolean =>
    change.asset === due.asset &&
    change.amount === due.amount &&
    (due.counterparty === null || (change.counterparty ?? nobodyThere) === due.counterparty) &&
    (due.memo === undefined || (change.memo ?? null) === due.memo);
  const unmet = expected.filter((due) => {
    const at = rest.findIndex((change) => isLike(change, due));
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
  const coins = rest.filter(({ asset }) => asset === coinAddress);
  const spent = coins.reduce((sum, { amount }) => sum - BigInt(amount), 0n);
  const isRent = rentMax > 0n && spent <= rentMax;
  return { rest: isRent ? rest.filter(({ asset }) => asset !== coinAddress) : rest, unmet };
}

/** Each record of a transaction has its whole cost: payouts that share one have equal costs. */
function checkCost(evidence: Evidence, claims: readonly Claim[], isOld: boolean, out: ComparisonOutput): void {
  const { account, fee, changes, outgoing, succeeded } = evidence;
  const moved = changes.reduce((sum, { asset, amount }) => (asset === coinAddress ? sum + BigInt(amount) : sum), 0n);
  const rentMax = rentMaxOf(evidence.chainId, claims.filter(isAttempt), claims.filter(isBatch));
  for (const claim of claims) {
    if (isInflow(claim) || claim.cost?.payer !== account) continue;
    const { fee: said, rent = '0' } = claim.cost;
    if (BigInt(rent) > rentMax)
      find(out, 'costWrong', claim, `${rent} of the coin is said to be rent, ${rentMax} is the most`);
    if (outgoing && isOld && said !== fee)
      find(out, 'costWrong', claim, `it cost ${fee} of the coin, the log says ${said}`);
    const paid = isAttempt(claim) && claim.asset === coinAddress && claim.form !== 'flush' ? BigInt(claim.amount) : 0n;
    const isTransfer = isAttempt(claim) || isBatch(claim);
    if (succeeded && isTransfer && -moved - paid !== BigInt(rent))
      find(out, 'costWrong', claim, `${-moved - paid} of the coin went into accounts, the log says ${rent}`);
  }
}

/** An adoption records the effects of a transaction without another record, and that the operators know its receivers. */
function checkAdopted(
  claim: OwnClaim,
  evidence: Evidence,
  claims: readonly Claim[],
  world: World,
  out: ComparisonOutput,
): void {
  for (const other of claims.filter((each) => each !== claim && isMeantElsewhere(each)))
    find(
      out,
      'adoptionWrong',
      other.kind === 'adopted' ? other : claim,
      `${other.where.stream} records the transaction as well: it cannot be adopted`,
    );
  const strangers = (claim.notInBook ?? []).filter((receiver) => world.accountAt(claim.chainId, receiver) === null);
  if (strangers.length > 0)
    find(out, 'notInAddressBook', claim, `it was adopted, and the address book does not have ${strangers.join(', ')}`);
  const text = (changes: Evidence['changes']) =>
    changes
      .map(({ asset, amount, counterparty }) => `${amount} of ${asset} (${counterparty ?? 'several or nobody'})`)
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

/** True if another record claims to move the money of an adopted transaction. */
const isMeantElsewhere = (claim: Claim): boolean =>
  isInflow(claim)
    ? claim.phase !== 'gone'
    : isAttempt(claim) || isBatch(claim)
      ? claim.fate === 'settled' || claim.fate === 'short'
      : claim.block !== null;

/** Payins below a cent are not recorded. */
const centDecimals = 2;

/** Tokens with a memo at a shared address are a payment's or unmatched, unless they are below the minimum: never a top-up. */
function checkTopUps(own: readonly OwnClaim[], { account, changes }: Evidence, out: ComparisonOutput): void {
  for (const topUp of own.filter((claim) => claim.kind === 'topUp' && claim.account === account)) {
    const token = (asset: string) => tokenAt(chainOf(topUp.chainId), asset);
    const ofPayer = changes.find(
      ({ asset, amount, memo }) =>
        memo !== undefined &&
        token(asset) !== undefined &&
        BigInt(amount) >= scaled(1n, centDecimals, token(asset)?.decimals ?? centDecimals),
    );
    if (ofPayer)
      find(out, 'inflowUnrecorded', topUp, `it came with the memo ${ofPayer.memo}, and the log calls it a top-up`);
  }
}

/** The log contains a transaction that no chain has. */
function checkShown(claim: Claim, shownAt: ReadonlySet<string>, world: World, out: ComparisonOutput): void {
  if (world.isOfClosedNetwork(claim)) {
    out.skipped(claim);
    return;
  }
  const { chainId, block } = claim;
  if (isInflow(claim)) {
    const account = world.accountAt(chainId, claim.to) ?? claim.to;
    if (claim.phase === 'confirmed' && !shownAt.has(account) && isReadable(claim, claim.to, world))
      find(out, 'payinForged', claim, `no transaction brings ${claim.amount} of ${claim.asset} to ${claim.to}`);
    return;
  }
  const isSaid =
    isAttempt(claim) || isBatch(claim) ? claim.fate === 'settled' || claim.fate === 'short' : block !== null;
  const account = isAttempt(claim) ? (claim.owner ?? claim.account) : claim.account;
  if (isAttempt(claim) && isSaid) checkOwner(claim, world, out);
  if (isSaid && !shownAt.has(account) && !shownAt.has(claim.account) && isReadable(claim, account, world))
    find(out, 'settlementForged', claim, `the chain shows no such transaction of ${account}`);
}

/** A transaction of the treasury moves money of an account that is none of the treasury's. */
function checkOwner(claim: AttemptClaim, world: World, out: ComparisonOutput): void {
  const { chainId, owner, cost, account } = claim;
  const isOurs = world.accountAt(chainId, cost?.payer ?? account) !== null;
  if (owner === null || !isOurs || world.accountAt(chainId, owner) !== null) return;
  find(out, 'outflowElsewhere', claim, `the money is of ${owner}, which is no account of the treasury`);
}

/** True if nodes must have the claim's transaction: its block was read, or the log long ago named a block that is still missing. */
const isReadable = ({ chainId, block, at }: Claim, address: string, world: World): boolean =>
  world.wasRead(chainId, address, block) || (world.isBehindEnd(chainId, address, block) && at < world.settledBefore);

// Compares merchants' notifications with the events: each event of a payment was reported automatically once, and
// nothing else.

/** A delivery has no deadline: after a hanging receiver, others of its app wait for hours. Late ones are not reported. */
const webhookDue_ms = day_ms;

/** @param facts all of one event */
export function compareNews(
  facts: readonly AuditFact[],
  { settledBefore }: Pick<World, 'settledBefore'>,
  { find }: Pick<ComparisonOutput, 'find'>,
): void {
  const tellings = facts.filter((fact): fact is Telling => fact.side === 'telling').toSorted(byPosition);
  const news = facts.filter((fact): fact is ReportedEvent => fact.side === 'news');
  const [first, ...again] = tellings.filter(({ kind }) => kind === 'automatic');
  for (const { where, eventId } of again)
    find(findingAt('webhookTwice', where, `event ${eventId} was told, and ${first?.where.stream} says so as well`));
  if (!first)
    for (const { where, paymentId, eventType, url } of news.filter((each) => isOverdue(each, settledBefore)))
      find(findingAt('webhookNeverSent', where, `${eventType} of payment ${paymentId} never went to ${url}`));
  for (const telling of tellings) {
    const problem = problemOf(
      telling,
      news.find(({ paymentId }) => paymentId === telling.paymentId),
    );
    if (problem !== null) find(findingAt('webhookWrong', telling.where, problem));
  }
}

/** For a later type, nothing is due from before its introduction, which is not checked here. */
const isOverdue = ({ url, eventType, at }: ReportedEvent, settledBefore: string): boolean =>
  url !== null && isFirstType(eventType) && Date.parse(settledBefore) - Date.parse(at) > webhookDue_ms;

const byPosition = (a: Telling, b: Telling): number => (BigInt(a.position) < BigInt(b.position) ? -1 : 1);

/** Null if all its statements are true. */
function problemOf(telling: Telling, news: ReportedEvent | undefined): string | null {
  const { paymentId, eventId, eventRevision, position } = telling;
  if (!news) return `payment ${paymentId} has no event ${eventId} that a merchant is told of`;
  if (BigInt(position) < BigInt(news.position)) return `event ${eventId} was told before it happened`;
  if (eventRevision !== String(news.where.revision))
    return `event ${eventId} is number ${news.where.revision} of its payment, it says ${eventRevision}`;
  for (const field of ['appId', 'eventType', 'url'] as const)
    if (telling[field] !== news[field]) return `its ${field} is ${telling[field]}, the payment's is ${news[field]}`;
  return null;
}
