/** What became of transactions. */
import { getBase58Encoder } from '@solana/kit';
import { blockhashAge_blocks, commitmentOf as reached } from '../chain/commitments.ts';
import type { TransactionRecord } from '../chain/history.ts';
import {
  addressParam,
  type Config,
  commitmentOf,
  configParam,
  contextSlot,
  inContext,
  invalid,
  listParam,
  type Method,
  type Params,
  RpcError,
  rpcCodes,
  type View,
} from './method.ts';
import { transactionView } from './transactionView.ts';

const statusesMax = 256;
const signaturesMax = 1_000;
const signature_bytes = 64;

export function signatureOf(value: unknown): string {
  if (typeof value !== 'string') throw invalid('invalid type: a signature must be a string');
  try {
    if (getBase58Encoder().encode(value).length === signature_bytes) return value;
  } catch {
    throw invalid('Invalid param: Invalid');
  }
  throw invalid('Invalid param: WrongSize');
}

export const getSignatureStatuses: Method = (view, params) => {
  const { chain, head } = view;
  const whole = configParam(params, 1)['searchTransactionHistory'] === true;
  const statuses = listParam(params, 0, 'signatures', statusesMax).map((each) => {
    const record = chain.history.find(signatureOf(each));
    if (!record || record.slot > head) return null;
    // The node has the last blocks' statuses at hand; older ones it looks up only when told so.
    if (!whole && head - record.slot > blockhashAge_blocks) return null;
    return statusView(view, record);
  });
  return inContext(head, statuses);
};

function statusView({ chain, head }: View, { slot, err }: TransactionRecord) {
  const confirmationStatus = reached(slot, head, chain.finality);
  const confirmations = confirmationStatus === 'finalized' ? null : head - slot;
  return { slot, confirmations, err, status: resultOf(err), confirmationStatus };
}

export const resultOf = (err: TransactionRecord['err']) => (err === null ? { Ok: null } : { Err: err });

export const getSignaturesForAddress: Method = (view, params) => {
  const { chain, head } = view;
  const address = addressParam(params, 0);
  const config = configParam(params, 1);
  const slot = contextSlot(view, config, atLeastConfirmed(config));
  const { before, until, limit = signaturesMax } = config;
  if (typeof limit !== 'number' || limit < 1 || limit > signaturesMax) {
    throw invalid(`Invalid limit; max ${signaturesMax}`);
  }
  const placeOf = (signature: unknown) => chain.history.placeOf(signatureOf(signature)) ?? -1;
  // A signature that is not there (any more) has nothing before it, and everything after it.
  const end = before === undefined || before === null ? Number.POSITIVE_INFINITY : placeOf(before);
  const begin = until === undefined || until === null ? -1 : placeOf(until);
  const isAsked = (place: number) => place > begin && place < end;
  return chain.history
    .ofAddress(address)
    .filter((record) => record.slot <= slot && isAsked(placeOf(record.signature)))
    .toReversed()
    .slice(0, limit)
    .map(({ signature, slot, err, memo, blockTime_s }) => ({
      signature,
      slot,
      err,
      memo,
      blockTime: blockTime_s,
      confirmationStatus: reached(slot, head, chain.finality),
    }));
};

export const getTransaction: Method = (view, params) => {
  const config = encodingConfig(params, 1);
  const slot = contextSlot(view, config, atLeastConfirmed(config));
  const record = view.chain.history.find(signatureOf(params[0]));
  if (!record || record.slot > slot) return null;
  return { slot: record.slot, blockTime: record.blockTime_s, ...transactionView(record, config) };
};

/** The second parameter may be just an encoding. */
export function encodingConfig(params: Params, place: number): Config {
  const value = params[place];
  return typeof value === 'string' ? { encoding: value } : configParam(params, place);
}

/** Blocks and their transactions are told only of what is at least confirmed. */
export function atLeastConfirmed(config: Config): 'confirmed' | 'finalized' {
  const commitment = commitmentOf(config);
  if (commitment !== 'processed') return commitment;
  throw new RpcError(rpcCodes.invalidParams, 'Method does not support commitment below `confirmed`');
}
