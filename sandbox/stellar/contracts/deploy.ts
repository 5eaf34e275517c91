/** Stores code and contracts on the ledger. */
import { Address, Asset, StrKey, xdr } from '@stellar/stellar-sdk';
import { HostError } from '../host/errors.ts';
import type { Invocation } from '../host/invocation.ts';
import { codeEntry, codeKey, dataEntry, instanceKey, instanceVal } from '../ledger/entries.ts';
import type { Network } from '../ledger/network.ts';
import type { View } from '../ledger/view.ts';
import { compileWasm } from '../wasm/machine.ts';
import { addressVal, bytesOf, sha256 } from '../xdr.ts';
import { assetInstance } from './assetContract.ts';

/** Stores code under its hash. Storing it again changes nothing. */
export function uploadWasm({ view }: Invocation, wasm: Buffer): xdr.ScVal {
  compileWasm(wasm);
  const wasmHash = sha256(wasm);
  if (!view().get(codeKey(wasmHash))) view().put(codeKey(wasmHash), codeEntry(wasm));
  return xdr.ScVal.scvBytes(wasmHash);
}

/** Creates a contract and runs its constructor. @returns its address */
export function createContract(
  invocation: Invocation,
  args: xdr.CreateContractArgsV2,
  authorized: CreateFunction,
): xdr.ScVal {
  const preimage = args.contractIdPreimage();
  const contract = contractIdOf(invocation.network, preimage);
  if (invocation.view().get(instanceKey(contract))) {
    throw new HostError('Storage', 'ExistingValue', `contract ${contract} already exists`);
  }
  if (preimage.switch().name === 'contractIdPreimageFromAsset') {
    plantAssetContract(invocation.view(), invocation.network, Asset.fromOperation(preimage.fromAsset()));
    return addressVal(contract);
  }
  invocation.requireAuthOf(Address.fromScAddress(preimage.fromAddress().address()).toString(), authorized);
  const executable = args.executable();
  if (executable.switch().name !== 'contractExecutableWasm') {
    throw new HostError('Value', 'InvalidInput', 'only an asset makes an asset contract');
  }
  const code = invocation
    .view()
    .get(codeKey(bytesOf(executable.wasmHash())))
    ?.contractCode()
    .code();
  if (!code) throw new HostError('Storage', 'MissingValue', 'upload the wasm first: no code has this hash');
  const key = instanceKey(contract);
  invocation.view().put(key, dataEntry(key, instanceVal(executable)));
  const hasConstructor = compileWasm(code).functions.has('__constructor');
  if (hasConstructor || args.constructorArgs().length > 0) {
    invocation.callReserved(contract, '__constructor', args.constructorArgs());
  }
  return addressVal(contract);
}

/** Call that the deployer authorizes. */
export type CreateFunction = xdr.SorobanAuthorizedFunction;

/** Puts an asset's contract on the ledger. @returns its id */
export function plantAssetContract(view: View, { passphrase }: Network, asset: Asset): string {
  const contract = asset.contractId(passphrase);
  const key = instanceKey(contract);
  view.put(key, dataEntry(key, assetInstance(asset)));
  return contract;
}

function contractIdOf({ id }: Network, contractIdPreimage: xdr.ContractIdPreimage): string {
  const preimage = new xdr.HashIdPreimageContractId({ networkId: id, contractIdPreimage });
  return StrKey.encodeContract(sha256(xdr.HashIdPreimage.envelopeTypeContractId(preimage).toXDR()));
}
