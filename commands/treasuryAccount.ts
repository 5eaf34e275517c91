import type { ChainId } from '../domain/chains.ts';
import type { Refusal } from '../domain/decider.ts';
import { explainNonces, pausePayouts as pause, resumePayouts as resume } from '../domain/treasury/objections.ts';
import { type TreasuryState, treasury, treasuryInstance } from '../domain/treasury/state.ts';
import { type By, currentState, type Handle, type Handled } from './handle.ts';
import type { Clock } from './ports.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
}

/** A treasury account on one chain. */
export interface TreasuryAccount {
  readonly chainId: ChainId;
  readonly account: string;
}

type Outcome = Promise<Handled<TreasuryState> | Refusal>;

const instanceOf = ({ chainId, account }: TreasuryAccount): string => treasuryInstance(chainId, account);

/** Stops signing for the account, also for what has its nonce. What is recorded is still sent. */
export const pausePayouts = ({ handle, clock }: Deps, account: TreasuryAccount, reason: string, by: By): Outcome =>
  handle(treasury, instanceOf(account), (state) => pause(state, reason, clock.now()), { ...by, appId: null });

export const resumePayouts = ({ handle, clock }: Deps, account: TreasuryAccount, by: By): Outcome =>
  handle(treasury, instanceOf(account), (state) => resume(state, clock.now()), { ...by, appId: null });

/** The account goes on though transactions used its nonces that the log does not know of: an operator knows them. */
export const explainNoncesOf = (
  { handle, clock }: Deps,
  account: TreasuryAccount,
  { minedNonce, reason }: { readonly minedNonce: bigint; readonly reason: string },
  by: By,
): Outcome =>
  handle(treasury, instanceOf(account), (state) => explainNonces(state, { minedNonce, reason, now: clock.now() }), {
    ...by,
    appId: null,
  });

/** The account as the log has it now. */
export const loadTreasury = (handle: Handle, account: TreasuryAccount): Promise<TreasuryState> =>
  currentState(handle, treasury, instanceOf(account));
