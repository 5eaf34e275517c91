/**
 * Unneeded nonces: a transaction without effect uses them up, because all later ones of their account wait for them. It is handled like any
 * other: recorded before it is sent, resent, and outbid, until the nonce is used up for good.
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
  treasuryStateOf,
} from './numberingAccounts.ts';

export interface CancelDeps extends NumberingDeps {
  readonly rail: NumberedRail;
  readonly signer: Signer;
}

/** Age of an assigned nonce before its need is checked: a younger one may be about to be signed. */
const settling_ms = minute_ms;
/** Age after which an unmined cancel is outbid; each further one waits twice as long, up to an hour. */
const outbidAfter_ms = 90_000;
const outbidAfterMax_ms = 60 * minute_ms;

/**
 * Takes the nonce from a purpose that cannot be signed now and has no live attempt; later the purpose gets another nonce. If another
 * process signs with the nonce at this moment, one of the two transactions lands and proves the other dead.
 *
 * Crash after the append: the bytes are recorded, and `tendNonces` sends them.
 */
export async function releaseNonce(deps: CancelDeps, numbering: NumberingAccount, purpose: Purpose): Promise<void> {
  const nonce = nonceOf(await treasuryStateOf(deps, numbering.account), purpose);
  if (nonce === null || nonce < numbering.minedNonce) return;
  await cancel(deps, numbering.account, nonce, `cancel ${purpose.kind} ${purpose.reference}`);
}

/** Signs, records and sends. @param outbid fees of the last one. @returns false if nothing may be signed, or nothing needs to be */
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
 * Gives up a signed attempt that no node accepts: a cancel outbids it, so later nonces of the account can land. The one that lands proves
 * the other dead; then the transfer is signed again. `tendNonces` resends the cancel.
 * @returns false if nothing may be signed, or the nonce is cancelled already
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
    // Outbidding a transaction that no node has is too dear: at the current price it can land anyway.
    if (!(error instanceof PayoutBlocked)) throw error;
    return cancelling();
  });
}

export const isCancelled = async (
  deps: Pick<NumberingDeps, 'handle' | 'rail' | 'memory'>,
  account: string,
  nonce: bigint,
): Promise<boolean> => (await treasuryStateOf(deps, account)).cancelled.some((each) => each.nonce === nonce);

/** A nonce that needs an operator. */
export interface StuckNonce {
  readonly account: string;
  readonly nonce: bigint;
  /** It is outstanding for too long; or a transaction without a record has used it. */
  readonly reason: 'nonceStuck' | 'treasuryBehindChain';
  readonly message: string;
}

interface TendDeps extends CancelDeps {
  readonly owners: TransferOwners;
  /** Serializes signatures with the transfers of the same accounts. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Failure for one nonce; the others continue. */
  readonly failed: (nonce: Pick<StuckNonce, 'account' | 'nonce'>, error: unknown) => void;
}

/** For a rail of any kind: expiring transfers have no nonces to check. */
type AnyTendDeps = Omit<TendDeps, 'rail'> & { readonly rail: PayoutRail };

/**
 * Checks every assigned, unmined nonce: resends and outbids cancels until they are final, and takes back unneeded nonces.
 * @returns nonces that need an operator
 */
export async function tendNonces(
  { rail, ...others }: AnyTendDeps,
  signal: AbortSignal,
): Promise<readonly StuckNonce[]> {
  const accounts = await numberingAccountsOf({ ...others, rail }, signal);
  const tended = isNumbered(rail)
    ? accounts.map((numbering) => tendAccount({ ...others, rail }, { numbering, accounts }, signal))
    : [];
  return (await Promise.all(tended)).flat();
}

async function tendAccount(deps: TendDeps, chosen: Chosen, signal: AbortSignal): Promise<readonly StuckNonce[]> {
  const { account, minedNonce } = chosen.numbering;
  const state = await treasuryStateOf(deps, account);
  const trouble: StuckNonce[] = state.taken.map(({ nonce }) => {
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

/** Attempts and cancels that share a nonce. */
async function recordedWith(
  { owners, rail }: Pick<TendDeps, 'owners' | 'rail'>,
  account: string,
  cancelled: Cancelled,
): Promise<readonly Sent[]> {
  const { nonce, purpose } = cancelled;
  const attempts = purpose ? await attemptsWith(owners, keyOf(purpose.reference), { account, nonce }) : [];
  return [...attempts, ...cancelsOf(cancelled, rail.chainId, account)];
}

/**
 * True if more is recorded under the nonce than the chain was queried for: then a known transaction may have used it, and the next round
 * includes it.
 */
async function isSignedSince(deps: TendDeps, account: string, nonce: bigint, asked: readonly Sent[]): Promise<boolean> {
  const cancelled = (await treasuryStateOf(deps, account)).cancelled.find((each) => each.nonce === nonce);
  const recorded = cancelled ? await recordedWith(deps, account, cancelled) : [];
  return recorded.some(({ hash }) => !asked.some((known) => known.hash === hash));
}

/** Sends the latest cancel again, or a higher one. */
async function push(deps: TendDeps, account: string, { nonce, signed }: Cancelled): Promise<void> {
  const last = signed.at(-1);
  const bytes = last?.bytes ?? null;
  const patience_ms = Math.min(outbidAfter_ms * 2 ** (signed.length - 1), outbidAfterMax_ms);
  const late = !last || bytes === null || epochMs(deps.clock.now()) - epochMs(last.signedAt) > patience_ms;
  if (late && signed.length < cancelsMax) {
    const outbid = last?.fee ? { fee: { ...last.fee } } : undefined;
    const outbidding = deps.inTurn(() => cancel(deps, account, nonce, `cancel nonce ${nonce}`, outbid));
    const done = await outbidding.catch((error) => {
      // A cancel that is too dear to outbid may still land.
      if (!(error instanceof PayoutBlocked) || bytes === null) throw error;
      return false;
    });
    if (done) return;
  }
  if (bytes !== null) await deps.rail.broadcast(bytes);
}

/**
 * True if the transfer with the nonce will not use it soon: it is over or on hold, its attempts are used up, or another account numbers it.
 * (That happens if its account was not configured for a while, or if two differently configured instances each chose an account.)
 */
async function isNeedless(
  { owners }: TendDeps,
  { nonce, purpose: { kind, reference, ordinal } }: Assignment,
  { numbering: { account }, accounts }: Chosen,
): Promise<boolean> {
  const key = keyOf(reference);
  // A purpose without an owner here may be needed by its own process.
  if (!owners[key.kind]) return false;
  const outgoing = await loadFrom(owners, key);
  if (!outgoing) return moneyLeaves(kind);
  const { leg, step } = outgoing;
  const landing = leg.attempts.filter(canLand).map(({ signed }) => signed);
  if (landing.length > 0) return !landing.some((each) => each.account === account && each.nonce === nonce.toString());
  if (step.do !== 'sign' || isSpent(leg)) return true;
  return numberingAccountFor(accounts, reference)?.account !== account || noncesUsedUp(leg) + 1 !== ordinal;
}

// Checks the assigned nonces of one chain: none may stay outstanding, because all later ones wait for it.

export interface NoncesDeps extends Omit<AnyTendDeps, 'failed'> {
  readonly alarm: (reason: string, facts: Readonly<Record<string, unknown>>, message: string) => void;
  /** Name of the worker. Default: the worker of the chain's payouts. */
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
      const note = (nonce: Pick<StuckNonce, 'account' | 'nonce'>, error: unknown) => {
        if (error instanceof PayoutBlocked) tell({ ...nonce, reason: error.reason, message: error.message });
        else failures.push(error);
      };
      const trouble = await tendNonces({ ...deps, failed: note }, signal);
      trouble.forEach(tell);
      const [failure] = failures;
      if (failure !== undefined) throw failure;
    },
  };

  /** Repeated at the interval after which a nonce counts as stuck. */
  function tell({ account, nonce, reason, message }: Omit<StuckNonce, 'reason'> & { readonly reason: string }): void {
    const key = `${reason} ${account} ${nonce}`;
    const now_ms = epochMs(clock.now());
    if (now_ms - (alarmedAt.get(key) ?? Number.NEGATIVE_INFINITY) < stuckAfter_ms) return;
    alarmedAt.set(key, now_ms);
    alarm(reason, { chainId, account, nonce: nonce.toString() }, message);
  }
}
