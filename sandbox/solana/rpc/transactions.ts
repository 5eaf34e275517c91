/** The results of transactions. */
import { getBase58Encoder } from '@solana/kit';
import { RpcError } from '../../rpcError.ts';
import { blockhashAge_blocks, type Commitment, commitmentOf } from '../chain/commitments.ts';
import type { TransactionRecord } from '../chain/history.ts';
import { signaturesConfig, statusesConfig, transactionConfig } from './configs.ts';
import { addressOf, checkCount, contextSlot, inContext, invalid, isBase58, rpcCodes, type View } from './method.ts';
import { defineMethod, list, optional, text } from './params.ts';
import { transactionView } from './transactionView.ts';

const statusesMax = 256;
const signaturesMax = 1_000;
const signature_bytes = 64;

export const isSignature = (value: string): boolean =>
  isBase58(value) && getBase58Encoder().encode(value).length === signature_bytes;

function checkSignature(value: string): void {
  if (isSignature(value)) return;
  throw invalid(`Invalid param: ${isBase58(value) ? 'WrongSize' : 'Invalid'}`);
}

export const getSignatureStatuses = defineMethod([list(text), optional(statusesConfig)], 1, (view, asked, config) => {
  const { chain, head } = view;
  checkCount(asked, statusesMax);
  for (const each of asked) checkSignature(each);
  const statuses = asked.map((each) => {
    const record = chain.history.find(each);
    if (!record || record.slot > head) return null;
    // The node has the last blocks' statuses in memory; it searches older ones only on request.
    if (!config?.searchTransactionHistory && head - record.slot > blockhashAge_blocks) return null;
    return statusView(view, record);
  });
  return inContext(head, statuses);
});

function statusView({ chain, head }: View, { slot, err }: TransactionRecord) {
  const confirmationStatus = commitmentOf(slot, head, chain.finality);
  const confirmations = confirmationStatus === 'finalized' ? null : head - slot;
  return { slot, confirmations, err, status: resultOf(err), confirmationStatus };
}

export const resultOf = (err: TransactionRecord['err']) => (err === null ? { Ok: null } : { Err: err });

export const getSignaturesForAddress = defineMethod([text, optional(signaturesConfig)], 1, (view, key, config) => {
  const { chain, head } = view;
  const { before, until, limit = signaturesMax } = config ?? {};
  const address = addressOf(key);
  for (const each of [before, until]) if (each !== undefined) checkSignature(each);
  if (limit < 1 || limit > signaturesMax) throw invalid(`Invalid limit; max ${signaturesMax}`);
  checkConfirmed(config);
  const slot = contextSlot(view, config);
  const placeOf = (signature: string): number => {
    const record = chain.history.find(signature);
    const place = record && record.slot <= slot ? chain.history.placeOf(signature) : undefined;
    if (place !== undefined) return place;
    throw new RpcError(rpcCodes.transactionNotFound, `Transaction ${signature} not found`);
  };
  const end = before === undefined ? Number.POSITIVE_INFINITY : placeOf(before);
  const begin = until === undefined ? -1 : placeOf(until);
  const isListed = (place: number) => place > begin && place < end;
  return chain.history
    .ofAddress(address)
    .filter((record) => record.slot <= slot && isListed(chain.history.placeOf(record.signature) ?? -1))
    .toReversed()
    .slice(0, limit)
    .map(({ signature, slot, err, memo, blockTime_s }) => ({
      signature,
      slot,
      transactionIndex: chain.history.indexInSlot(signature),
      err,
      memo,
      blockTime: blockTime_s,
      confirmationStatus: commitmentOf(slot, head, chain.finality),
    }));
});

const noOptions = transactionConfig({});

export const getTransaction = defineMethod(
  [text, optional(transactionConfig)],
  1,
  (view, signature, config = noOptions) => {
    checkSignature(signature);
    checkConfirmed(config);
    const slot = contextSlot(view, { commitment: config.commitment });
    const { history } = view.chain;
    const record = history.find(signature);
    if (!record || record.slot > slot) return null;
    return {
      slot: record.slot,
      transactionIndex: history.indexInSlot(signature),
      blockTime: record.blockTime_s,
      ...transactionView(record, config),
    };
  },
);

/** Nodes return blocks and their transactions only once they are confirmed. @throws RpcError */
export function checkConfirmed(config: { readonly commitment?: Commitment | undefined } | undefined): void {
  if (config?.commitment !== 'processed') return;
  throw new RpcError(rpcCodes.invalidParams, 'Method does not support commitment below `confirmed`');
}
