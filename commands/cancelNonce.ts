/** A nonce whose transfer cannot be sent holds up every later one of its account: a transaction that does nothing uses it up. */
import { isRefusal } from '../domain/decider.ts';
import {
  cancelNonce,
  nonceOf,
  type Purpose,
  type TreasuryState,
  treasury,
  treasuryInstance,
} from '../domain/treasury.ts';
import type { NumberingAccount, PayoutRail, Signed, Signer } from './chainPorts.ts';
import { currentState, type Handle } from './handle.ts';
import type { Clock } from './ports.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly rail: PayoutRail;
  readonly signer: Signer;
}

/**
 * Takes its nonce from a purpose that has one, no live attempt, and cannot be signed now; later it gets another. Should somebody sign
 * with the nonce at this moment, one of the two transactions lands and the other is proven dead by it.
 *
 * Crash after the append: the nonce is nobody's and unused, and `fillGap` uses it up when the next one is asked for.
 */
export async function releaseNonce(
  deps: Deps,
  { account, minedNonce }: NumberingAccount,
  purpose: Purpose,
): Promise<void> {
  const { handle, clock, rail } = deps;
  const instance = treasuryInstance(rail.chainId, account);
  const nonce = nonceOf(await currentState(handle, treasury, instance), purpose);
  if (nonce === null || nonce < minedNonce) return;
  const { hash, bytes } = await signCancel(deps, account, nonce);
  const cause = `cancel ${purpose.kind} ${purpose.reference}`;
  const decide = (state: TreasuryState) => cancelNonce(state, { nonce, hash, now: clock.now() });
  const cancelled = await handle(treasury, instance, decide, { cause, appId: null });
  if (!isRefusal(cancelled)) await rail.broadcast(bytes);
}

/** Uses up the account's next nonce when it was handed out before and is nobody's any more. Sending it again changes nothing. */
export async function fillGap(
  deps: Deps,
  { account, minedNonce }: NumberingAccount,
  { nextNonce, assigned }: TreasuryState,
): Promise<void> {
  if (nextNonce === null || minedNonce >= nextNonce || assigned.some(({ nonce }) => nonce === minedNonce)) return;
  const { bytes } = await signCancel(deps, account, minedNonce);
  await deps.rail.broadcast(bytes);
}

async function signCancel({ rail, signer }: Deps, account: string, nonce: bigint): Promise<Signed> {
  const unsigned = await rail.prepareCancel(nonce, account);
  return signer.sign(unsigned, { kind: 'cancel', reference: `nonce ${nonce}` });
}
