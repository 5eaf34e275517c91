import { type By, currentState, type Handle, type Handled } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { type Decision, isRefusal, type Refusal } from '../../../domain/decider.ts';
import type { TreasuryEvent } from '../../../domain/treasury/events.ts';
import {
  explainNonces,
  openTreasury,
  pausePayouts as pause,
  resumePayouts as resume,
} from '../../../domain/treasury/nonces.ts';
import { type TreasuryState, treasury, treasuryInstance } from '../../../domain/treasury/state.ts';
import { firstNonceOf, type OpeningRail } from '../payouts/numberingAccounts.ts';

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

export const resumePayouts = ({ handle, clock }: Deps, account: TreasuryAccount, by: By): Outcome =>
  handle(treasury, instanceOf(account), (state) => resume(state, clock.now()), { ...by, appId: null });

/**
 * Stops signing for the account, including purposes with a nonce. Recorded bytes are still sent. If nothing was paid yet, as far as the log
 * knows, its history begins with the pause: only then nodes are queried, so an outage of theirs never prevents a pause.
 *
 * Crash before the append: nothing has happened. Transactions mined between answer and append leave the log behind, and nothing is signed.
 * @throws Unavailable while nodes disagree about the start of the history
 */
export async function pausePayouts({ handle, clock }: Deps, rail: OpeningRail, reason: string, by: By): Outcome {
  const { chainId, account } = rail;
  const { opened } = await loadTreasury(handle, rail);
  const minedNonce = opened ? 0n : await firstNonceOf(rail);
  const decide = (state: TreasuryState): Decision<TreasuryEvent> => {
    const now = clock.now();
    const opening = openTreasury(state, { chainId, account, minedNonce, now });
    if (isRefusal(opening)) return opening;
    const paused = pause(opening.reduce(treasury.evolve, state), reason, now);
    return isRefusal(paused) ? paused : [...opening, ...paused];
  };
  return await handle(treasury, instanceOf(rail), decide, { ...by, appId: null });
}

/** Resumes the account after unknown transactions used its nonces: an operator has explained them. */
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

/** Current state of the account in the log. */
export const loadTreasury = (handle: Handle, account: TreasuryAccount): Promise<TreasuryState> =>
  currentState(handle, treasury, instanceOf(account));
