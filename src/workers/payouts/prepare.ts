/**
 * What is signed of a transfer, made so that its chain is asked before its turn, of many transfers at a time; in turn the log alone is asked.
 */

import type { StillFunded } from '../../../commands/outgoing.ts';
import {
  PayoutBlocked,
  type PayoutRail,
  type Signer,
  type SigningPurpose,
  SigningRefused,
  type TransferOrder,
  type Unsigned,
} from '../../../commands/transferPorts.ts';
import { isRefusal, type Refusal } from '../../../domain/decider.ts';
import { epochMs } from '../../../domain/time.ts';
import type { AssetRef } from '../../../domain/transfer/shapes.ts';
import { allowTransfer } from '../../../domain/treasury/nonces.ts';
import { outstandingMax, treasury, treasuryInstance } from '../../../domain/treasury/state.ts';
import { releaseNonce } from './cancels.ts';
import {
  busyAsSeen,
  type Chosen,
  causeOf,
  hasNonce,
  type NumberingDeps,
  numberingAccountFor,
  numberingAccountsOf,
  refusalToNumber,
  spokenFor,
  takeNonce,
  type Wanted,
} from './numberingAccounts.ts';

export interface PrepareDeps extends NumberingDeps {
  readonly rail: PayoutRail;
  readonly signer: Signer;
  /** Asked, no longer ago than `shownFor_ms`, before a nonce is taken or, where there is none, before a signature. @throws PayoutBlocked when the money has left */
  readonly stillFunded: StillFunded;
  /** Where there are no nonces: what other transfers that are signed and not settled take of an asset, in smallest units. */
  readonly unsettled: (token: AssetRef, but: string) => Promise<bigint>;
  /** How often an account that has no nonce to give is looked at while prepared transfers wait for one. */
  readonly look_ms: number;
}

/** What is wanted, and for whom it is signed. */
export type Signing = Wanted & { readonly signing: SigningPurpose };

/** A transfer of which its chain has been asked all. */
export interface Prepared {
  /** Null where the chain has no nonces. */
  readonly chosen: Chosen | null;
  readonly unsigned: Unsigned;
  /** When it was asked for whether the money behind it is there. */
  readonly shownAt_ms: number;
}

/** So long the money behind a transfer counts as shown while it waits for its turn; after that it is asked for again. */
const shownFor_ms = 2_000;
/** After so long all is asked again: fees have moved on. */
const preparedFor_ms = 15_000;

/**
 * Prepares a transfer that has no nonce yet, beside others that do the same: what it will take is reserved.
 * @returns null where it has to be done in turn: it may have a nonce, which it gives back when it cannot be made
 * @throws PayoutBlocked
 */
export async function prepareBefore(
  deps: PrepareDeps,
  wanted: Signing,
  order: TransferOrder,
  signal: AbortSignal,
): Promise<Prepared | Refusal | null> {
  const chosen = (await chosenFor(deps, wanted, signal)) ?? null;
  const refusal = chosen ? await refusalToNumber(deps, chosen, wanted) : await refusalWithoutNonce(deps, wanted);
  if (refusal && !mayWait(deps, wanted, refusal)) return refusal;
  if (chosen && hasNonce(deps, chosen, wanted)) return null;
  const shownAt_ms = epochMs(deps.clock.now());
  const preparing = chosen ? prepareUnder(deps, order, chosen, wanted) : prepareWithoutNonce(deps, order, wanted);
  const showing = deps.stillFunded();
  showing.catch(() => {});
  // In this order: what the account lacks is said first.
  const unsigned = await preparing;
  await showing;
  return { chosen, unsigned, shownAt_ms };
}

/** @returns what is to be signed, under its nonce. What waited too long for its turn is prepared anew. */
export function numberInTurn(
  deps: PrepareDeps,
  {
    prepared,
    order,
    wanted,
  }: { readonly prepared: Prepared | null; readonly order: TransferOrder; readonly wanted: Signing },
  signal: AbortSignal,
): Promise<Unsigned | Refusal> {
  return prepared && isFresh(deps, prepared, preparedFor_ms)
    ? numberPrepared(deps, prepared, wanted)
    : numbered(deps, wanted, order, signal);
}

/**
 * Waits until the account of a transfer that is prepared has a nonce to give, as long as what was prepared is good.
 * @returns whether it is to ask for one again
 */
export async function nonceComes(
  deps: PrepareDeps,
  { prepared, wanted, refusal }: { readonly prepared: Prepared; readonly wanted: Signing; readonly refusal: Refusal },
  signal: AbortSignal,
): Promise<boolean> {
  const { memory, clock, look_ms } = deps;
  if (!mayWait(deps, wanted, refusal)) return false;
  for (let looks = 0; looks < preparedFor_ms / look_ms; looks += 1) {
    // One look serves all who wait.
    memory.looking ??= clock
      .sleep(look_ms, signal)
      .then(() => numberingAccountsOf(deps, signal))
      .finally(() => {
        memory.looking = null;
      });
    const seen = await memory.looking.catch(() => null);
    if (seen === null || signal.aborted || !isFresh(deps, prepared, preparedFor_ms)) return false;
    if (!busyAsSeen(deps, wanted)) return true;
  }
  return false;
}

/** As many wait as can have a nonce at a time: it is theirs as soon as it is free. The others are left alone until then. */
function mayWait({ memory: { waiting } }: PrepareDeps, { purpose }: Wanted, { refused }: Refusal): boolean {
  if (refused !== 'treasuryBusy') return false;
  if (waiting.size < outstandingMax) waiting.add(purpose.reference);
  return waiting.has(purpose.reference);
}

/** In turn: the signer, who counts what others had signed meanwhile, says yes before the nonce is taken. */
async function numberPrepared(deps: PrepareDeps, prepared: Prepared, wanted: Signing): Promise<Unsigned | Refusal> {
  const { unsigned } = prepared;
  if (!prepared.chosen) {
    if (!isFresh(deps, prepared, shownFor_ms)) await deps.stillFunded();
    // Payouts may have been paused meanwhile.
    return (await refusalWithoutNonce(deps, wanted)) ?? unsigned;
  }
  const chosen = asSeenSince(deps, prepared.chosen);
  // What is remembered may say that it gets a nonce and be wrong; that all are taken it says rightly.
  const refusal = busyAsSeen(deps, wanted) ?? (await refusalToNumber(deps, chosen, wanted));
  if (refusal) return refusal;
  await deps.signer.check(deps.rail.numbered(unsigned, nobodysNonce(chosen)), wanted.signing);
  if (!isFresh(deps, prepared, shownFor_ms)) await deps.stillFunded();
  const nonce = await takeNonce(deps, chosen, wanted);
  return isRefusal(nonce) ? nonce : deps.rail.numbered(unsigned, nonce);
}

/** What was mined while it was prepared and waited leaves room for its nonce: others have asked since. */
function asSeenSince({ memory }: Pick<PrepareDeps, 'memory'>, { numbering, accounts }: Chosen): Chosen {
  const seen = memory.accounts.find(({ account }) => account === numbering.account);
  if (!seen || seen.minedNonce <= numbering.minedNonce) return { numbering, accounts };
  return { numbering: { ...numbering, minedNonce: seen.minedNonce }, accounts };
}

const isFresh = ({ clock }: Pick<PrepareDeps, 'clock'>, { shownAt_ms }: Prepared, for_ms: number): boolean =>
  epochMs(clock.now()) - shownAt_ms <= for_ms;

async function chosenFor(deps: PrepareDeps, { purpose }: Wanted, signal: AbortSignal): Promise<Chosen | undefined> {
  const accounts = await numberingAccountsOf(deps, signal);
  const numbering = numberingAccountFor(accounts, purpose.reference);
  return numbering && { numbering, accounts };
}

/**
 * The transfer under the purpose's own nonce, or under the account's next.
 *
 * The transfer is prepared and checked before the nonce is taken: a nonce taken for what cannot be sent would block the account.
 * Between the nonce and the signature the chain is not asked about the transfer again.
 */
async function numbered(
  deps: PrepareDeps,
  wanted: Signing,
  order: TransferOrder,
  signal: AbortSignal,
): Promise<Unsigned | Refusal> {
  const chosen = await chosenFor(deps, wanted, signal);
  if (!chosen) return withoutNonce(deps, order, wanted);
  const refusal = await refusalToNumber(deps, chosen, wanted);
  if (refusal) return refusal;
  const prepared = await prepareFor(deps, order, chosen, wanted);
  await deps.stillFunded();
  const nonce = await takeNonce(deps, chosen, wanted);
  return isRefusal(nonce) ? nonce : deps.rail.numbered(prepared, nonce);
}

/** A nonce that it has goes back when it cannot be made now. */
async function prepareFor(deps: PrepareDeps, order: TransferOrder, chosen: Chosen, wanted: Signing): Promise<Unsigned> {
  try {
    const prepared = await prepareUnder(deps, order, chosen, wanted);
    await deps.signer.check(prepared, wanted.signing);
    return prepared;
  } catch (error) {
    if (holdsUpOthers(error)) await releaseNonce(deps, chosen.numbering, wanted.purpose);
    throw error;
  }
}

/** The signer counts by nonce: under one that somebody holds, that one's own amount would be hidden. */
const nobodysNonce = ({ numbering: { minedNonce } }: Chosen): bigint => minedNonce + BigInt(outstandingMax);

async function prepareUnder(
  deps: PrepareDeps,
  order: TransferOrder,
  chosen: Chosen,
  wanted: Wanted,
): Promise<Unsigned> {
  const whole = { ...order, spokenFor: await spokenFor(deps, chosen, wanted) };
  return deps.rail.prepare(whole, nobodysNonce(chosen), undefined, chosen.numbering.account);
}

/** All of it in turn, where it waited too long for it. */
async function withoutNonce(deps: PrepareDeps, order: TransferOrder, wanted: Wanted): Promise<Unsigned | Refusal> {
  const refusal = await refusalWithoutNonce(deps, wanted);
  if (refusal) return refusal;
  const prepared = await prepareWithoutNonce(deps, order, wanted);
  await deps.stillFunded();
  // The chain was asked meanwhile: payouts may have been paused.
  return (await refusalWithoutNonce(deps, wanted)) ?? prepared;
}

/** An account without nonces is opened and paused all the same. */
async function refusalWithoutNonce(
  { handle, rail, clock }: Pick<PrepareDeps, 'handle' | 'rail' | 'clock'>,
  { purpose }: Wanted,
): Promise<Refusal | undefined> {
  const { chainId, account } = rail;
  const allowed = await handle(
    treasury,
    treasuryInstance(chainId, account),
    (state) => allowTransfer(state, { chainId, account, now: clock.now() }),
    { cause: causeOf(purpose), appId: null },
  );
  return isRefusal(allowed) ? allowed : undefined;
}

async function prepareWithoutNonce(
  { rail, memory, unsettled }: PrepareDeps,
  order: TransferOrder,
  { purpose, moves }: Wanted,
): Promise<Unsigned> {
  // Before those are looked at that are signed: what is signed by then counts twice, and not never.
  const others = memory.reserved.take(purpose.reference, moves.token, BigInt(moves.amount));
  const spokenFor = others + (await unsettled(order.token, purpose.reference));
  return rail.prepare({ ...order, spokenFor }, null, undefined, rail.account);
}

/** Without coin nothing can be sent at all, a cancel neither. */
const holdsUpOthers = (error: unknown): boolean =>
  error instanceof SigningRefused || (error instanceof PayoutBlocked && error.reason !== 'gas');
