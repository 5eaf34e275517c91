/** Events as contracts publish them and, since CAP-67, classic operations and fees too. */
import { type Asset, xdr } from '@stellar/stellar-sdk';
import { addressVal, contractHash, i128, noExtension, symbol, symbolMap } from './xdr.ts';

export const contractEvent = (contract: string, topics: xdr.ScVal[], data: xdr.ScVal): xdr.ContractEvent =>
  new xdr.ContractEvent({
    ext: noExtension(),
    contractId: contractHash(contract),
    type: xdr.ContractEventType.contract(),
    body: new xdr.ContractEventBody(0, new xdr.ContractEventV0({ topics, data })),
  });

/** As asset contracts name it. */
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

/** @param lumens the contract id of lumens */
export const feeEvent = (lumens: string, payer: string, fee: bigint): xdr.TransactionEvent =>
  new xdr.TransactionEvent({
    stage: xdr.TransactionEventStage.transactionEventStageBeforeAllTxes(),
    event: contractEvent(lumens, [symbol('fee'), addressVal(payer)], i128(fee)),
  });

/** Why a contract call failed, as nodes with diagnostics tell it. */
export const diagnosticEvent = (message: string): xdr.DiagnosticEvent =>
  new xdr.DiagnosticEvent({
    inSuccessfulContractCall: false,
    event: new xdr.ContractEvent({
      ext: noExtension(),
      contractId: null,
      type: xdr.ContractEventType.diagnostic(),
      body: new xdr.ContractEventBody(
        0,
        new xdr.ContractEventV0({ topics: [symbol('error')], data: xdr.ScVal.scvString(message) }),
      ),
    }),
  });
