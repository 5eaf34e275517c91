/** A transaction in a ledger, with its events (CAP-67). */
import { Asset, xdr } from '@stellar/stellar-sdk';
import { eventRecord } from '../../../../sandbox/stellar/chain/history.ts';
import { feeEvent, transferEvent } from '../../../../sandbox/stellar/events.ts';
import type { TransactionRecord } from '../../../../sandbox/stellar/transactions/apply.ts';
import type { Submitted } from '../../../../sandbox/stellar/transactions/envelope.ts';
import { appliedResult } from '../../../../sandbox/stellar/transactions/results.ts';
import { base64, uint64 } from '../../../../sandbox/stellar/xdr.ts';
import type { Landed, Moved } from './ledgers.ts';
import { native } from './ledgers.ts';
import { feeOf } from './transactions.ts';

export interface Where {
  readonly passphrase: string;
  readonly sequence: number;
  readonly closedAt_s: number;
  /** From 1. */
  readonly order: number;
}

const contracts = new Map<string, string>();

export const assetOf = (text: string): Asset => {
  const [code = '', issuer] = text.split(':');
  return text === native ? Asset.native() : new Asset(code, issuer);
};

/** Hashing is slow, and there are few of them. */
export function contractOf(asset: string, passphrase: string): string {
  const key = `${asset} ${passphrase}`;
  const contract = contracts.get(key) ?? assetOf(asset).contractId(passphrase);
  contracts.set(key, contract);
  return contract;
}

/** @param moved null: it failed */
export function landing(submitted: Submitted, moved: readonly Moved[] | null, where: Where): Landed {
  const { passphrase, sequence, closedAt_s, order } = where;
  const { hash, innerHash, envelopeXdr, feePayer } = submitted;
  const fee = feeOf(submitted);
  const record: TransactionRecord = {
    hash,
    ...(innerHash && { innerHash }),
    ledger: sequence,
    order,
    createdAt_s: closedAt_s,
    succeeded: moved !== null,
    envelopeXdr,
    resultXdr: base64(appliedResult(submitted, fee, moved !== null, [])),
    resultMetaXdr: '',
  };
  const charged = feeEvent('before', contractOf(native, passphrase), feePayer, fee);
  const transfers = (moved ?? []).map((each) => {
    const toId = memoIn(submitted);
    return transferEvent(assetOf(each.asset), contractOf(each.asset, passphrase), { ...each, toId });
  });
  const feeAt = { ledger: sequence, transaction: 0, operation: 0 };
  const own = { ledger: sequence, transaction: order, operation: 0 };
  return {
    record,
    moved: moved ?? [],
    feeXdr: base64(charged),
    operationXdr: transfers.map(base64),
    events: [
      eventRecord(record, feeAt, order - 1, charged.event()),
      ...transfers.map((event, index) => eventRecord(record, own, index, event)),
    ],
  };
}

/** A memo goes with the amount. */
function memoIn({ transaction: { memo } }: Submitted): xdr.ScVal | undefined {
  if (memo.type === 'id') return xdr.ScVal.scvU64(uint64(BigInt(String(memo.value))));
  return memo.type === 'text' ? xdr.ScVal.scvString(String(memo.value)) : undefined;
}
