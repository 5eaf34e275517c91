/** Checks that the log, as this signer reads it, orders a transfer, and that its money exists at this signer's own nodes. */
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
import { type SigningRequest, write } from './protocol.ts';

export interface ProvenOrder {
  /** True if it moves money out: only then two of its signatures must not both land. */
  readonly movesAway: boolean;
  /** Payment and incoming transfers that fund it; null if none do. */
  readonly funding: ProvenFunding | null;
  /** @returns a second check for right before the signature. @throws PayoutBlocked, SigningRefused if the money is missing */
  prove(signal: AbortSignal): Promise<StillFunded>;
}

export interface ProvenFunding {
  readonly paymentId: string;
  /** Chain and token of the received money; amounts are in its smallest units. */
  readonly asset: string;
  /** Amount that the transfer uses. */
  readonly amount: bigint;
  /** The signer's own nodes prove each before anything is signed. */
  readonly came: readonly { readonly transferId: string; readonly amount: bigint }[];
}

export interface Orders {
  /**
   * @param step a signature has its own nonce; a check may have one that nobody holds yet
   * @throws SigningRefused for anything that the log does not order exactly
   */
  of(asked: SigningRequest, step: 'check' | 'sign'): Promise<ProvenOrder>;
}

/** Funding of transfers of one kind, and its proof. */
export type ProveBacking = (key: TransferKey, outgoing: Outgoing) => Promise<Omit<ProvenOrder, 'movesAway'>>;

export interface OrdersDeps {
  /** Reads the service's log. */
  readonly handle: Handle;
  readonly owners: TransferOwners;
  readonly backing: ProveBacking;
  /** The treasury's own account on a chain, whichever accounts number its transfers. */
  readonly accountOn: (chainId: ChainId) => string | undefined;
}

export function createOrders({ handle, owners, backing, accountOn }: OrdersDeps): Orders {
  const stateOf = (chainId: ChainId, account: string): Promise<TreasuryState> =>
    currentState(handle, treasury, treasuryInstance(chainId, account));

  /** A numbering account signs nothing while it or the treasury itself is paused, and only for the purpose with the nonce. */
  async function treasuryOf({ chainId, account }: Unsigned): Promise<TreasuryState> {
    const state = await stateOf(chainId, account);
    const own = accountOn(chainId) ?? account;
    const paused = whilePaused(own === account ? state : await stateOf(chainId, own));
    const objection = paused ?? objectionTo(state);
    if (objection) throw notOrdered(objection.message);
    return state;
  }

  async function cancel({ unsigned, purpose }: SigningRequest): Promise<ProvenOrder> {
    const { assigned, cancelled } = await treasuryOf(unsigned);
    const { nonce } = unsigned;
    // With a transfer's reference it would replace that transfer in the limits.
    if (purpose.reference !== cancelReference(nonce)) throw notOrdered(`${purpose.reference} is no cancel's reference`);
    if (![...assigned, ...cancelled].some((each) => each.nonce === nonce))
      throw notOrdered(`nonce ${nonce} of ${unsigned.account} was given to nobody: there is nothing to cancel`);
    return { movesAway: false, funding: null, prove: async () => async () => {} };
  }

  async function transfer({ unsigned, purpose }: SigningRequest, step: 'check' | 'sign'): Promise<ProvenOrder> {
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
 * A check before a nonce is assigned has one that nobody can hold. A signature has the purpose's own, or that of the attempt that it
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

/** Exact comparison: earlier signatures and limits are found by the reference, and `refund-01` differs from `refund-1`. */
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
