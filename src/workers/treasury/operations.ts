/** Operators' decisions about ordered operations, and about the addresses of the book. */
import type { AccountHistory } from '../../../commands/accountHistory.ts';
import { type By, currentState, type Handle, type Handled } from '../../../commands/handle.ts';
import type { AddressSpelling, Clock } from '../../../commands/ports.ts';
import { chainOf, findChain, memoProblem } from '../../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { day_ms, hour_ms, type Instant, plus } from '../../../domain/time.ts';
import {
  type AddressBookState,
  addAddress,
  addressBook,
  addressBookInstance,
  type BookAddress,
  labelMax,
  removeAddress,
} from '../../../domain/treasury/addressBook.ts';
import { allowance, allowanceInstance, returnAllowance } from '../../../domain/treasury/allowance.ts';
import {
  approveOperation,
  callOffOperation,
  type OperationState,
  operation,
  rebalanceArrived,
} from '../../../domain/treasury/operation.ts';

/** A person at a terminal. */
export interface OperatorBy extends By {
  readonly cause: `operator:${string}`;
}

/** At most 128 characters, as events hold it. */
export const operatorName = ({ cause }: OperatorBy): string =>
  cause.slice('operator:'.length, 'operator:'.length + 128);

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
}

type Outcome = Promise<Handled<OperationState> | Refusal>;

/** Approves as another operator than the one who ordered. */
export const approve = ({ handle, clock }: Deps, id: string, by: OperatorBy): Outcome =>
  handle(operation, id, (state) => approveOperation(state, operatorName(by), clock.now()), { ...by, appId: null });

/**
 * Calls the operation off. Its share of the daily allowance is returned, or expires with the day after a crash. @param reason at most 400
 * characters
 */
export async function callOff({ handle, clock }: Deps, id: string, reason: string, by: OperatorBy): Outcome {
  const [facts, now] = [{ ...by, appId: null }, clock.now()];
  const asked = { reason, by: operatorName(by), now };
  const handled = await handle(operation, id, (state) => callOffOperation(state, asked), facts);
  if (isRefusal(handled)) return handled;
  const giving = { operationId: id, by: operatorName(by), now };
  const returned = await handle(allowance, allowanceInstance, (state) => returnAllowance(state, giving), facts);
  return isRefusal(returned) ? returned : handled;
}

export interface AddressDeps extends Deps {
  readonly addresses: AddressSpelling;
  readonly coolDown_hours: number;
}

/** As an operator types it. */
export interface BookRequest {
  readonly chain: string;
  readonly address: string;
  readonly memo?: string | undefined;
}

type BookOutcome = Promise<Handled<AddressBookState> | Refusal>;

/** Adds an address, usable after the cool-down. */
export async function addToBook(
  { handle, clock, addresses, coolDown_hours }: AddressDeps,
  { label, ...asked }: BookRequest & { readonly label: string },
  by: OperatorBy,
): BookOutcome {
  const place = placeOf(addresses, asked);
  if (isRefusal(place)) return place;
  if (label.length === 0 || label.length > labelMax)
    return refuse('invalidRequest', `call it something of 1 to ${labelMax} characters: --label "the bank"`);
  const now = clock.now();
  const entry = { ...place, label, usableFrom: plus(now, coolDown_hours * hour_ms), by: operatorName(by), now };
  return handle(addressBook, addressBookInstance, (state) => addAddress(state, entry), { ...by, appId: null });
}

/** Removes an address: nothing is signed for it from now on. */
export async function removeFromBook(
  { handle, clock, addresses }: Omit<AddressDeps, 'coolDown_hours'>,
  asked: BookRequest,
  by: OperatorBy,
): BookOutcome {
  const place = placeOf(addresses, asked);
  if (isRefusal(place)) return place;
  const removing = { ...place, by: operatorName(by), now: clock.now() };
  return handle(addressBook, addressBookInstance, (state) => removeAddress(state, removing), { ...by, appId: null });
}

function placeOf(addresses: AddressSpelling, { chain: stated, address, memo }: BookRequest): BookAddress | Refusal {
  const chain = findChain(stated);
  if (!chain) return refuse('invalidRequest', `${stated} is no chain that is served`);
  const canonical = addresses.canonical(chain, address);
  if (canonical === null) return refuse('invalidRequest', `${address} is not an address of ${chain.name}`);
  const problem = memo === undefined ? undefined : memoProblem(chain, canonical, memo);
  if (problem) return refuse('invalidRequest', problem);
  return { chainId: chain.id, address: canonical, memo: memo ?? null };
}

/** Addresses of the book, in the order of adding. */
export const loadBook = ({ handle }: Pick<Deps, 'handle'>): Promise<AddressBookState> =>
  currentState(handle, addressBook, addressBookInstance);

// Other end of a rebalance: its money has arrived at our account on another chain.

interface RebalanceDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly historyOf: (chainId: AccountHistory['chainId']) => AccountHistory | undefined;
}

/** Bridges and exchanges take at most days. */
const lookedBack_ms = 14 * day_ms;
const pagesMax = 50;
const pageSize = 100;

/** @param hash of the transaction that topped up the account, which its nodes must return. @throws ChainUnavailable, HistoryTooLong */
export async function recordArrival(
  deps: RebalanceDeps,
  { id, hash }: { readonly id: string; readonly hash: string },
  by: OperatorBy,
  signal: AbortSignal,
): Promise<Handled<OperationState> | Refusal> {
  const { handle, clock } = deps;
  const ordered = (await currentState(handle, operation, id))?.ordered;
  const expects = ordered?.expects;
  const amount = expects ? await broughtBy(deps, { ...expects, since: ordered.orderedAt }, hash, signal) : 0n;
  if (expects && amount <= 0n) {
    const message = `${hash} did not bring ${expects.token.symbol} to ${expects.account} on ${chainOf(expects.chainId).name} since it was ordered, as its nodes show it`;
    return refuse('invalidRequest', message);
  }
  const seen = { hash, amount, by: operatorName(by), now: clock.now() };
  return handle(operation, id, (state) => rebalanceArrived(state, seen), { ...by, appId: null });
}

type Expected = NonNullable<NonNullable<OperationState>['ordered']['expects']> & { readonly since: Instant };

/** In smallest units; zero if the account's history lacks it, or it arrived before the money was sent. */
async function broughtBy(
  { historyOf }: RebalanceDeps,
  { chainId, account, token, since }: Expected,
  hash: string,
  signal: AbortSignal,
): Promise<bigint> {
  const history = historyOf(chainId);
  if (!history) return 0n;
  const { blockNumber: to } = await history.standing(account, signal);
  const blocks = BigInt(Math.ceil(lookedBack_ms / chainOf(chainId).block_ms));
  const range = { account, from: to > blocks ? to - blocks : 0n, to, order: 'newestFirst', max: pageSize } as const;
  let after: string | null = null;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page = await history.transactions({ ...range, after }, signal);
    const found = page.transactions.find(({ txHash }) => txHash === hash);
    const came = found?.changes.filter(({ asset }) => asset === token.address) ?? [];
    if (found)
      return found.succeeded && found.time >= since ? came.reduce((sum, change) => sum + change.amount, 0n) : 0n;
    after = page.next;
    if (after === null) return 0n;
  }
  return 0n;
}
