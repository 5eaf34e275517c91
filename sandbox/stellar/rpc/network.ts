/** What the network, the node and the ledger are. */
import { xdr } from '@stellar/stellar-sdk';
import { baseFee, type LedgerHead } from '../ledger/network.ts';
import { base64, int64, sha256, uint64 } from '../xdr.ts';
import { inMilliseconds, millisecondsSince } from './closeTimes.ts';
import { invalid, ledgerRange, listParam, type Method } from './method.ts';

const retentionWindow = 120_960;

export const getHealth: Method = ({ chain }) => ({
  status: 'healthy',
  ...ledgerRange(chain),
  ledgerRetentionWindow: retentionWindow,
});

export const getNetwork: Method = ({ chain, friendbotUrl }) => ({
  friendbotUrl: friendbotUrl(),
  passphrase: chain.network.passphrase,
  protocolVersion: chain.network.protocol,
});

export const getVersionInfo: Method = ({ chain }) => ({
  version: 'sandbox',
  commitHash: '',
  buildTimestamp: '',
  captiveCoreVersion: 'sandbox',
  protocolVersion: chain.network.protocol,
});

const percentiles = ['max', 'min', 'mode', ...[10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99].map((n) => `p${n}`)];

export const getFeeStats: Method = ({ chain }) => {
  const fees = Object.fromEntries(percentiles.map((name) => [name, baseFee.toString()]));
  return {
    sorobanInclusionFee: { ...fees, transactionCount: '1', ledgerCount: 50 },
    inclusionFee: { ...fees, transactionCount: '1', ledgerCount: 10 },
    latestLedger: chain.history.head().sequence,
  };
};

export const getLatestLedger: Method = ({ chain }) => {
  const head = chain.history.head();
  const { protocol } = chain.network;
  const header = headerOf(head, protocol);
  const meta = new xdr.LedgerCloseMetaV0({
    ledgerHeader: new xdr.LedgerHeaderHistoryEntry({
      hash: ledgerHash(head.sequence),
      header,
      ext: new xdr.LedgerHeaderHistoryEntryExt(0),
    }),
    txSet: new xdr.TransactionSet({ previousLedgerHash: Buffer.alloc(32), txes: [] }),
    txProcessing: [],
    upgradesProcessing: [],
    scpInfo: [],
  });
  const headerBytes = protocol < millisecondsSince ? header.toXDR() : inMilliseconds(header, head);
  return {
    id: ledgerHash(head.sequence).toString('hex'),
    protocolVersion: protocol,
    sequence: head.sequence,
    closeTime: String(head.closedAt_s),
    headerXdr: headerBytes.toString('base64'),
    metadataXdr: metaWith(headerBytes, new xdr.LedgerCloseMeta(0, meta)).toString('base64'),
  };
};

/** The meta of a ledger with another header: it stands behind the version and the header's hash. */
function metaWith(header: Buffer, meta: xdr.LedgerCloseMeta): Buffer {
  const bytes = meta.toXDR();
  const old = meta.v0().ledgerHeader().header().toXDR();
  return Buffer.concat([bytes.subarray(0, 36), header, bytes.subarray(36 + old.length)]);
}

/** Used as the hash of a ledger's contents: one for each number. */
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

const keysMax = 200;
/** The answer says that contract data lives this much longer; nothing expires here. */
const alive_ledgers = 500_000;

export const getLedgerEntries: Method = ({ chain }, params) => {
  const latestLedger = chain.history.head().sequence;
  const entries = listParam(params, 'keys', keysMax).flatMap((text) => {
    const key = keyOf(text);
    const entry = chain.state.get(key);
    if (!entry) return [];
    const expires = key.switch().name === 'contractData' || key.switch().name === 'contractCode';
    return {
      key: base64(key),
      xdr: base64(entry.data()),
      lastModifiedLedgerSeq: entry.lastModifiedLedgerSeq(),
      ...(expires && { liveUntilLedgerSeq: latestLedger + alive_ledgers }),
    };
  });
  return { entries, latestLedger };
};

function keyOf(text: unknown): xdr.LedgerKey {
  try {
    return xdr.LedgerKey.fromXDR(String(text), 'base64');
  } catch {
    throw invalid(`cannot unmarshal key value ${text}`);
  }
}
