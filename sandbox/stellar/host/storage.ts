/** A contract's own data: entries of the ledger, or a map kept with its instance. */
import { xdr } from '@stellar/stellar-sdk';
import { dataEntry, dataKey, instanceKey } from '../ledger/entries.ts';
import { same } from '../xdr.ts';
import { HostError } from './errors.ts';
import type { Invocation } from './invocation.ts';

export type StorageType = 'temporary' | 'persistent' | 'instance';

export interface Storage {
  get(key: xdr.ScVal): xdr.ScVal | undefined;
  put(key: xdr.ScVal, value: xdr.ScVal): void;
  remove(key: xdr.ScVal): void;
}

/** The present contract's storage of a type. */
export function storageOf(invocation: Invocation, type: StorageType): Storage {
  return type === 'instance' ? instanceStorage(invocation) : entryStorage(invocation, type);
}

/** @throws HostError if it does not exist */
export function stored(storage: Storage, key: xdr.ScVal): xdr.ScVal {
  const value = storage.get(key);
  if (!value) throw new HostError('Storage', 'MissingValue', 'trying to get non-existing value for contract data');
  return value;
}

function entryStorage(invocation: Invocation, type: 'temporary' | 'persistent'): Storage {
  const named = (key: xdr.ScVal) => dataKey(invocation.frame().contract, key, type);
  return {
    get: (key) => invocation.view().get(named(key))?.contractData().val(),
    put: (key, value) => invocation.view().put(named(key), dataEntry(named(key), value)),
    remove: (key) => invocation.view().remove(named(key)),
  };
}

function instanceStorage(invocation: Invocation): Storage {
  const instance = instanceKey(invocation.frame().contract);
  const read = () => invocation.view().get(instance)?.contractData().val().instance().storage() ?? [];
  const write = (entries: xdr.ScMapEntry[]) =>
    invocation.view().change(instance, (data) => {
      const sorted = entries.sort((a, b) => Buffer.compare(a.key().toXDR(), b.key().toXDR()));
      data.contractData().val().instance().storage(sorted);
    });
  const without = (key: xdr.ScVal) => read().filter((entry) => !same(entry.key(), key));
  return {
    get: (key) =>
      read()
        .find((entry) => same(entry.key(), key))
        ?.val(),
    put: (key, val) => write([...without(key), new xdr.ScMapEntry({ key, val })]),
    remove: (key) => write(without(key)),
  };
}
