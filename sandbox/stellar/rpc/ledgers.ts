/** Ledgers: their headers, and metadata without transactions. */
import { xdr } from '@stellar/stellar-sdk';
import { RpcError } from '../../rpcError.ts';
import { baseFee, type LedgerHead } from '../ledger/network.ts';
import { int64, sha256, uint64 } from '../xdr.ts';
import { inMilliseconds, millisecondsSince } from './closeTimes.ts';
import { ledgerRange, type Method, rpcCodes } from './method.ts';
import { checkPage, ledgerPage, parseInteger } from './pages.ts';
import { readParams } from './params.ts';

const usualLimit = 50;
const limitMax = 200;

export const getLatestLedger: Method = ({ chain }) => {
  const head = chain.history.head();
  const { protocol } = chain.network;
  return {
    id: ledgerHash(head.sequence).toString('hex'),
    protocolVersion: protocol,
    sequence: head.sequence,
    closeTime: String(head.closedAt_s),
    headerXdr: headerBytes(head, protocol).toString('base64'),
    metadataXdr: metadata(head, protocol).toString('base64'),
  };
};

/** Pages through ledgers in order, from a ledger on or after a cursor. */
export const getLedgers: Method = ({ chain }, params) => {
  const request = readParams(ledgerPage, params);
  const range = ledgerRange(chain);
  const { latestLedger, oldestLedger } = range;
  checkPage(request, range, limitMax);
  const { cursor, limit } = request.pagination;
  const start = cursor === '' ? request.startLedger : Number(parseInteger(cursor, 'ParseUint')) + 1;
  if (cursor !== '' && (start <= oldestLedger || start > latestLedger)) {
    const message = `cursor ('${cursor}') must be between the oldest ledger: ${oldestLedger} and the latest ledger: ${latestLedger} for this rpc instance`;
    throw new RpcError(rpcCodes.invalidParams, message);
  }
  const last = Math.min(latestLedger, start + (limit || usualLimit) - 1);
  const ledgers = Array.from({ length: last - start + 1 }, (_, at) =>
    ledgerInfo({ sequence: start + at, closedAt_s: chain.history.closedAt_s(start + at) }, chain.network.protocol),
  );
  return {
    ledgers,
    latestLedger,
    latestLedgerCloseTime: chain.history.head().closedAt_s,
    oldestLedger,
    oldestLedgerCloseTime: chain.history.oldest().closedAt_s,
    cursor: String(last),
  };
};

function ledgerInfo(head: LedgerHead, protocol: number): object {
  const hash = ledgerHash(head.sequence);
  const ext = new xdr.LedgerHeaderHistoryEntryExt(0).toXDR();
  return {
    hash: hash.toString('hex'),
    sequence: head.sequence,
    ledgerCloseTime: String(head.closedAt_s),
    headerXdr: Buffer.concat([hash, headerBytes(head, protocol), ext]).toString('base64'),
    metadataXdr: metadata(head, protocol).toString('base64'),
  };
}

const headerBytes = (head: LedgerHead, protocol: number): Buffer => {
  const header = headerOf(head, protocol);
  return protocol < millisecondsSince ? header.toXDR() : inMilliseconds(header, head);
};

/** A ledger's metadata begins with its version, its extension and its hash; the header follows. */
const headerAt = 4 + 4 + 32;

function metadata(head: LedgerHead, protocol: number): Buffer {
  const header = headerOf(head, protocol);
  const meta = new xdr.LedgerCloseMetaV2({
    ext: new xdr.LedgerCloseMetaExt(0),
    ledgerHeader: new xdr.LedgerHeaderHistoryEntry({
      hash: ledgerHash(head.sequence),
      header,
      ext: new xdr.LedgerHeaderHistoryEntryExt(0),
    }),
    txSet: new xdr.GeneralizedTransactionSet(
      1,
      new xdr.TransactionSetV1({
        previousLedgerHash: ledgerHash(head.sequence - 1),
        phases: [noTransactions(), noTransactions()],
      }),
    ),
    txProcessing: [],
    upgradesProcessing: [],
    scpInfo: [],
    totalByteSizeOfLiveSorobanState: uint64(0n),
    evictedKeys: [],
  });
  const bytes = new xdr.LedgerCloseMeta(2, meta).toXDR();
  const after = headerAt + header.toXDR().length;
  return Buffer.concat([bytes.subarray(0, headerAt), headerBytes(head, protocol), bytes.subarray(after)]);
}

/** One of the two phases of a ledger's transactions: classic ones, and contract calls. */
const noTransactions = (): xdr.TransactionPhase => new xdr.TransactionPhase(0, []);

/** Replaces the hash of a ledger's contents: one for each number. */
const ledgerHash = (sequence: number): Buffer => sha256(`ledger ${sequence}`);

function headerOf({ sequence, closedAt_s }: LedgerHead, protocol: number): xdr.LedgerHeader {
  return new xdr.LedgerHeader({
    ledgerVersion: protocol,
    previousLedgerHash: ledgerHash(sequence - 1),
    scpValue: new xdr.StellarValue({
      txSetHash: Buffer.alloc(32),
      closeTime: uint64(BigInt(closedAt_s)),
      upgrades: [],
      ext: xdr.StellarValueExt.stellarValueBasic(),
    }),
    txSetResultHash: Buffer.alloc(32),
    bucketListHash: Buffer.alloc(32),
    ledgerSeq: sequence,
    totalCoins: int64(10n ** 18n),
    feePool: int64(0n),
    inflationSeq: 0,
    idPool: uint64(0n),
    baseFee: Number(baseFee),
    baseReserve: 5_000_000,
    maxTxSetSize: 1_000,
    skipList: [0, 1, 2, 3].map(() => Buffer.alloc(32)),
    ext: new xdr.LedgerHeaderExt(0),
  });
}
