/** Facts about the network, the node and the ledger. */
import { xdr } from '@stellar/stellar-sdk';
import { RpcError } from '../../rpcError.ts';
import { base64, strictBase64 } from '../xdr.ts';
import { invalid, ledgerRange, type Method, rpcCodes } from './method.ts';
import { formatProblem, listOf, readParams, structure, text } from './params.ts';

const retentionWindow = 120_960;

export const getHealth: Method = ({ chain }) => {
  const { latestLedger, oldestLedger } = ledgerRange(chain);
  return { status: 'healthy', latestLedger, oldestLedger, ledgerRetentionWindow: retentionWindow };
};

export const getNetwork: Method = ({ chain, friendbotUrl }, params) => {
  readParams(structure({}), params);
  return {
    friendbotUrl: friendbotUrl(),
    passphrase: chain.network.passphrase,
    protocolVersion: chain.network.protocol,
  };
};

export const getVersionInfo: Method = ({ chain }) => ({
  version: 'sandbox',
  commitHash: '',
  buildTimestamp: '',
  captiveCoreVersion: 'sandbox',
  protocolVersion: chain.network.protocol,
});

const keysMax = 200;
/** The answer states this remaining lifetime of contract data; nothing expires here. */
const alive_ledgers = 500_000;

const request = structure({ keys: listOf(text), xdrFormat: text });

export const getLedgerEntries: Method = ({ chain }, params) => {
  const { keys, xdrFormat } = readParams(request, params);
  const problem = formatProblem(xdrFormat);
  if (problem !== undefined) throw invalid(problem);
  if (keys.length > keysMax) throw invalid(`key count (${keys.length}) exceeds maximum supported (${keysMax})`);
  const read = keys.map(keyOf);
  if (keys.length === 0) throw unanswered('no keys specified in request');
  // The node's core refuses a list that names a key twice.
  if (new Set(keys).size < keys.length) throw unanswered('http request failed with non-200 status code (404)');
  const latestLedger = chain.history.head().sequence;
  const entries = read.flatMap((key) => {
    const entry = chain.state.get(key);
    if (!entry) return [];
    const expires = key.switch().name === 'contractData' || key.switch().name === 'contractCode';
    return {
      key: base64(key),
      xdr: base64(entry.data()),
      lastModifiedLedgerSeq: entry.lastModifiedLedgerSeq(),
      ...(expires && { liveUntilLedgerSeq: latestLedger + alive_ledgers }),
      extXdr: base64(entry.ext()),
    };
  });
  return { entries, latestLedger };
};

const unanswered = (why: string): RpcError => new RpcError(rpcCodes.internal, `could not query captive core: ${why}`);

function keyOf(given: string, index: number): xdr.LedgerKey {
  const key = parsedKey(given);
  if (!key) throw invalid(`cannot unmarshal key value ${given} at index ${index}`);
  if (key.switch().name === 'ttl') throw invalid('ledger ttl entries cannot be queried directly');
  return key;
}

function parsedKey(given: string): xdr.LedgerKey | undefined {
  try {
    return xdr.LedgerKey.fromXDR(strictBase64(given));
  } catch {
    return undefined;
  }
}
