/** Host functions of a transaction: call a contract, store code, create a contract. */
import { Address, xdr } from '@stellar/stellar-sdk';
import { errorEvent } from '../events.ts';
import { givenAuthorization } from '../host/authentication.ts';
import { type Authorizer, enforcing } from '../host/authorization.ts';
import { HostError, scError } from '../host/errors.ts';
import { createInvocation, type Invocation } from '../host/invocation.ts';
import type { LedgerHead, Network } from '../ledger/network.ts';
import type { View } from '../ledger/view.ts';
import { runWasm } from '../wasm/machine.ts';
import { runAsset } from './assetContract.ts';
import { isCctp, runCctp } from './cctp.ts';
import { createContract, uploadWasm } from './deploy.ts';
import { isUsdt0, runUsdt0 } from './usdt0.ts';

export interface HostCall {
  readonly network: Network;
  /** The ledger that it runs in. */
  readonly ledger: LedgerHead;
  readonly view: View;
  readonly function: xdr.HostFunction;
  /** Receives diagnostic events, also if the call fails. */
  readonly diagnostics: xdr.ContractEvent[];
}

export interface HostResult {
  readonly value: xdr.ScVal;
  readonly events: readonly xdr.ContractEvent[];
}

/** Runs it with the transaction's authorizations. @throws HostError */
export function runAuthorized(
  call: HostCall,
  entries: readonly xdr.SorobanAuthorizationEntry[],
  source: string,
): HostResult {
  const given = entries.map((entry) => givenAuthorization(entry, source, () => invocation));
  const authorizer = enforcing(given);
  const invocation = invocationOf(call, authorizer);
  return run(invocation, authorizer, call);
}

/** Runs it with any authorizer, such as a recording one. @throws HostError */
export function runWith(authorizer: Authorizer, call: HostCall): HostResult {
  return run(invocationOf(call, authorizer), authorizer, call);
}

/** Contracts are WebAssembly, except those of CCTP and USDT0, which the sandbox runs as its own code. */
function runCode(invocation: Invocation, instance: xdr.ScContractInstance): xdr.ScVal {
  const run = isCctp(instance) ? runCctp : isUsdt0(instance) ? runUsdt0 : runWasm;
  return run(invocation, instance);
}

const invocationOf = ({ network, ledger, view, diagnostics }: HostCall, authorizer: Authorizer): Invocation =>
  createInvocation({ network, ledger, view, authorizer, runWasm: runCode, runAsset, diagnostics });

function run(invocation: Invocation, authorizer: Authorizer, { function: what, diagnostics }: HostCall): HostResult {
  try {
    return { value: perform(invocation, authorizer, what), events: invocation.events() };
  } catch (error) {
    // The arguments are the caller's: values that the SDK cannot parse are the caller's error.
    if (error instanceof TypeError) throw new HostError('Value', 'InvalidInput', error.message);
    if (error instanceof HostError && diagnostics.length === 0)
      diagnostics.push(errorEvent(null, scError(error.type, error.code), [xdr.ScVal.scvString(error.message)]));
    throw error;
  }
}

function perform(invocation: Invocation, authorizer: Authorizer, what: xdr.HostFunction): xdr.ScVal {
  switch (what.switch().name) {
    case 'hostFunctionTypeInvokeContract': {
      const call = what.invokeContract();
      const contract = Address.fromScAddress(call.contractAddress()).toString();
      return invocation.call(contract, call.functionName().toString(), call.args());
    }
    case 'hostFunctionTypeUploadContractWasm':
      return uploadWasm(invocation, what.wasm());
    default:
      return create(invocation, authorizer, what);
  }
}

function create(invocation: Invocation, authorizer: Authorizer, what: xdr.HostFunction): xdr.ScVal {
  const { args, authorized } = creationOf(what);
  authorizer.enter();
  const created = createContract(invocation, args, authorized);
  authorizer.leave();
  return created;
}

function creationOf(what: xdr.HostFunction) {
  if (what.switch().name === 'hostFunctionTypeCreateContractV2') {
    const args = what.createContractV2();
    return {
      args,
      authorized: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeCreateContractV2HostFn(args),
    };
  }
  const plain = what.createContract();
  const args = new xdr.CreateContractArgsV2({
    contractIdPreimage: plain.contractIdPreimage(),
    executable: plain.executable(),
    constructorArgs: [],
  });
  return { args, authorized: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeCreateContractHostFn(plain) };
}
