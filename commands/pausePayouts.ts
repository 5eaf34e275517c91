import type { ChainId } from '../domain/chains.ts';
import type { Refusal } from '../domain/decider.ts';
import * as treasuries from '../domain/treasury.ts';
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

type Outcome = Promise<Handled<treasuries.TreasuryState> | Refusal>;

const instanceOf = ({ chainId, account }: TreasuryAccount): string => treasuries.treasuryInstance(chainId, account);

/** Stops signing for the account, also for what has its nonce. What is signed already is still sent. */
export const pausePayouts = ({ handle, clock }: Deps, account: TreasuryAccount, reason: string, by: By): Outcome =>
  handle(treasuries.treasury, instanceOf(account), (state) => treasuries.pausePayouts(state, reason, clock.now()), {
    ...by,
    appId: null,
  });

export const resumePayouts = ({ handle, clock }: Deps, account: TreasuryAccount, by: By): Outcome =>
  handle(treasuries.treasury, instanceOf(account), (state) => treasuries.resumePayouts(state, clock.now()), {
    ...by,
    appId: null,
  });

/** The account as the log has it now. */
export const loadTreasury = (handle: Handle, account: TreasuryAccount): Promise<treasuries.TreasuryState> =>
  currentState(handle, treasuries.treasury, instanceOf(account));
