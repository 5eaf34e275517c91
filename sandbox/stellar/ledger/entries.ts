/** Ledger entries: their keys and their contents. */
import { Address, type Asset, xdr } from '@stellar/stellar-sdk';
import { accountId, int64, noExtension, noSponsors, sha256, uint64 } from '../xdr.ts';
import type { LedgerHead } from './network.ts';

const authorized = 1;

/** A new account's sequence numbers start at its ledger's number, shifted by 32 bits: a recreated account uses none twice. */
export const accountEntry = (account: string, balance: bigint, ledger: number): xdr.LedgerEntryData =>
  xdr.LedgerEntryData.account(
    new xdr.AccountEntry({
      accountId: accountId(account),
      balance: int64(balance),
      seqNum: int64(BigInt(ledger) << 32n),
      numSubEntries: 0,
      inflationDest: null,
      flags: 0,
      homeDomain: '',
      thresholds: Buffer.of(1, 0, 0, 0),
      signers: [],
      ext: new xdr.AccountEntryExt(0),
    }),
  );

/** Records when the account's sequence number was last used, as each of its transactions does (CAP-21). */
export function noteSequenceUse(account: xdr.AccountEntry, { sequence, closedAt_s }: LedgerHead): void {
  const third = new xdr.AccountEntryExtensionV3({
    ext: noExtension(),
    seqLedger: sequence,
    seqTime: uint64(BigInt(closedAt_s)),
  });
  const second = new xdr.AccountEntryExtensionV2({
    numSponsored: 0,
    numSponsoring: 0,
    signerSponsoringIDs: noSponsors(account.signers().length),
    ext: new xdr.AccountEntryExtensionV2Ext(3, third),
  });
  const first = new xdr.AccountEntryExtensionV1({
    liabilities: new xdr.Liabilities({ buying: int64(0n), selling: int64(0n) }),
    ext: new xdr.AccountEntryExtensionV1Ext(2, second),
  });
  account.ext(new xdr.AccountEntryExt(1, first));
}

export const trustlineEntry = (account: string, asset: Asset, limit: bigint): xdr.LedgerEntryData =>
  xdr.LedgerEntryData.trustline(
    new xdr.TrustLineEntry({
      accountId: accountId(account),
      asset: asset.toTrustLineXDRObject(),
      balance: int64(0n),
      limit: int64(limit),
      flags: authorized,
      ext: new xdr.TrustLineEntryExt(0),
    }),
  );

/** A name and a value that an account keeps with itself. */
export const accountDataEntry = (account: string, name: string, value: Buffer): xdr.LedgerEntryData =>
  xdr.LedgerEntryData.data(
    new xdr.DataEntry({
      accountId: accountId(account),
      dataName: name,
      dataValue: value,
      ext: new xdr.DataEntryExt(0),
    }),
  );

/** The entry of a contract data key. */
export function dataEntry(key: xdr.LedgerKey, val: xdr.ScVal): xdr.LedgerEntryData {
  const { contract, durability } = {
    contract: key.contractData().contract(),
    durability: key.contractData().durability(),
  };
  return xdr.LedgerEntryData.contractData(
    new xdr.ContractDataEntry({ ext: noExtension(), contract, key: key.contractData().key(), durability, val }),
  );
}

export const instanceVal = (executable: xdr.ContractExecutable, storage: xdr.ScMapEntry[] | null = null): xdr.ScVal =>
  xdr.ScVal.scvContractInstance(new xdr.ScContractInstance({ executable, storage }));

export const codeEntry = (wasm: Buffer): xdr.LedgerEntryData =>
  xdr.LedgerEntryData.contractCode(
    new xdr.ContractCodeEntry({ ext: new xdr.ContractCodeEntryExt(0), hash: sha256(wasm), code: wasm }),
  );

type Durability = 'persistent' | 'temporary';

export const accountKey = (account: string): xdr.LedgerKey =>
  xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: accountId(account) }));

export const trustlineKey = (account: string, asset: Asset): xdr.LedgerKey =>
  xdr.LedgerKey.trustline(
    new xdr.LedgerKeyTrustLine({ accountId: accountId(account), asset: asset.toTrustLineXDRObject() }),
  );

export const accountDataKey = (account: string, name: string): xdr.LedgerKey =>
  xdr.LedgerKey.data(new xdr.LedgerKeyData({ accountId: accountId(account), dataName: name }));

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
