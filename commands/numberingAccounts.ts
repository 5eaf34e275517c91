/** The accounts whose nonces number payouts: which one takes a payment, whether it may, and how a nonce that nobody needs is used up. */
import { hash } from 'node:crypto';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import type { SignedAttempt } from '../domain/payment/events.ts';
import { paymentDecider } from '../domain/payment/state.ts';
import { canLand, noncesUsedUp, type TransferLeg } from '../domain/payment/transfer.ts';
import {
  behindChain,
  cancelNonce,
  nonceOf,
  openTreasury,
  type Purpose,
  type TreasuryState,
  treasury,
  treasuryInstance,
  whilePaused,
} from '../domain/treasury.ts';
import type { NumberingAccount, PayoutRail, Signed, Signer } from './chainPorts.ts';
import { currentState, type Handle } from './handle.ts';
import type { Clock } from './ports.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly rail: Pick<PayoutRail, 'chainId' | 'account' | 'minedNonce' | 'numberingAccounts'>;
}

/** Empty where the chain has no nonces. */
export async function numberingAccountsOf(
  { rail }: Pick<Deps, 'rail'>,
  signal: AbortSignal,
): Promise<readonly NumberingAccount[]> {
  if (rail.numberingAccounts) return rail.numberingAccounts(signal);
  const minedNonce = await rail.minedNonce(signal);
  return minedNonce === null ? [] : [{ account: rail.account, minedNonce, unused: false }];
}

/**
 * Chooses the account that numbers a payment's transfer, the same one each time: a restart goes on with the nonce that was assigned.
 * An account that is added takes its share of all payments. One that is removed leaves its payments to the others. No other payment
 * changes its account (rendezvous hashing).
 */
export const numberingAccountFor = (
  accounts: readonly NumberingAccount[],
  paymentId: string,
): NumberingAccount | undefined =>
  accounts
    .map((numbering) => ({ numbering, weight: hash('sha256', `${numbering.account} ${paymentId}`) }))
    .toSorted((a, b) => (a.weight < b.weight ? 1 : -1))[0]?.numbering;

/**
 * Refuses to number a transfer while the treasury is paused, and, before the account's first use, while the log seems not to know all
 * that was paid. (After its first use the account's own nonce shows that.) Without this check, a payment that an old copy of the log
 * takes for unpaid could be paid again through an account that was added since.
 *
 * The treasury's own stream is opened with the first use of any account, so that it can be paused.
 */
export async function admit(
  deps: Deps,
  numbering: NumberingAccount,
  accounts: readonly NumberingAccount[],
): Promise<Refusal | undefined> {
  const { rail } = deps;
  if (!rail.numberingAccounts) return undefined;
  const own = accounts.find(({ account }) => account === rail.account);
  if (own && own !== numbering) {
    const closed = (await objectionTo(deps, own, accounts)) ?? (await open(deps, own));
    if (closed) return closed;
  }
  return objectionTo(deps, numbering, accounts);
}

async function objectionTo(
  deps: Deps,
  { account, unused }: NumberingAccount,
  accounts: readonly NumberingAccount[],
): Promise<Refusal | undefined> {
  if ((await stateOf(deps, account)).opened) return undefined;
  if (account !== deps.rail.account && !unused) {
    const message = `${account} has sent transactions that the log does not know: pay from a new account instead, or find out whether they were payouts`;
    return refuse('treasuryBehindChain', message);
  }
  const others = accounts.filter((other) => other.account !== account);
  const refusals = others.map(async (other) => behindChain(await stateOf(deps, other.account), other.minedNonce));
  return (await Promise.all(refusals)).find((refusal) => refusal !== undefined);
}

async function open(
  { handle, clock, rail }: Deps,
  { account, minedNonce }: NumberingAccount,
): Promise<Refusal | undefined> {
  const { chainId } = rail;
  const decide = (state: TreasuryState) =>
    whilePaused(state) ?? openTreasury(state, { chainId, account, minedNonce, now: clock.now() });
  const opened = await handle(treasury, treasuryInstance(chainId, account), decide, {
    cause: 'worker:payouts',
    appId: null,
  });
  return isRefusal(opened) ? opened : undefined;
}

const stateOf = ({ handle, rail }: Pick<Deps, 'handle' | 'rail'>, account: string): Promise<TreasuryState> =>
  currentState(handle, treasury, treasuryInstance(rail.chainId, account));

/**
 * Whether the payment that holds a nonce will never use it. That happens when its account was not configured for a while, or when two
 * instances that were configured differently chose an account each.
 */
export async function nonceIsAbandoned(
  { handle }: Pick<Deps, 'handle'>,
  { kind, reference, ordinal }: Purpose,
  nonce: bigint,
  { numbering, accounts }: { readonly numbering: NumberingAccount; readonly accounts: readonly NumberingAccount[] },
): Promise<boolean> {
  if (kind !== 'payout') return false;
  const leg = (await currentState(handle, paymentDecider, reference))?.payout;
  if (!leg) return true;
  const attempt = canLandOf(leg);
  if (attempt) return attempt.account !== numbering.account || attempt.nonce !== String(nonce);
  return numberingAccountFor(accounts, reference)?.account !== numbering.account || noncesUsedUp(leg) + 1 !== ordinal;
}

const canLandOf = (leg: TransferLeg): SignedAttempt | undefined => leg.attempts.findLast(canLand)?.signed;

export interface CancelDeps extends Pick<Deps, 'handle' | 'clock'> {
  readonly rail: PayoutRail;
  readonly signer: Signer;
}

/**
 * Takes the nonce from a purpose that cannot be signed now and has no live attempt; later the purpose gets another nonce. (A nonce whose
 * transfer cannot be sent holds up every later one of its account: a transaction that does nothing uses it up.) Should somebody sign
 * with the nonce at this moment, one of the two transactions lands and the other is proven dead by it.
 *
 * Crash after the append: the nonce belongs to nobody and is unused. `fillGap` uses it up when the next one is asked for.
 */
export async function releaseNonce(
  deps: CancelDeps,
  { account, minedNonce }: NumberingAccount,
  purpose: Purpose,
): Promise<void> {
  const { handle, clock, rail } = deps;
  const instance = treasuryInstance(rail.chainId, account);
  const nonce = nonceOf(await currentState(handle, treasury, instance), purpose);
  if (nonce === null || nonce < minedNonce) return;
  const { hash, bytes } = await signCancel(deps, account, nonce);
  const cause = `worker:payouts cancel ${purpose.kind} ${purpose.reference}` as const;
  const decide = (state: TreasuryState) => cancelNonce(state, { nonce, hash, now: clock.now() });
  const cancelled = await handle(treasury, instance, decide, { cause, appId: null });
  if (!isRefusal(cancelled)) await rail.broadcast(bytes);
}

/** Uses up the account's next nonce when it was handed out and then taken back. Sending it again changes nothing. */
export async function fillGap(
  deps: CancelDeps,
  { account, minedNonce }: NumberingAccount,
  { nextNonce, assigned }: TreasuryState,
): Promise<void> {
  if (nextNonce === null || minedNonce >= nextNonce || assigned.some(({ nonce }) => nonce === minedNonce)) return;
  const { bytes } = await signCancel(deps, account, minedNonce);
  await deps.rail.broadcast(bytes);
}

async function signCancel({ rail, signer }: CancelDeps, account: string, nonce: bigint): Promise<Signed> {
  const unsigned = await rail.prepareCancel(nonce, account);
  return signer.sign(unsigned, { kind: 'cancel', reference: `nonce ${nonce}` });
}
