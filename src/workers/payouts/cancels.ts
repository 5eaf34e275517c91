/**
 * Nonces that nobody will use: a transaction that does nothing uses them up, for all later ones of their account wait for them. It is a
 * transaction like any other: recorded before it is sent, sent again, and outbid, until the nonce is used up for good.
 */
import {
  isNumbered,
  landedAt,
  loadFrom,
  type NumberedRail,
  type NumberingAccount,
  PayoutBlocked,
  type PayoutRail,
  type Sent,
  type Signer,
  type TransferOwners,
} from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { epochMs, minute_ms } from '../../../domain/time.ts';
import { canLand, isSpent, noncesUsedUp } from '../../../domain/transfer/leg.ts';
import { cancelReference, keyOf, moneyLeaves, type SignedAttempt } from '../../../domain/transfer/shapes.ts';
import type { Purpose } from '../../../domain/treasury/events.ts';
import { cancelNonce, nonceOf, objectionTo, reportTaken, useUpNonce } from '../../../domain/treasury/nonces.ts';
import {
  type Assignment,
  type Cancelled,
  cancelsMax,
  type TreasuryState,
  treasury,
  treasuryInstance,
} from '../../../domain/treasury/state.ts';
import { boundedTimes } from '../../lib/cache.ts';
import type { Worker } from '../engine.ts';
import { attemptsWith, cancelsOf, stuckAfter_ms } from './fate.ts';
import {
  type Chosen,
  type NumberingDeps,
  numberingAccountFor,
  numberingAccountsOf,
  objectionToSigning,
  stateOf,
} from './numberingAccounts.ts';

export interface CancelDeps extends NumberingDeps {
  readonly rail: NumberedRail;
  readonly signer: Signer;
}

/** A nonce that was handed out this long ago may be about to be signed; only later it is asked whether anybody needs it. */
const settling_ms = minute_ms;
/** A cancel that is not mined for so long is outbid; each further one waits twice as long, up to an hour. */
const outbidAfter_ms = 90_000;
const outbidAfterMax_ms = 60 * minute_ms;

/**
 * Takes the nonce from a purpose that cannot be signed now and has no live attempt; later the purpose gets another nonce. Should somebody
 * sign with the nonce at this moment, one of the two transactions lands and the other is proven dead by it.
 *
 * Crash after the append: the bytes are recorded, and `tendNonces` sends them.
 */
export async function releaseNonce(deps: CancelDeps, numbering: NumberingAccount, purpose: Purpose): Promise<void> {
  const nonce = nonceOf(await stateOf(deps, numbering.account), purpose);
  if (nonce === null || nonce < numbering.minedNonce) return;
  await cancel(deps, numbering.account, nonce, `cancel ${purpose.kind} ${purpose.reference}`);
}

/** Signs, records and sends. @param outbid the fees of the last one. @returns false where nothing may be signed, or nothing needs to be */
async function cancel(
  deps: CancelDeps,
  account: string,
  nonce: bigint,
  why: string,
  outbid?: Pick<SignedAttempt, 'fee'>,
): Promise<boolean> {
  const { handle, clock, rail, signer } = deps;
  const unsigned = await rail.numbering.prepareCancel(nonce, account, outbid);
  if (await objectionToSigning(deps, account)) return false;
  const { hash, bytes } = await signer.sign(unsigned, { kind: 'cancel', reference: cancelReference(nonce) });
  const decide = (state: TreasuryState) =>
    cancelNonce(state, { nonce, hash, bytes, fee: unsigned.fee, now: clock.now() });
  const instance = treasuryInstance(rail.chainId, account);
  const cancelled = await handle(treasury, instance, decide, { cause: `worker:nonces ${why}`, appId: null });
  if (isRefusal(cancelled) || cancelled.appended === 0) return false;
  await rail.broadcast(bytes);
  return true;
}

/**
 * Gives up what was signed with a nonce, because no node takes it: a cancel outbids it, so that later nonces of the account can land.
 * Whichever of the two lands, the other is dead by it; then the transfer is signed anew. `tendNonces` sends the cancel again.
 * @returns false where nothing may be signed, or the nonce is cancelled already
 */
export async function giveUpNonce(
  { rail, ...others }: Omit<CancelDeps, 'rail'> & { readonly rail: PayoutRail },
  { account, nonce, hash, fee }: Pick<SignedAttempt, 'account' | 'nonce' | 'hash' | 'fee'>,
): Promise<boolean> {
  if (nonce === null || !isNumbered(rail)) return false;
  const deps = { ...others, rail };
  if (await isCancelled(deps, account, BigInt(nonce))) return false;
  const cancelling = (outbid?: Pick<SignedAttempt, 'fee'>) =>
    cancel(deps, account, BigInt(nonce), `give up ${hash}`, outbid);
  return cancelling({ fee: { ...fee } }).catch((error) => {
    // Too dear to outbid what no node has: at today's price it can land all the same.
    if (!(error instanceof PayoutBlocked)) throw error;
    return cancelling();
  });
}

export const isCancelled = async (
  deps: Pick<NumberingDeps, 'handle' | 'rail' | 'memory'>,
  account: string,
  nonce: bigint,
): Promise<boolean> => (await stateOf(deps, account)).cancelled.some((each) => each.nonce === nonce);

/** A nonce that needs an operator. */
export interface Trouble {
  readonly account: string;
  readonly nonce: bigint;
  /** It is outstanding for too long; or a transaction that is recorded nowhere has used it. */
  readonly reason: 'nonceStuck' | 'treasuryBehindChain';
  readonly message: string;
}

interface TendDeps extends CancelDeps {
  readonly owners: TransferOwners;
  /** Signs one at a time with the transfers of the same accounts. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** What could not be done for one nonce; the others go on. */
  readonly failed: (nonce: Pick<Trouble, 'account' | 'nonce'>, error: unknown) => void;
}

/** On a rail of any kind: where transfers expire, there is nothing to look after. */
type AnyTendDeps = Omit<TendDeps, 'rail'> & { readonly rail: PayoutRail };

/**
 * Looks after every nonce that was handed out and not mined: sends cancels again and outbids them until they are final, and takes back
 * what nobody needs any more.
 * @returns what needs an operator
 */
export async function tendNonces({ rail, ...others }: AnyTendDeps, signal: AbortSignal): Promise<readonly Trouble[]> {
  const accounts = await numberingAccountsOf({ ...others, rail }, signal);
  const tended = isNumbered(rail)
    ? accounts.map((numbering) => tendAccount({ ...others, rail }, { numbering, accounts }, signal))
    : [];
  return (await Promise.all(tended)).flat();
}

async function tendAccount(deps: TendDeps, chosen: Chosen, signal: AbortSignal): Promise<readonly Trouble[]> {
  const { account, minedNonce } = chosen.numbering;
  const state = await stateOf(deps, account);
  const trouble: Trouble[] = state.taken.map(({ nonce }) => {
    const message = objectionTo(state)?.message ?? '';
    return { account, nonce, reason: 'treasuryBehindChain', message };
  });
  const now_ms = epochMs(deps.clock.now());
  const tend = async (nonce: bigint, holder: string, since_ms: number, work: () => Promise<void>) => {
    if (nonce >= minedNonce && now_ms - since_ms >= stuckAfter_ms) {
      const message = `nonce ${nonce} of ${account}, held by ${holder}, is not mined after ten minutes: all later ones wait for it`;
      trouble.push({ account, nonce, reason: 'nonceStuck', message });
    }
    await work().catch((error) => {
      signal.throwIfAborted();
      deps.failed({ account, nonce }, error);
    });
  };
  for (const each of state.cancelled.filter(({ usedUp }) => !usedUp)) {
    const since_ms = epochMs(each.signed[0]?.signedAt ?? deps.clock.now());
    await tend(each.nonce, 'a cancel', since_ms, () => tendCancel(deps, chosen, each, signal));
  }
  for (const each of state.assigned.filter(({ nonce }) => nonce >= minedNonce)) {
    const { kind, reference } = each.purpose;
    const since_ms = epochMs(each.assignedAt);
    await tend(each.nonce, `${kind} ${reference}`, since_ms, async () => {
      if (now_ms - since_ms < settling_ms || !(await isNeedless(deps, each, chosen))) return;
      await deps.inTurn(() => releaseNonce(deps, chosen.numbering, each.purpose));
    });
  }
  return trouble;
}

/** A cancelled nonce is used up by its cancel, or by a transfer that was signed with it. */
async function tendCancel(
  deps: TendDeps,
  { numbering: { account } }: Chosen,
  cancelled: Cancelled,
  signal: AbortSignal,
): Promise<void> {
  const { handle, clock, rail } = deps;
  const { nonce } = cancelled;
  const sent = await recordedWith(deps, account, cancelled);
  const fate = await rail.fate(sent, signal);
  const record = (decide: (state: TreasuryState) => ReturnType<typeof useUpNonce>) =>
    handle(treasury, treasuryInstance(rail.chainId, account), decide, { cause: 'worker:nonces', appId: null });
  const now = clock.now();
  if (fate.kind === 'final' || fate.kind === 'short') {
    const detail = `transaction ${fate.hash} in block ${fate.blockNumber} used nonce ${nonce}`;
    const landed = landedAt(fate);
    await record((state) => useUpNonce(state, { nonce, detail, landed, now }));
  } else if (fate.kind === 'dead') {
    const { reason, detail, landed } = fate.proof;
    if (reason === 'nonceUsed' && (await isSignedSince(deps, account, nonce, sent))) return;
    const decide = reason === 'nonceUsed' ? reportTaken : useUpNonce;
    await record((state) => decide(state, { nonce, detail, landed, proven: true, now }));
  } else if (!(fate.kind === 'pending' && fate.mined)) await push(deps, account, cancelled);
}

/** The attempts and the cancels that share a nonce. */
async function recordedWith(
  { owners, rail }: Pick<TendDeps, 'owners' | 'rail'>,
  account: string,
  cancelled: Cancelled,
): Promise<readonly Sent[]> {
  const { nonce, purpose } = cancelled;
  const attempts = purpose ? await attemptsWith(owners, keyOf(purpose.reference), { account, nonce }) : [];
  return [...attempts, ...cancelsOf(cancelled, rail.chainId, account)];
}

/** Whether more is recorded under the nonce than the chain was asked about: that is no stranger's, and the next round asks about it too. */
async function isSignedSince(deps: TendDeps, account: string, nonce: bigint, asked: readonly Sent[]): Promise<boolean> {
  const cancelled = (await stateOf(deps, account)).cancelled.find((each) => each.nonce === nonce);
  const recorded = cancelled ? await recordedWith(deps, account, cancelled) : [];
  return recorded.some(({ hash }) => !asked.some((known) => known.hash === hash));
}

/** Sends the latest cancel again, or one that outbids it. */
async function push(deps: TendDeps, account: string, { nonce, signed }: Cancelled): Promise<void> {
  const last = signed.at(-1);
  const bytes = last?.bytes ?? null;
  const patience_ms = Math.min(outbidAfter_ms * 2 ** (signed.length - 1), outbidAfterMax_ms);
  const late = !last || bytes === null || epochMs(deps.clock.now()) - epochMs(last.signedAt) > patience_ms;
  if (late && signed.length < cancelsMax) {
    const outbid = last?.fee ? { fee: { ...last.fee } } : undefined;
    const outbidding = deps.inTurn(() => cancel(deps, account, nonce, `cancel nonce ${nonce}`, outbid));
    const done = await outbidding.catch((error) => {
      // What is too dear to outbid may still land as it is.
      if (!(error instanceof PayoutBlocked) || bytes === null) throw error;
      return false;
    });
    if (done) return;
  }
  if (bytes !== null) await deps.rail.broadcast(bytes);
}

/**
 * Whether the transfer that holds a nonce will not use it, or not soon: it is over or on hold, its attempts are spent, or it goes through
 * another account. (That happens when its account was not configured for a while, or when two instances that were configured differently
 * chose an account each.)
 */
async function isNeedless(
  { owners }: TendDeps,
  { nonce, purpose: { kind, reference, ordinal } }: Assignment,
  { numbering: { account }, accounts }: Chosen,
): Promise<boolean> {
  const key = keyOf(reference);
  // What has no owner here may be needed by whoever numbered it.
  if (!owners[key.kind]) return false;
  const outgoing = await loadFrom(owners, key);
  if (!outgoing) return moneyLeaves(kind);
  const { leg, step } = outgoing;
  const landing = leg.attempts.filter(canLand).map(({ signed }) => signed);
  if (landing.length > 0) return !landing.some((each) => each.account === account && each.nonce === nonce.toString());
  if (step.do !== 'sign' || isSpent(leg)) return true;
  return numberingAccountFor(accounts, reference)?.account !== account || noncesUsedUp(leg) + 1 !== ordinal;
}

// Looks after nonces that were handed out on one chain: none may stay outstanding, for all later ones wait for it.

export interface NoncesDeps extends Omit<AnyTendDeps, 'failed'> {
  readonly alarm: (reason: string, facts: Readonly<Record<string, unknown>>, message: string) => void;
  /** Of the worker. Default: that of the chain's payouts. */
  readonly name?: string;
}

const round_ms = 5_000;

export const noncesWorkerName = (chainId: ChainId): string => `nonces:${chainId}`;

export function noncesWorker(deps: NoncesDeps): Worker<ChainId> {
  const { rail, clock, alarm } = deps;
  const { chainId } = rail;
  const alarmedAt = boundedTimes();
  let next_ms = 0;

  return {
    name: deps.name ?? noncesWorkerName(chainId),
    concurrency: 1,
    async due(_, now) {
      if (epochMs(now) < next_ms) return [];
      next_ms = epochMs(now) + round_ms;
      return [chainId];
    },
    keyOf: String,
    async act(_, signal) {
      const failures: unknown[] = [];
      const note = (nonce: Pick<Trouble, 'account' | 'nonce'>, error: unknown) => {
        if (error instanceof PayoutBlocked) tell({ ...nonce, reason: error.reason, message: error.message });
        else failures.push(error);
      };
      const trouble = await tendNonces({ ...deps, failed: note }, signal);
      trouble.forEach(tell);
      const [failure] = failures;
      if (failure !== undefined) throw failure;
    },
  };

  /** Said again as often as it takes to be stuck. */
  function tell({ account, nonce, reason, message }: Omit<Trouble, 'reason'> & { readonly reason: string }): void {
    const key = `${reason} ${account} ${nonce}`;
    const now_ms = epochMs(clock.now());
    if (now_ms - (alarmedAt.get(key) ?? Number.NEGATIVE_INFINITY) < stuckAfter_ms) return;
    alarmedAt.set(key, now_ms);
    alarm(reason, { chainId, account, nonce: nonce.toString() }, message);
  }
}
