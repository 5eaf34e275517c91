import type { ChainId } from '../domain/chains.ts';
import type { Refusal } from '../domain/decider.ts';
import {
  pausePayouts as decidePause,
  resumePayouts as decideResume,
  type TreasuryState,
  treasury,
  treasuryInstance,
} from '../domain/treasury.ts';
import type { Handle, Handled } from './handle.ts';
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

const operator = { cause: 'operator', appId: null };
const instanceOf = ({ chainId, account }: TreasuryAccount): string => treasuryInstance(chainId, account);

/** Stops signing for the account, also for what has its nonce. What is signed already is still sent. */
export const pausePayouts = ({ handle, clock }: Deps, account: TreasuryAccount, reason: string): Outcome =>
  handle(treasury, instanceOf(account), (state) => decidePause(state, reason, clock.now()), operator);

export const resumePayouts = ({ handle, clock }: Deps, account: TreasuryAccount): Outcome =>
  handle(treasury, instanceOf(account), (state) => decideResume(state, clock.now()), operator);

/** The account as the log has it now. */
export const loadTreasury = ({ handle }: Pick<Deps, 'handle'>, account: TreasuryAccount): Outcome =>
  handle(treasury, instanceOf(account), () => [], operator);
