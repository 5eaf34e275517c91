/** Blocks: every slot here has one. */
import { firstSlot, heightOf } from '../chain/commitments.ts';
import {
  configParam,
  contextSlot,
  integerParam,
  invalid,
  type Method,
  type Params,
  RpcError,
  rpcCodes,
} from './method.ts';
import { atLeastConfirmed, encodingConfig } from './transactions.ts';
import { accountsView, transactionView } from './transactionView.ts';

const blocksMax = 500_000;
const details: readonly unknown[] = ['full', 'accounts', 'signatures', 'none'];

/** Unix seconds. */
export const getBlockTime: Method = (view, params) => view.chain.times.at(existingSlot(params, view.head));

export const getBlocks: Method = (view, params) => {
  const begin = integerParam(params, 0, 'start slot');
  const endless = typeof params[1] !== 'number';
  const config = configParam(params, endless ? 1 : 2);
  const newest = contextSlot(view, config, atLeastConfirmed(config));
  const end = Math.min(endless ? newest : integerParam(params, 1, 'end slot'), newest);
  if (end - begin > blocksMax) throw invalid(`Slot range too large; max ${blocksMax}`);
  const first = Math.max(begin, firstSlot);
  return Array.from({ length: Math.max(0, end - first + 1) }, (_, index) => first + index);
};

export const getBlock: Method = (view, params) => {
  const { chain } = view;
  const config = encodingConfig(params, 1);
  const slot = existingSlot(params, contextSlot(view, config, atLeastConfirmed(config)));
  const { transactionDetails = 'full', rewards = true } = config;
  if (!details.includes(transactionDetails)) {
    throw invalid(`transactionDetails ${String(transactionDetails)} are not known here: ${details.join(', ')}`);
  }
  const records = chain.history.inSlot(slot);
  return {
    blockhash: chain.blockhashes.at(slot),
    previousBlockhash: chain.blockhashes.at(slot - 1),
    parentSlot: slot - 1,
    blockHeight: heightOf(slot),
    blockTime: chain.times.at(slot),
    ...(transactionDetails === 'full' && {
      transactions: records.map((record) => transactionView(record, config)),
    }),
    ...(transactionDetails === 'accounts' && {
      transactions: records.map((record) => accountsView(record, config)),
    }),
    ...(transactionDetails === 'signatures' && { signatures: records.map(({ signature }) => signature) }),
    ...(rewards === true && { rewards: [] }),
  };
};

/** @throws RpcError when there is no such block, or none yet */
function existingSlot(params: Params, newest: number): number {
  const slot = integerParam(params, 0, 'slot');
  if (slot > newest) throw new RpcError(rpcCodes.blockNotAvailable, `Block not available for slot ${slot}`);
  if (slot >= firstSlot) return slot;
  const why = 'was skipped, or missing due to ledger jump to recent snapshot';
  throw new RpcError(rpcCodes.slotSkipped, `Slot ${slot} ${why}`);
}
