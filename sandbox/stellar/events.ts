/** Events of contracts and, since CAP-67, of classic operations and fees. */
import { type Asset, StrKey, xdr } from '@stellar/stellar-sdk';
import { type HostError, type HostErrorCode, type HostErrorType, scError } from './host/errors.ts';
import { addressVal, contractHash, i128, noExtension, symbol, symbolMap } from './xdr.ts';

export const contractEvent = (contract: string, topics: xdr.ScVal[], data: xdr.ScVal): xdr.ContractEvent =>
  new xdr.ContractEvent({
    ext: noExtension(),
    contractId: contractHash(contract),
    type: xdr.ContractEventType.contract(),
    body: new xdr.ContractEventBody(0, new xdr.ContractEventV0({ topics, data })),
  });

/** Name of the event in asset contracts. */
export const assetName = (asset: Asset): string =>
  asset.isNative() ? 'native' : `${asset.getCode()}:${asset.getIssuer()}`;

/**
 * Money moved. From the issuer it is a mint, to the issuer a burn.
 * @param toId the id of a receiver's M-address, or a classic payment's memo
 */
export function transferEvent(
  asset: Asset,
  contract: string,
  move: { readonly from: string; readonly to: string; readonly amount: bigint; readonly toId?: xdr.ScVal | undefined },
): xdr.ContractEvent {
  const { from, to, amount, toId } = move;
  const name = xdr.ScVal.scvString(assetName(asset));
  const issuer = asset.isNative() ? undefined : asset.getIssuer();
  if (to === issuer && from !== issuer) {
    return contractEvent(contract, [symbol('burn'), addressVal(from), name], i128(amount));
  }
  const data = toId ? symbolMap({ amount: i128(amount), to_muxed_id: toId }) : i128(amount);
  const topics =
    from === issuer && to !== issuer
      ? [symbol('mint'), addressVal(to), name]
      : [symbol('transfer'), addressVal(from), addressVal(to), name];
  return contractEvent(contract, topics, data);
}

/** When a fee's event happens: the charge before all transactions of the ledger, a contract call's refund after them. */
const stages = {
  before: () => xdr.TransactionEventStage.transactionEventStageBeforeAllTxes(),
  after: () => xdr.TransactionEventStage.transactionEventStageAfterAllTxes(),
};

/** @param lumens the contract id of lumens @param fee negative for a refund */
export const feeEvent = (
  stage: keyof typeof stages,
  lumens: string,
  payer: string,
  fee: bigint,
): xdr.TransactionEvent =>
  new xdr.TransactionEvent({
    stage: stages[stage](),
    event: contractEvent(lumens, [symbol('fee'), addressVal(payer)], i128(fee)),
  });

/** An event that only diagnostics show. @param contract the contract that it happened in; null outside of one */
const diagnosticEvent = (contract: string | null, topics: xdr.ScVal[], data: xdr.ScVal): xdr.ContractEvent =>
  new xdr.ContractEvent({
    ext: noExtension(),
    contractId: contract === null ? null : contractHash(contract),
    type: xdr.ContractEventType.diagnostic(),
    body: new xdr.ContractEventBody(0, new xdr.ContractEventV0({ topics, data })),
  });

/** One value unchanged, several as a vector, none as void. */
const together = (values: xdr.ScVal[]): xdr.ScVal => {
  const [first, ...others] = values;
  if (first === undefined) return xdr.ScVal.scvVoid();
  return others.length === 0 ? first : xdr.ScVal.scvVec(values);
};

export const callEvent = (
  caller: string | null,
  contract: string,
  name: string,
  args: xdr.ScVal[],
): xdr.ContractEvent =>
  diagnosticEvent(
    caller,
    [symbol('fn_call'), xdr.ScVal.scvBytes(StrKey.decodeContract(contract)), symbol(name)],
    together(args),
  );

export const returnEvent = (contract: string, name: string, value: xdr.ScVal): xdr.ContractEvent =>
  diagnosticEvent(contract, [symbol('fn_return'), symbol(name)], value);

/** Reason why a call failed. */
export const errorEvent = (contract: string | null, error: xdr.ScError, data: xdr.ScVal[]): xdr.ContractEvent =>
  diagnosticEvent(contract, [symbol('error'), xdr.ScVal.scvError(error)], together(data));

/** A host function of a transaction failed, with the error's text: the call may have failed after its contracts ended. */
export const failedEvent = (error: HostError): xdr.ContractEvent =>
  diagnosticEvent(
    null,
    [symbol('host_fn_failed'), xdr.ScVal.scvError(scError(error.type, error.code))],
    xdr.ScVal.scvString(error.message),
  );

export const diagnosed = (event: xdr.ContractEvent, inSuccessfulContractCall: boolean): xdr.DiagnosticEvent =>
  new xdr.DiagnosticEvent({ inSuccessfulContractCall, event });

/** Reason why a node refuses a contract call before it runs. */
export const diagnosticError = (
  type: HostErrorType,
  code: HostErrorCode | number,
  data: xdr.ScVal[],
): xdr.DiagnosticEvent => diagnosed(errorEvent(null, scError(type, code), data), false);
