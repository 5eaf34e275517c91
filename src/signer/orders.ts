/** Whether the log, as this signer reads it, orders a transfer, and whether its money is there for this signer's own nodes. */
import { currentState, type Handle } from '../../commands/handle.ts';
import {
  type Outgoing,
  type SigningPurpose,
  SigningRefused,
  type StillFunded,
  type TransferOrder,
  type TransferOwners,
  type Unsigned,
} from '../../commands/transferPorts.ts';
import type { ChainId } from '../../domain/chains.ts';
import { liveAttempts, noncesUsedUp } from '../../domain/transfer/leg.ts';
import { cancelReference, keyOf, moneyLeaves, type TransferKey } from '../../domain/transfer/shapes.ts';
import { nonceOf, objectionTo, whilePaused } from '../../domain/treasury/nonces.ts';
import { type TreasuryState, treasury, treasuryInstance } from '../../domain/treasury/state.ts';
import { type Asked, write } from './protocol.ts';

export interface Ordered {
  /** Whether it takes money away: only then its signatures must not land besides each other. */
  readonly movesAway: boolean;
  /** Which payment pays for it, and by which transfers that came in; null where none does. */
  readonly funding: Funding | null;
  /** @returns looks again right before the signature. @throws PayoutBlocked, SigningRefused when the money is not there for it */
  prove(signal: AbortSignal): Promise<StillFunded>;
}

export interface Funding {
  readonly paymentId: string;
  /** The chain and the token of what came in, in whose smallest units the amounts are. */
  readonly asset: string;
  /** What the transfer takes of it. */
  readonly amount: bigint;
  /** Each is shown by the signer's own nodes before anything is signed. */
  readonly came: readonly { readonly transferId: string; readonly amount: bigint }[];
}

export interface Orders {
  /**
   * @param step what is signed has its own nonce; what is only looked at may have one that nobody holds yet
   * @throws SigningRefused for what the log does not order just so
   */
  of(asked: Asked, step: 'check' | 'sign'): Promise<Ordered>;
}

/** Who pays for a transfer of one kind, and what proves it. */
export type Backing = (key: TransferKey, outgoing: Outgoing) => Promise<Omit<Ordered, 'movesAway'>>;

export interface OrdersDeps {
  /** Reads the service's log. */
  readonly handle: Handle;
  readonly owners: TransferOwners;
  readonly backing: Backing;
  /** The treasury's own account on a chain, whichever accounts number its transfers. */
  readonly accountOn: (chainId: ChainId) => string | undefined;
}

export function createOrders({ handle, owners, backing, accountOn }: OrdersDeps): Orders {
  const stateOf = (chainId: ChainId, account: string): Promise<TreasuryState> =>
    currentState(handle, treasury, treasuryInstance(chainId, account));

  /** A numbering account signs nothing while it or the treasury itself is paused, and for nobody but who has the nonce. */
  async function treasuryOf({ chainId, account }: Unsigned): Promise<TreasuryState> {
    const state = await stateOf(chainId, account);
    const own = accountOn(chainId) ?? account;
    const paused = whilePaused(own === account ? state : await stateOf(chainId, own));
    const objection = paused ?? objectionTo(state);
    if (objection) throw notOrdered(objection.message);
    return state;
  }

  async function cancel({ unsigned, purpose }: Asked): Promise<Ordered> {
    const { assigned, cancelled } = await treasuryOf(unsigned);
    const { nonce } = unsigned;
    // By a transfer's reference it would stand in the limits for what that takes.
    if (purpose.reference !== cancelReference(nonce)) throw notOrdered(`${purpose.reference} is no cancel's reference`);
    if (![...assigned, ...cancelled].some((each) => each.nonce === nonce))
      throw notOrdered(`nonce ${nonce} of ${unsigned.account} was given to nobody: there is nothing to cancel`);
    return { movesAway: false, funding: null, prove: async () => async () => {} };
  }

  async function transfer({ unsigned, purpose }: Asked, step: 'check' | 'sign'): Promise<Ordered> {
    const key = keyOf(purpose.reference);
    const outgoing = await owners[key.kind]?.load(key);
    if (!outgoing || !isPurpose(purpose, outgoing))
      throw notOrdered(`the log has no such ${purpose.kind}: ${purpose.reference}`);
    if (!isOrdered(unsigned.order, outgoing.leg.order))
      throw notOrdered(`the log orders another transfer for ${purpose.reference}: other receiver, token or amount`);
    const state = await treasuryOf(unsigned);
    checkStep(unsigned, outgoing, state, step);
    return { movesAway: moneyLeaves(purpose.kind), ...(await backing(key, outgoing)) };
  }

  return { of: (asked, step) => (asked.purpose.kind === 'cancel' ? cancel(asked) : transfer(asked, step)) };
}

/**
 * What is asked before a nonce is taken has one that nobody can hold. What is signed has the purpose's own, or that of the attempt that it
 * outbids.
 */
function checkStep(
  { account, nonce }: Unsigned,
  { leg, step, purpose }: Outgoing,
  state: TreasuryState,
  asked: 'check' | 'sign',
): void {
  const live = liveAttempts(leg).at(-1);
  if (step.do !== 'sign' && step.do !== 'order' && !live)
    throw notOrdered(`nothing is to be signed for ${purpose.reference} now (${step.do})`);
  if (nonce === null) {
    if (live) throw notOrdered(`attempt ${live.hash} of ${purpose.reference} can still land`);
    return;
  }
  if (live) {
    if (live.account === account && live.nonce === nonce.toString()) return;
    throw notOrdered(`attempt ${live.hash} of ${purpose.reference} can still land under nonce ${live.nonce}`);
  }
  const own = nonceOf(state, { ...purpose, ordinal: noncesUsedUp(leg) + 1 });
  const isFree = asked === 'check' && (state.nextNonce === null || nonce > state.nextNonce);
  if (own !== nonce && !isFree) throw notOrdered(`nonce ${nonce} of ${account} is not that of ${purpose.reference}`);
}

/** To the letter: what was signed before, and limits, are found by the reference, and `refund-01` would be another than `refund-1`. */
const isPurpose = ({ kind, reference, appId }: SigningPurpose, outgoing: Outgoing): boolean =>
  kind === outgoing.purpose.kind && reference === outgoing.purpose.reference && (appId ?? null) === outgoing.appId;

const isOrdered = (asked: TransferOrder, ordered: TransferOrder): boolean =>
  asked.chainId === ordered.chainId &&
  asked.token.address === ordered.token.address &&
  asked.token.symbol === ordered.token.symbol &&
  asked.token.decimals === ordered.token.decimals &&
  asked.receiver === ordered.receiver &&
  asked.receiverMemo === ordered.receiverMemo &&
  asked.amount === ordered.amount &&
  write(asked.form ?? null) === write(ordered.form ?? null);

export const notOrdered = (why: string): SigningRefused => new SigningRefused('notOrdered', why);
