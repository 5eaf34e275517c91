import assert from 'node:assert/strict';
import { isRefusal } from '../../../domain/decider.ts';
import {
  type AddressBookEvent,
  type AddressBookState,
  addAddress,
  addressBook,
  addressesMax,
  type BookAddress,
  removeAddress,
  usableAddress,
} from '../../../domain/treasury/addressBook.ts';
import { merchantWallet, minute } from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(addressBook);
const bank: BookAddress = { chainId: 1, address: merchantWallet, memo: null };
const onStellar = (memo: string | null): BookAddress => ({ chainId: 1500, address: 'GEXCHANGE', memo });
const day = (days: number) => minute(days * 24 * 60);

const added = (place: BookAddress = bank, usableFrom = day(1)): AddressBookEvent => ({
  type: 'AddressAdded',
  data: { ...place, label: 'the bank', usableFrom, by: 'ada', addedAt: minute(0) },
});
const removed: AddressBookEvent = { type: 'AddressRemoved', data: { ...bank, by: 'grace', removedAt: day(2) } };
const adding =
  (place: BookAddress = bank, usableFrom = day(1)) =>
  (state: AddressBookState) =>
    addAddress(state, { ...place, label: 'the bank', usableFrom, by: 'ada', now: minute(0) });
const removing = (state: AddressBookState) => removeAddress(state, { ...bank, by: 'grace', now: day(2) });
/** Asks without deciding: refusals are returned, and success appends no event. */
const using = (place: Omit<BookAddress, 'memo'> & { memo?: string }, now = day(1)) => {
  return (state: AddressBookState) => {
    const entry = usableAddress(state, place, now);
    return isRefusal(entry) ? entry : [];
  };
};

describe('the address book of the treasury', () => {
  it('accepts an address once: adding it again neither restarts nor ends its time', () => {
    given([]).when(adding()).then([added()]);
    given([added()])
      .when(adding(bank, minute(0)))
      .thenNothing();
  });

  it('allows transfers only to its entries, and only after their time', () => {
    given([])
      .when(using(bank as never))
      .thenRefused('notFound', /addresses add/);
    given([added()])
      .when(using({ chainId: 1, address: merchantWallet }, minute(1439)))
      .thenRefused('illegalStep', /was added recently: .* from 2026-11-22/);
    given([added()])
      .when(using({ chainId: 1, address: merchantWallet }))
      .thenNothing();
    given([added()])
      .when(using({ chainId: 8453, address: merchantWallet }))
      .thenRefused('notFound');
  });

  it('forgets a removed entry at once; added again, it waits again', () => {
    given([added()]).when(removing).then([removed]);
    given([]).when(removing).thenRefused('notFound');
    given([added(), removed])
      .when(using({ chainId: 1, address: merchantWallet }, day(9)))
      .thenRefused('notFound');
    given([added(), removed])
      .when(adding(bank, day(3)))
      .then([added(bank, day(3))]);
  });

  it('distinguishes receivers of one address by their memos', () => {
    const exchange = { chainId: 1500, address: 'GEXCHANGE' } as const;
    given([added(onStellar('7'))])
      .when(using(exchange))
      .thenNothing();
    given([added(onStellar('7')), added(onStellar('8'))])
      .when(using(exchange))
      .thenRefused('notFound', /with 7, 8: say --memo/);
    given([added(onStellar('7'))])
      .when(using({ ...exchange, memo: '8' }))
      .thenRefused('notFound', /with 7/);
    const state = [added(onStellar('7')), added(onStellar(null))].reduce(addressBook.evolve, addressBook.initial);
    const entry = usableAddress(state, exchange, day(1));
    assert.ok(!isRefusal(entry) && entry.memo === null, 'the one without a memo is meant where there is one');
  });

  it('has a maximum of entries', () => {
    const full = Array.from({ length: addressesMax }, (_, i) => added(onStellar(String(i))));
    given(full)
      .when(adding())
      .thenRefused('illegalStep', /as many as it takes/);
  });
});
