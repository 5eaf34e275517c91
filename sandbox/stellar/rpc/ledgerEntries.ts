import { xdr } from '@stellar/stellar-sdk';
import { base64 } from '../xdr.ts';
import { invalid, listParam, type Method } from './method.ts';

const keysMax = 200;
/** Contract data is said to live this much longer; nothing expires here. */
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
