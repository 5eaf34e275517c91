/** What operators decide about operations that are ordered, and about the addresses that money may be sent to. */

import { currentState, type Handle, type Handled } from '../../../commands/handle.ts';
import type { AddressBook, Clock } from '../../../commands/ports.ts';
import { findChain, memoProblem } from '../../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { hour_ms, plus } from '../../../domain/time.ts';
import {
  type AddressBookState,
  addAddress,
  addressBook,
  addressBookInstance,
  labelMax,
  type Place,
  removeAddress,
} from '../../../domain/treasury/addressBook.ts';
import { allowance, allowanceInstance, returnAllowance } from '../../../domain/treasury/allowance.ts';
import {
  approveOperation,
  callOffOperation,
  type OperationState,
  operation,
} from '../../../domain/treasury/operation.ts';
import { type OperatorBy, operatorName } from './operator.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
}

type Outcome = Promise<Handled<OperationState> | Refusal>;

/** Another operator than whoever ordered it agrees. */
export const approve = ({ handle, clock }: Deps, id: string, by: OperatorBy): Outcome =>
  handle(operation, id, (state) => approveOperation(state, operatorName(by), clock.now()), { ...by, appId: null });

/** It is not done. What it took of the day's allowance is given back, or passes with the day if we crash before. @param reason at most 400 characters */
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
  readonly addresses: AddressBook;
  readonly coolDown_hours: number;
}

/** As an operator types it. */
export interface AskedAddress {
  readonly chain: string;
  readonly address: string;
  readonly memo?: string | undefined;
}

type BookOutcome = Promise<Handled<AddressBookState> | Refusal>;

/** Money may be sent there once the cool-down has passed. */
export async function addToBook(
  { handle, clock, addresses, coolDown_hours }: AddressDeps,
  { label, ...asked }: AskedAddress & { readonly label: string },
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

/** Nothing is signed for it any more, from now on. */
export async function removeFromBook(
  { handle, clock, addresses }: Omit<AddressDeps, 'coolDown_hours'>,
  asked: AskedAddress,
  by: OperatorBy,
): BookOutcome {
  const place = placeOf(addresses, asked);
  if (isRefusal(place)) return place;
  const removing = { ...place, by: operatorName(by), now: clock.now() };
  return handle(addressBook, addressBookInstance, (state) => removeAddress(state, removing), { ...by, appId: null });
}

function placeOf(addresses: AddressBook, { chain: stated, address, memo }: AskedAddress): Place | Refusal {
  const chain = findChain(stated);
  if (!chain) return refuse('invalidRequest', `${stated} is no chain that is served`);
  const canonical = addresses.canonical(chain, address);
  if (canonical === null) return refuse('invalidRequest', `${address} is no address of ${chain.name}`);
  const problem = memo === undefined ? undefined : memoProblem(chain, canonical, memo);
  if (problem) return refuse('invalidRequest', problem);
  return { chainId: chain.id, address: canonical, memo: memo ?? null };
}

/** The addresses that money may be sent to, in the order in which they were added. */
export const loadBook = ({ handle }: Pick<Deps, 'handle'>): Promise<AddressBookState> =>
  currentState(handle, addressBook, addressBookInstance);
