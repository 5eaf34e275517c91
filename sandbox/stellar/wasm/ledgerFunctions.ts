/** Host functions of modules `x`, `l`, `d` and `a`: the ledger, events, storage, other contracts, authorizations. */
import { xdr } from '@stellar/stellar-sdk';
import { HostError } from '../host/errors.ts';
import { type StorageType, storageOf, stored } from '../host/storage.ts';
import { protocolVersion } from '../ledger/network.ts';
import { addressOf, addressVal, uint64 } from '../xdr.ts';
import type { Guest, HostFunctions } from './guest.ts';
import { boolVal, majorOf, tagOf, tags, u32Val, type Val, voidVal } from './values.ts';

export function contextFunctions({ invocation, toVal, fromVal, object }: Guest): HostFunctions {
  const { ledger, network } = invocation;
  return {
    1: (topics, data) => {
      invocation.publish(object(topics, tags.vec).vec() ?? [], fromVal(data));
      return voidVal;
    },
    2: () => u32Val(protocolVersion),
    3: () => u32Val(ledger.sequence),
    4: () => toVal(xdr.ScVal.scvU64(uint64(BigInt(ledger.closedAt_s)))),
    5: (error) => {
      if (tagOf(error) !== tags.error) throw new HostError('Value', 'UnexpectedType', 'an error is expected');
      throw new HostError('Contract', majorOf(error), `the contract failed with error #${majorOf(error)}`);
    },
    6: () => toVal(xdr.ScVal.scvBytes(network.id)),
    7: () => toVal(addressVal(invocation.frame().contract)),
  };
}

const storageTypes: readonly StorageType[] = ['temporary', 'persistent', 'instance'];

export function storageFunctions({ invocation, toVal, fromVal }: Guest): HostFunctions {
  const storage = (type: Val) => {
    const name = storageTypes[Number(type)];
    if (!name) throw new HostError('Storage', 'InvalidInput', `no storage type ${type}`);
    return storageOf(invocation, name);
  };
  return {
    _: (key, value, type) => {
      storage(type).put(fromVal(key), fromVal(value));
      return voidVal;
    },
    0: (key, type) => boolVal(storage(type).get(fromVal(key)) !== undefined),
    1: (key, type) => toVal(stored(storage(type), fromVal(key))),
    2: (key, type) => {
      storage(type).remove(fromVal(key));
      return voidVal;
    },
    // Nothing expires here, so there is no lifetime to extend.
    7: () => voidVal,
    8: () => voidVal,
  };
}

export function callFunctions({ invocation, toVal, fromVal, object }: Guest): HostFunctions {
  return {
    _: (contract, name, args) => {
      const called = fromVal(name);
      if (called.switch().name !== 'scvSymbol') throw new HostError('Value', 'UnexpectedType', 'a symbol is expected');
      const address = addressOf(object(contract, tags.address));
      return toVal(invocation.call(address, called.sym().toString(), object(args, tags.vec).vec() ?? []));
    },
  };
}

export function addressFunctions({ invocation, object }: Guest): HostFunctions {
  const address = (val: Val) => addressOf(object(val, tags.address));
  return {
    _: (val, args) => {
      invocation.requireAuth(address(val), object(args, tags.vec).vec() ?? []);
      return voidVal;
    },
    0: (val) => {
      invocation.requireAuth(address(val));
      return voidVal;
    },
  };
}
