/** Chooses the account whose nonce numbers a payment's transfer, and checks the treasury's other accounts before it does. */
import { hash } from 'node:crypto';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import type { SignedAttempt } from '../domain/payment/events.ts';
import { paymentDecider } from '../domain/payment/state.ts';
import { canLand, noncesUsedUp, type TransferLeg } from '../domain/payment/transfer.ts';
import {
  behindChain,
  openTreasury,
  type Purpose,
  type TreasuryState,
  treasury,
  treasuryInstance,
  whilePaused,
} from '../domain/treasury.ts';
import type { NumberingAccount, PayoutRail } from './chainPorts.ts';
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
  const opened = await handle(treasury, treasuryInstance(chainId, account), decide, { cause: 'payouts', appId: null });
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
