/** Accounts whose nonces number transfers: choosing one for a transfer, its permission, and assigning a nonce. */

import { hash } from 'node:crypto';
import { currentState, type Handle } from '../../../commands/handle.ts';
import { type Clock, Unavailable } from '../../../commands/ports.ts';
import type { NumberedRail, NumberingAccount, PayoutRail } from '../../../commands/transferPorts.ts';
import { assert, type Cause, isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { epochMs } from '../../../domain/time.ts';
import type { Moved, Purpose } from '../../../domain/treasury/events.ts';
import {
  assignNonce,
  behindChain,
  nonceOf,
  objectionTo,
  openAndAssign,
  openTreasury,
  unminedOf,
  whilePaused,
} from '../../../domain/treasury/nonces.ts';
import { type TreasuryState, treasury, treasuryInstance } from '../../../domain/treasury/state.ts';

/**
 * Amounts that transfers in preparation will use of the treasury's tokens. They query their chain concurrently, before any of them has a
 * nonce: each counts the earlier reservations, so together they stay within the treasury's balance.
 */
export interface Reserved {
  /** Reserves, and returns the other reservations of the token in smallest units. A second call updates both. */
  take(reference: string, token: string, amount: bigint): bigint;
  release(reference: string): void;
}

/** The caller bounds the number of concurrent preparations. */
export function createReserved(): Reserved {
  const held = new Map<string, { readonly token: string; readonly amount: bigint }>();
  return {
    take(reference, token, amount) {
      let others = 0n;
      for (const [own, each] of held) if (own !== reference && each.token === token) others += each.amount;
      held.set(reference, { token, amount });
      return others;
    },
    release: (reference) => void held.delete(reference),
  };
}

export interface NumberingDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly rail: Pick<NumberedRail, 'chainId' | 'account' | 'numbering'>;
  readonly memory: NumberingMemory;
}

/**
 * Last state of a rail's numbering accounts in this process. Only one process assigns their nonces at a time; appends decide, not this
 * state.
 */
export interface NumberingMemory {
  accounts: readonly NumberingAccount[];
  accountsAt_ms: number;
  readonly states: Map<string, TreasuryState>;
  readonly reserved: Reserved;
  /** References of prepared transfers, or soon to be, that wait for a nonce. */
  readonly waiting: Set<string>;
  /** Next read of the accounts, shared by all waiters. */
  looking: Promise<readonly NumberingAccount[]> | null;
}

export const numberingMemory = (): NumberingMemory => ({
  accounts: [],
  accountsAt_ms: 0,
  states: new Map(),
  reserved: createReserved(),
  waiting: new Set(),
  looking: null,
});

/** Reads the accounts that number a rail's transfers; none for expiring transfers. */
export async function readNumberingAccounts(
  { account, numbering }: Pick<PayoutRail, 'account' | 'numbering'>,
  signal: AbortSignal,
): Promise<readonly NumberingAccount[]> {
  if (numbering.kind === 'sequence') return await numbering.accounts(signal);
  const minedNonce = await (numbering.kind === 'nonce' ? numbering.minedNonce(signal) : undefined);
  return minedNonce === undefined ? [] : [{ account, minedNonce, unused: false }];
}

/** Reads them, and stores them for all waiters. */
export async function numberingAccountsOf(
  {
    rail,
    clock,
    memory,
  }: Pick<NumberingDeps, 'clock' | 'memory'> & { readonly rail: Pick<PayoutRail, 'account' | 'numbering'> },
  signal: AbortSignal,
): Promise<readonly NumberingAccount[]> {
  memory.accounts = await readNumberingAccounts(rail, signal);
  memory.accountsAt_ms = epochMs(clock.now());
  return memory.accounts;
}

/**
 * Chooses the account that numbers a transfer, the same one each time: a restarted process continues with its assigned nonce. An added
 * account gets its share of all transfers. A removed one leaves its transfers to the others. No other transfer changes its account
 * (rendezvous hashing).
 */
export const numberingAccountFor = (
  accounts: readonly NumberingAccount[],
  reference: string,
): NumberingAccount | undefined =>
  accounts
    .map((numbering) => ({ numbering, weight: hash('sha256', `${numbering.account} ${reference}`) }))
    .toSorted((a, b) => (a.weight < b.weight ? 1 : -1))[0]?.numbering;

/** The account that numbers a transfer, and all candidates. */
export interface Chosen {
  readonly numbering: NumberingAccount;
  readonly accounts: readonly NumberingAccount[];
}

/** Purpose of a nonce. */
export interface NonceRequest {
  readonly purpose: Purpose;
  readonly moves: Moved;
}

/** Actor of a change of the treasury's stream: the worker, for that transfer. */
export const causeOf = ({ kind, reference }: Pick<Purpose, 'kind' | 'reference'>): Cause =>
  `worker:${kind}s ${reference}`;

/** Assigns the account's next nonce to a purpose, or finds the purpose's existing one. */
export async function takeNonce(deps: NumberingDeps, chosen: Chosen, wanted: NonceRequest): Promise<bigint | Refusal> {
  const { handle, clock, rail } = deps;
  const closed = (await admit(deps, chosen)) ?? (await unprovenBeginning(deps, chosen.numbering));
  if (closed) return forgetting(deps, closed);
  const { account, minedNonce } = chosen.numbering;
  const at = { ...wanted, chainId: rail.chainId, account, minedNonce, now: clock.now() };
  const handled = await handle(treasury, treasuryInstance(rail.chainId, account), (state) => openAndAssign(state, at), {
    cause: causeOf(wanted.purpose),
    appId: null,
  });
  if (isRefusal(handled)) return forgetting(deps, handled);
  deps.memory.states.set(account, handled.state);
  deps.memory.reserved.release(wanted.purpose.reference);
  const nonce = nonceOf(handled.state, wanted.purpose);
  assert(nonce !== null, 'an assigned nonce is found by its purpose');
  return nonce;
}

/** A history that begins above the account's next nonce leaves a permanent gap, and nothing after it is mined. */
async function unprovenBeginning(
  deps: NumberingDeps,
  { account, minedNonce }: NumberingAccount,
): Promise<Refusal | undefined> {
  const { rail, memory } = deps;
  const { numbering } = rail;
  if (numbering.kind === 'sequence') return undefined;
  const { opened } = memory.states.get(account) ?? (await treasuryStateOf(deps, account));
  if (opened || (await numbering.provenNonce()) === minedNonce) return undefined;
  const message = `the nodes of chain ${rail.chainId} do not agree on the next nonce of ${account}: its history begins when they do`;
  return refuse('treasuryBusy', message);
}

/** The log refused what the remembered state allowed: payouts were paused, or another process has acted. */
function forgetting({ memory }: Pick<NumberingDeps, 'memory'>, refusal: Refusal): Refusal {
  memory.states.clear();
  return refusal;
}

/** Returns why the purpose would get no nonce now. Assigns nothing. The remembered state may wrongly allow it; only the log can refuse. */
export async function refusalToNumber(
  deps: NumberingDeps,
  chosen: Chosen,
  wanted: NonceRequest,
): Promise<Refusal | undefined> {
  const { account } = chosen.numbering;
  const own = deps.rail.account;
  const { states } = deps.memory;
  const [remembered, paused] = [states.get(account), states.get(own)];
  if (remembered && paused && !refusalIn(remembered, paused, deps, chosen, wanted)) return undefined;
  const state = await treasuryStateOf(deps, account);
  return refusalIn(state, account === own ? state : await treasuryStateOf(deps, own), deps, chosen, wanted);
}

function refusalIn(
  state: TreasuryState,
  own: TreasuryState,
  { clock }: Pick<NumberingDeps, 'clock'>,
  { numbering: { minedNonce } }: Chosen,
  wanted: NonceRequest,
): Refusal | undefined {
  const decided = state.opened ? assignNonce(state, { ...wanted, minedNonce, now: clock.now() }) : [];
  return whilePaused(own) ?? (isRefusal(decided) ? decided : undefined);
}

/**
 * Returns why the numbering account has no free nonce, as last read; undefined if it has one, or was never read. Queries nothing: many
 * transfers may wait for the same account.
 */
export function busyAsSeen(
  { clock, memory }: Pick<NumberingDeps, 'clock' | 'memory'>,
  wanted: NonceRequest,
): Refusal | undefined {
  const numbering = numberingAccountFor(memory.accounts, wanted.purpose.reference);
  const state = numbering && memory.states.get(numbering.account);
  if (!state) return undefined;
  const decided = assignNonce(state, { ...wanted, minedNonce: numbering.minedNonce, now: clock.now() });
  return isRefusal(decided) && decided.refused === 'treasuryBusy' ? decided : undefined;
}

/** True if the accounts were read within that time. */
export const wereSeen = ({ clock, memory }: Pick<NumberingDeps, 'clock' | 'memory'>, lately_ms: number): boolean =>
  epochMs(clock.now()) - memory.accountsAt_ms < lately_ms;

/**
 * Amounts of a token that pending transfers, and those in preparation, will use beyond the treasury's balance, over all its numbering
 * accounts. Reserves the transfer's own amount until it has a nonce or is released.
 */
export async function spokenFor(
  deps: NumberingDeps,
  { accounts }: Chosen,
  { purpose, moves }: NonceRequest,
): Promise<bigint> {
  // Before the states are read: a transfer that gets a nonce meanwhile counts twice rather than never.
  const others = deps.memory.reserved.take(purpose.reference, moves.token, BigInt(moves.amount));
  const known = async (account: string) => deps.memory.states.get(account) ?? treasuryStateOf(deps, account);
  const states = await Promise.all(accounts.map(({ account }) => known(account)));
  const sums = states.map((state, at) => unminedOf(state, moves.token, accounts[at]?.minedNonce ?? 0n, purpose));
  return sums.reduce((sum, amount) => sum + amount, others);
}

/** True if the purpose has a nonce of the account, as far as is remembered. */
export const hasNonce = (
  { memory }: Pick<NumberingDeps, 'memory'>,
  { numbering }: Chosen,
  { purpose }: NonceRequest,
): boolean => {
  const state = memory.states.get(numbering.account);
  return state === undefined || nonceOf(state, purpose) !== null;
};

/** Returns why nothing is signed with an account now, not even a fee bump. A pause in the treasury’s own stream covers all its accounts. */
export async function objectionToSigning(deps: NumberingDeps, account: string): Promise<Refusal | undefined> {
  const state = await treasuryStateOf(deps, account);
  const own = account === deps.rail.account ? state : await treasuryStateOf(deps, deps.rail.account);
  return whilePaused(own) ?? objectionTo(state);
}

/**
 * Refuses to number a transfer while the treasury is paused, and, before the account's first use, while the log seems to lack earlier
 * payouts. (After its first use the account's own nonce reveals that.) Without this check, a payment that an old copy of the log treats as
 * unpaid could be paid again through a newly added account.
 *
 * The treasury's own stream is opened with the first use of any account, so that it can be paused.
 */
async function admit(deps: NumberingDeps, { numbering, accounts }: Chosen): Promise<Refusal | undefined> {
  const { rail } = deps;
  if (rail.numbering.kind === 'nonce') return undefined;
  const own = accounts.find(({ account }) => account === rail.account);
  if (own && own !== numbering) {
    const closed = (await strangenessOf(deps, own, accounts)) ?? (await open(deps, own));
    if (closed) return closed;
  }
  return strangenessOf(deps, numbering, accounts);
}

/** For an account before its first use. */
async function strangenessOf(
  deps: NumberingDeps,
  { account, unused }: NumberingAccount,
  accounts: readonly NumberingAccount[],
): Promise<Refusal | undefined> {
  if ((await treasuryStateOf(deps, account)).opened) return undefined;
  if (account !== deps.rail.account && !unused) {
    const message = `${account} has sent transactions that the log does not know: pay from a new account instead, or find out whether they were payouts`;
    return refuse('treasuryBehindChain', message);
  }
  const others = accounts.filter((other) => other.account !== account);
  const refusals = others.map(async (other) =>
    behindChain(await treasuryStateOf(deps, other.account), other.minedNonce),
  );
  return (await Promise.all(refusals)).find((refusal) => refusal !== undefined);
}

async function open(
  { handle, clock, rail }: NumberingDeps,
  { account, minedNonce }: NumberingAccount,
): Promise<Refusal | undefined> {
  const { chainId } = rail;
  const decide = (state: TreasuryState) =>
    whilePaused(state) ?? openTreasury(state, { chainId, account, minedNonce, now: clock.now() });
  const opened = await handle(treasury, treasuryInstance(chainId, account), decide, {
    cause: 'worker:payouts',
    appId: null,
  });
  return isRefusal(opened) ? opened : undefined;
}

export async function treasuryStateOf(
  { handle, rail, memory }: Pick<NumberingDeps, 'handle' | 'memory'> & { readonly rail: Pick<PayoutRail, 'chainId'> },
  account: string,
): Promise<TreasuryState> {
  const state = await currentState(handle, treasury, treasuryInstance(rail.chainId, account));
  memory.states.set(account, state);
  return state;
}

const answer_ms = 15_000;

/** Parts of a rail that are needed to begin the history of a treasury's account. */
export type OpeningRail = Pick<PayoutRail, 'chainId' | 'account' | 'numbering'>;

/**
 * Returns the number with which the history of an account begins: its next nonce, agreed on by enough nodes; 0 for expiring transfers.
 * @throws Unavailable while nodes disagree
 */
export async function firstNonceOf({ chainId, account, numbering }: OpeningRail): Promise<bigint> {
  if (numbering.kind === 'expiring') return 0n;
  if (numbering.kind === 'sequence') return numbering.minedNonce(AbortSignal.timeout(answer_ms));
  const proven = await numbering.provenNonce();
  if (proven === null)
    throw new Unavailable(`the nodes of chain ${chainId} do not agree on the next nonce of ${account}`);
  return proven;
}
