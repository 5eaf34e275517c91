/** Calls of contracts on Stellar: their arguments, the operation that makes a call, and views, which cost nothing. */
import {
  Account,
  Address,
  Contract,
  nativeToScVal,
  StrKey,
  scValToNative,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk';
import { ask, list, object, optional, text } from '../node/jsonRpc.ts';
import type { StellarNode } from './rpc.ts';

export const addressVal = (address: string): xdr.ScVal => new Address(address).toScVal();
/** @param hex digits without a prefix */
export const bytesVal = (hex: string): xdr.ScVal => xdr.ScVal.scvBytes(Buffer.from(hex, 'hex'));
export const i128Val = (amount: bigint): xdr.ScVal => nativeToScVal(amount, { type: 'i128' });
export const u32Val = (value: number): xdr.ScVal => xdr.ScVal.scvU32(value);
export const u64Val = (value: bigint): xdr.ScVal => nativeToScVal(value, { type: 'u64' });

/** A struct of a contract: a map by name, in the order of the names. */
export const structVal = (fields: Readonly<Record<string, xdr.ScVal>>): xdr.ScVal =>
  xdr.ScVal.scvMap(
    Object.keys(fields)
      .toSorted()
      .map((name) => new xdr.ScMapEntry({ key: xdr.ScVal.scvSymbol(name), val: fields[name] ?? xdr.ScVal.scvVoid() })),
  );

/** A call of a contract, as an order requires it. */
export interface ContractCall {
  readonly contract: string;
  readonly name: string;
  readonly args: readonly xdr.ScVal[];
}

export const callOperation = ({ contract, name, args }: ContractCall): xdr.Operation =>
  new Contract(contract).call(name, ...args);

/** Account with the key of 32 zero bytes, which nobody owns. It simulates views. */
export const noAccount = StrKey.encodeEd25519PublicKey(Buffer.alloc(32));

/** Present value of a contract's view; undefined if the node cannot run it. @throws RpcFailed */
export async function readView(node: StellarNode, call: ContractCall, networkPassphrase: string): Promise<unknown> {
  const builder = new TransactionBuilder(new Account(noAccount, '0'), { fee: '100', networkPassphrase });
  const envelope = builder.setTimeout(0).addOperation(callOperation(call)).build().toEnvelope().toXDR('base64');
  return ask(node, 'simulateTransaction', { transaction: envelope }, (answer) => {
    const { error, results } = object(answer);
    if (typeof error === 'string') return undefined;
    const [first] = optional(results, list) ?? [];
    return first === undefined ? undefined : scValToNative(xdr.ScVal.fromXDR(text(object(first)['xdr']), 'base64'));
  });
}
