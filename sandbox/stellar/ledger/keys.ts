/** Names of ledger entries. */
import { Address, type Asset, xdr } from '@stellar/stellar-sdk';
import { accountId } from '../xdr.ts';

type Durability = 'persistent' | 'temporary';

export const accountKey = (account: string): xdr.LedgerKey =>
  xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: accountId(account) }));

export const trustlineKey = (account: string, asset: Asset): xdr.LedgerKey =>
  xdr.LedgerKey.trustline(
    new xdr.LedgerKeyTrustLine({ accountId: accountId(account), asset: asset.toTrustLineXDRObject() }),
  );

export const dataKey = (owner: string, key: xdr.ScVal, durability: Durability): xdr.LedgerKey =>
  xdr.LedgerKey.contractData(
    new xdr.LedgerKeyContractData({
      contract: new Address(owner).toScAddress(),
      key,
      durability: xdr.ContractDataDurability[durability](),
    }),
  );

export const instanceKey = (contract: string): xdr.LedgerKey =>
  dataKey(contract, xdr.ScVal.scvLedgerKeyContractInstance(), 'persistent');

/** Present once the authorization with this nonce was used. */
export const nonceKey = (address: string, nonce: xdr.Int64): xdr.LedgerKey =>
  dataKey(address, xdr.ScVal.scvLedgerKeyNonce(new xdr.ScNonceKey({ nonce })), 'temporary');

export const codeKey = (wasmHash: Buffer): xdr.LedgerKey =>
  xdr.LedgerKey.contractCode(new xdr.LedgerKeyContractCode({ hash: wasmHash }));
