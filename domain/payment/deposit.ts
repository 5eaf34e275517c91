import type { Deposit, Transfer } from './events.ts';

/** What tells whose a transfer is: an address of the payment's own, or a shared one with the payment's memo. */
export interface Place {
  /** EVM addresses in lower case: the same on every EVM chain. */
  readonly address: string;
  /** Empty where the address alone tells the payment. */
  readonly memo: string;
}

/** @param address as its chain spells it */
export const place = (address: string, memo: string | null): Place => ({
  address: address.startsWith('0x') ? address.toLowerCase() : address,
  memo: memo ?? '',
});

/** A contract's deposit is paid by calling the contract with its memo, and in no other way. */
export const placeOf = ({ address, memo, contract, contractMemo }: Deposit): Place =>
  contract === null ? place(address, memo) : place(contract, contractMemo);

export const placeKey = ({ address, memo }: Place): string => `${address} ${memo}`;

/** Whether a transfer was made to this deposit. */
export const paysInto = (deposit: Deposit, { to, memo }: Pick<Transfer, 'to' | 'memo'>): boolean =>
  placeKey(place(to, memo ?? null)) === placeKey(placeOf(deposit));
