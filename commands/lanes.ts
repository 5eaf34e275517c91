/** Which of the treasury's accounts numbers a payment's transfer, and what must hold of the others before it does. */
import { hash } from 'node:crypto';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import type { SignedAttempt } from '../domain/payment/events.ts';
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
import type { Lane, PayoutRail } from './chainPorts.ts';
import type { Handle } from './handle.ts';
import type { Clock } from './ports.ts';
import { loadPayment } from './settlePayout.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly rail: Pick<PayoutRail, 'chainId' | 'account' | 'minedNonce' | 'lanes'>;
}

/** Empty where the chain has no nonces. */
export async function lanesOf({ rail }: Pick<Deps, 'rail'>, signal: AbortSignal): Promise<readonly Lane[]> {
  if (rail.lanes) return rail.lanes(signal);
  const minedNonce = await rail.minedNonce(signal);
  return minedNonce === null ? [] : [{ account: rail.account, minedNonce, unused: false }];
}

/**
 * The same one each time it is asked: a restart goes on with the nonce that was assigned. A lane that is added takes its share of all
 * payments, one that is removed leaves its own to the rest, and no other payment changes its lane (rendezvous hashing).
 */
export const laneFor = (lanes: readonly Lane[], paymentId: string): Lane | undefined =>
  lanes
    .map((lane) => ({ lane, weight: hash('sha256', `${lane.account} ${paymentId}`) }))
    .toSorted((a, b) => (a.weight < b.weight ? 1 : -1))[0]?.lane;

/**
 * What forbids to number a transfer here: a pause of the treasury, or, before the lane's first use, signs that the log does not know
 * all that was paid. Later its own nonce shows that. Without this a payment which an old copy of the log takes for unpaid could be
 * paid once more through a lane that was added since. The treasury's own stream begins with the first use of any lane, so that it can
 * be paused.
 */
export async function admit(deps: Deps, lane: Lane, lanes: readonly Lane[]): Promise<Refusal | undefined> {
  const { rail } = deps;
  if (!rail.lanes) return undefined;
  const own = lanes.find(({ account }) => account === rail.account);
  if (own && own !== lane) {
    const closed = (await objectionTo(deps, own, lanes)) ?? (await open(deps, own));
    if (closed) return closed;
  }
  return objectionTo(deps, lane, lanes);
}

async function objectionTo(
  deps: Deps,
  { account, unused }: Lane,
  lanes: readonly Lane[],
): Promise<Refusal | undefined> {
  if ((await stateOf(deps, account)).opened) return undefined;
  if (account !== deps.rail.account && !unused) {
    const message = `${account} has sent transactions that the log does not know: pay from a new account instead, or find out whether they were payouts`;
    return refuse('treasuryBehindChain', message);
  }
  const others = lanes.filter((other) => other.account !== account);
  const refusals = others.map(async (other) => behindChain(await stateOf(deps, other.account), other.minedNonce));
  return (await Promise.all(refusals)).find((refusal) => refusal !== undefined);
}

async function open({ handle, clock, rail }: Deps, { account, minedNonce }: Lane): Promise<Refusal | undefined> {
  const { chainId } = rail;
  const decide = (state: TreasuryState) =>
    whilePaused(state) ?? openTreasury(state, { chainId, account, minedNonce, now: clock.now() });
  const opened = await handle(treasury, treasuryInstance(chainId, account), decide, { cause: 'payouts', appId: null });
  return isRefusal(opened) ? opened : undefined;
}

async function stateOf({ handle, rail }: Omit<Deps, 'clock'>, account: string): Promise<TreasuryState> {
  const read = { cause: 'read', appId: null };
  const known = await handle(treasury, treasuryInstance(rail.chainId, account), () => [], read);
  return isRefusal(known) ? treasury.initial : known.state;
}

/**
 * Whether a payment has gone on without a nonce that it was given: its lane was not configured for a while, or two instances that were
 * configured differently chose one each. What holds the nonce back is nobody any more.
 */
export async function hasForsaken(
  { handle }: Pick<Deps, 'handle'>,
  { kind, reference, ordinal }: Purpose,
  nonce: bigint,
  { lane, lanes }: { readonly lane: Lane; readonly lanes: readonly Lane[] },
): Promise<boolean> {
  if (kind !== 'payout') return false;
  const leg = (await loadPayment(handle, reference))?.payout;
  if (!leg) return true;
  const attempt = canLandOf(leg);
  if (attempt) return attempt.account !== lane.account || attempt.nonce !== String(nonce);
  return laneFor(lanes, reference)?.account !== lane.account || noncesUsedUp(leg) + 1 !== ordinal;
}

const canLandOf = (leg: TransferLeg): SignedAttempt | undefined => leg.attempts.findLast(canLand)?.signed;
