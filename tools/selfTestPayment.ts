/** A small transfer from the treasury to itself. It tests that its key, its nodes and its chain make and settle payouts. */

import type { Handle } from '../commands/handle.ts';
import { type Clock, TransientError } from '../commands/ports.ts';
import {
  BroadcastRefused,
  type ExpiringNumbering,
  type Fate,
  isNumbered,
  landedAt,
  type PayoutRail,
  type Sent,
  type Signer,
  type SigningPurpose,
  type TransferOrder,
  type Unsigned,
} from '../commands/transferPorts.ts';
import { assert, type Cause, isRefusal, type Refusal } from '../domain/decider.ts';
import { unitsText } from '../domain/money.ts';
import type { TokenRef } from '../domain/payment/events.ts';
import { epochMs, minute_ms } from '../domain/time.ts';
import type { Purpose, TreasuryEvent } from '../domain/treasury/events.ts';
import { allowTransfer } from '../domain/treasury/nonces.ts';
import { outstandingMax, type TreasuryState, treasury, treasuryInstance } from '../domain/treasury/state.ts';
import {
  type Chosen,
  numberingAccountsOf,
  numberingMemory,
  refusalToNumber,
  spokenFor,
  takeNonce,
  treasuryStateOf,
} from '../src/workers/payouts/numberingAccounts.ts';

export interface SelfTestDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly rail: PayoutRail;
  readonly signer: Signer;
  /** Operator who ordered it. */
  readonly by: Cause;
  /** Receives each step: signed, sent, mined. */
  readonly tell: (step: string) => void;
}

/** The final transaction, and the time from its first broadcast. */
export interface SelfTestResult {
  readonly hash: string;
  readonly blockNumber: bigint;
  readonly took_ms: number;
}

const look_ms = 2_000;
const patience_ms = 60 * minute_ms;
/** Shared number of all checks: an interrupted one leaves its nonce to the next. */
const checks = 'check';

/**
 * Sends the treasury a payment from itself. The log assigns the nonce, and records the bytes before they are sent and their cost once they
 * are final, so a running service sees an ordinary transfer. Crash after the nonce was assigned: the next run signs with the same nonce, and
 * one of the two transactions lands. On a chain without nonces the transaction of a crashed run lands or expires; `npm run treasury -- adopt`
 * records its cost.
 *
 * @throws PayoutBlocked, SigningRefused before anything is taken; Error with what the log or the chain says against it
 */
export async function selfTestPayment(
  deps: SelfTestDeps,
  token: TokenRef,
  amount: bigint,
  signal: AbortSignal,
): Promise<SelfTestResult> {
  const { rail, signer, clock, tell } = deps;
  const began_ms = epochMs(clock.now());
  const order: TransferOrder = {
    chainId: rail.chainId,
    token,
    receiver: rail.account,
    receiverMemo: null,
    amount,
    reference: `${checks} ${clock.now()}`,
    referenceOrdinal: 1,
    opensAccount: false,
  };
  const signing: SigningPurpose = { kind: 'refund', reference: order.reference ?? checks };
  const unsigned = await numbered(deps, order, signing, signal);
  const { hash, bytes } = await signer.sign(unsigned, signing);
  const nonce = unsigned.nonce === null ? null : unitsText(unsigned.nonce);
  await record(deps, unsigned, { type: 'SweepSigned', data: { nonce, hash, bytes, signedAt: clock.now() } });
  tell(`signed: ${hash}`);
  const settled = await settle(deps, sentOf(unsigned, hash, bytes, clock), signal);
  const at = landedAt(settled);
  const data = { nonce, hash: settled.hash, ...(at && { landed: at }), confirmedAt: clock.now() };
  await record(deps, unsigned, { type: 'SweepConfirmed', data });
  return { hash: settled.hash, blockNumber: settled.blockNumber, took_ms: epochMs(clock.now()) - began_ms };
}

/** Prepared and checked before a nonce is assigned, like a payout. */
async function numbered(
  deps: SelfTestDeps,
  order: TransferOrder,
  signing: SigningPurpose,
  signal: AbortSignal,
): Promise<Unsigned> {
  const { handle, clock, rail, signer } = deps;
  if (!isNumbered(rail)) return expiring({ ...deps, rail }, order, signing);
  const numbering = { handle, clock, rail, memory: numberingMemory() };
  const accounts = await numberingAccountsOf(numbering, signal);
  const own = accounts.find(({ account }) => account === rail.account);
  assert(own !== undefined, 'the treasury numbers its own transfers');
  const chosen: Chosen = { numbering: own, accounts };
  const purpose = purposeIn(await treasuryStateOf(numbering, own.account), own.minedNonce);
  const wanted = { purpose, moves: { token: order.token.address, amount: unitsText(order.amount) } };
  refuse(await refusalToNumber(numbering, chosen, wanted));
  const whole = { ...order, spokenFor: await spokenFor(numbering, chosen, wanted) };
  const prepared = await rail.numbering.prepare(whole, own.minedNonce + BigInt(outstandingMax), undefined, own.account);
  await signer.check(prepared, signing);
  const nonce = await takeNonce(numbering, chosen, wanted);
  if (isRefusal(nonce)) throw new Error(`${nonce.refused}: ${nonce.message}`);
  return rail.numbering.numbered(prepared, nonce);
}

/** Purpose of an interrupted run, or the next one. */
function purposeIn({ assigned }: TreasuryState, minedNonce: bigint): Purpose {
  const own = assigned.filter(({ purpose }) => purpose.kind === 'sweep' && purpose.reference === checks);
  const cutOff = own.find(({ nonce }) => nonce >= minedNonce);
  const ordinal = Math.max(0, ...own.map(({ purpose }) => purpose.ordinal)) + 1;
  return cutOff?.purpose ?? { kind: 'sweep', reference: checks, ordinal };
}

async function expiring(
  { handle, clock, rail, signer, by }: SelfTestDeps & { readonly rail: PayoutRail<ExpiringNumbering> },
  order: TransferOrder,
  signing: SigningPurpose,
): Promise<Unsigned> {
  const { chainId, account } = rail;
  const allowed = await handle(
    treasury,
    treasuryInstance(chainId, account),
    (state) => allowTransfer(state, { chainId, account, now: clock.now() }),
    { cause: by, appId: null },
  );
  refuse(isRefusal(allowed) ? allowed : undefined);
  const unsigned = await rail.numbering.prepare(order);
  await signer.check(unsigned, signing);
  return unsigned;
}

function refuse(refusal: Refusal | undefined): void {
  if (refusal) throw new Error(`${refusal.refused}: ${refusal.message}`);
}

async function record({ handle, rail, by }: SelfTestDeps, { account }: Unsigned, event: TreasuryEvent): Promise<void> {
  const recorded = await handle(treasury, treasuryInstance(rail.chainId, account), () => [event], {
    cause: by,
    appId: null,
  });
  refuse(isRefusal(recorded) ? recorded : undefined);
}

const sentOf = ({ account, nonce, validUntil, order }: Unsigned, hash: string, bytes: string, clock: Clock): Sent => ({
  attempt: 1,
  account,
  nonce: nonce === null ? null : unitsText(nonce),
  hash,
  bytes,
  validUntil,
  token: order.token,
  receiver: order.receiver,
  amount: unitsText(order.amount),
  signedAt: clock.now(),
});

/** Sends the bytes again until they are final. An attempt that changes no balance may count as short: it is the same account. */
async function settle({ rail, clock, tell }: SelfTestDeps, sent: Sent, signal: AbortSignal) {
  const until_ms = epochMs(clock.now()) + patience_ms;
  let before = '';
  while (epochMs(clock.now()) < until_ms) {
    const fate = await rail.fate([sent], signal);
    signal.throwIfAborted();
    if (fate.kind === 'final' || fate.kind === 'short') return fate;
    if (fate.kind === 'dead')
      throw new Error(`the transfer cannot land any more: ${fate.proof.reason}, ${fate.proof.detail}`);
    const now = inWords(fate);
    if (now !== before) tell(now);
    before = now;
    if (fate.kind === 'unknown' || !fate.mined) await broadcast(rail, sent.bytes, tell);
    await clock.sleep(look_ms, signal);
  }
  throw new Error(`${sent.hash} is not final after one hour: check it in an explorer, then run the command again`);
}

const inWords = (fate: Extract<Fate, { kind: 'unknown' | 'pending' }>): string =>
  fate.kind === 'unknown' ? 'sent' : fate.mined ? 'mined; it waits to be final' : 'it waits to be mined';

/** An outage or a refusal may pass: the same bytes are sent again. */
async function broadcast(rail: PayoutRail, bytes: string, tell: (step: string) => void): Promise<void> {
  try {
    await rail.broadcast(bytes);
  } catch (error) {
    if (!(error instanceof TransientError) && !(error instanceof BroadcastRefused)) throw error;
    tell(`not sent: ${error.message}`);
  }
}
