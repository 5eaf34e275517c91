/** The accounts whose nonces number payouts: which one takes a payment, whether it may, how a nonce is taken, and how one that nobody needs is used up. */
import { hash } from 'node:crypto';
import { assert, type Decision, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import type { SignedAttempt } from '../domain/payment/events.ts';
import { paymentDecider } from '../domain/payment/state.ts';
import { canLand, noncesUsedUp, type TransferLeg } from '../domain/payment/transfer.ts';
import type { Instant } from '../domain/time.ts';
import {
  assignNonce,
  behindChain,
  cancelNonce,
  nonceOf,
  openTreasury,
  type Purpose,
  type TreasuryEvent,
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

interface NonceDeps extends Pick<Deps, 'handle' | 'clock'> {
  readonly rail: PayoutRail;
  readonly signer: Signer;
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

/** The account that numbers a transfer, and all those of which it was chosen. */
interface Chosen {
  readonly numbering: NumberingAccount;
  readonly accounts: readonly NumberingAccount[];
}

/**
 * Takes the account's next nonce for a purpose, or finds the one that the purpose has already. What holds up the nonces after it is used
 * up by the way.
 */
export async function takeNonce(deps: NonceDeps, chosen: Chosen, purpose: Purpose): Promise<bigint | Refusal> {
  const { handle, clock, rail } = deps;
  const { numbering, accounts } = chosen;
  const closed = await admit(deps, numbering, accounts);
  if (closed) return closed;
  const handled = await handle(
    treasury,
    treasuryInstance(rail.chainId, numbering.account),
    (state) => assign(state, { rail, purpose, numbering, now: clock.now() }),
    { cause: `worker:payouts ${purpose.reference}`, appId: null },
  );
  if (isRefusal(handled)) return handled;
  const nonce = nonceOf(handled.state, purpose);
  assert(nonce !== null, 'an assigned nonce is found by its purpose');
  await keepMoving(deps, chosen, handled.state);
  return nonce;
}

function assign(
  state: TreasuryState,
  { rail, purpose, numbering, now }: { rail: PayoutRail; purpose: Purpose; numbering: NumberingAccount; now: Instant },
): Decision<TreasuryEvent> {
  const { chainId } = rail;
  const { account, minedNonce } = numbering;
  const opening = openTreasury(state, { chainId, account, minedNonce, now });
  if (isRefusal(opening)) return opening;
  const opened = opening.reduce(treasury.evolve, state);
  const assigned = assignNonce(opened, { purpose, minedNonce, now });
  return isRefusal(assigned) ? assigned : [...opening, ...assigned];
}

/** Uses up the account's next nonce if nobody will: all later ones wait for it. */
async function keepMoving(deps: NonceDeps, chosen: Chosen, state: TreasuryState): Promise<void> {
  const { numbering } = chosen;
  await fillGap(deps, numbering, state);
  const holder = state.assigned.find(({ nonce }) => nonce === numbering.minedNonce)?.purpose;
  if (!holder || !deps.rail.numberingAccounts || !(await nonceIsAbandoned(deps, holder, numbering.minedNonce, chosen)))
    return;
  await releaseNonce(deps, numbering, holder);
}

/**
 * Refuses to number a transfer while the treasury is paused, and, before the account's first use, while the log seems not to know all
 * that was paid. (After its first use the account's own nonce shows that.) Without this check, a payment that an old copy of the log
 * takes for unpaid could be paid again through an account that was added since.
 *
 * The treasury's own stream is opened with the first use of any account, so that it can be paused.
 */
async function admit(
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
async function nonceIsAbandoned(
  { handle }: Pick<Deps, 'handle'>,
  { kind, reference, ordinal }: Purpose,
  nonce: bigint,
  { numbering, accounts }: Chosen,
): Promise<boolean> {
  if (kind !== 'payout') return false;
  const leg = (await currentState(handle, paymentDecider, reference))?.payout;
  if (!leg) return true;
  const attempt = canLandOf(leg);
  if (attempt) return attempt.account !== numbering.account || attempt.nonce !== String(nonce);
  return numberingAccountFor(accounts, reference)?.account !== numbering.account || noncesUsedUp(leg) + 1 !== ordinal;
}

const canLandOf = (leg: TransferLeg): SignedAttempt | undefined => leg.attempts.findLast(canLand)?.signed;

/**
 * Takes the nonce from a purpose that cannot be signed now and has no live attempt; later the purpose gets another nonce. (A nonce whose
 * transfer cannot be sent holds up every later one of its account: a transaction that does nothing uses it up.) Should somebody sign
 * with the nonce at this moment, one of the two transactions lands and the other is proven dead by it.
 *
 * Crash after the append: the nonce belongs to nobody and is unused. `fillGap` uses it up when the next one is asked for.
 */
export async function releaseNonce(
  deps: NonceDeps,
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
async function fillGap(
  deps: NonceDeps,
  { account, minedNonce }: NumberingAccount,
  { nextNonce, assigned }: TreasuryState,
): Promise<void> {
  if (nextNonce === null || minedNonce >= nextNonce || assigned.some(({ nonce }) => nonce === minedNonce)) return;
  const { bytes } = await signCancel(deps, account, minedNonce);
  await deps.rail.broadcast(bytes);
}

async function signCancel({ rail, signer }: NonceDeps, account: string, nonce: bigint): Promise<Signed> {
  const unsigned = await rail.prepareCancel(nonce, account);
  return signer.sign(unsigned, { kind: 'cancel', reference: `nonce ${nonce}` });
}
