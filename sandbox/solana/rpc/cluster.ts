/** What the node tells of itself, of slots, heights, blockhashes and fees. */
import { blockhashAge_blocks, firstSlot, heightOf, slotAt } from '../chain/commitments.ts';
import { feeOf } from '../chain/fee.ts';
import { type Message, messageIn } from '../chain/message.ts';
import {
  configParam,
  contextSlot,
  inContext,
  integerParam,
  invalid,
  listParam,
  type Method,
  RpcError,
  rpcCodes,
  textParam,
  type View,
  version,
} from './method.ts';

const slotsInEpoch = 432_000;
const fee_slots = 150;
const feeAddressesMax = 128;

const getHealth: Method = (view) => {
  checkHealth(view);
  return 'ok';
};

/** @throws RpcError for a node that lags behind */
export function checkHealth({ chain, head }: View): void {
  const behind = chain.head() - head;
  if (behind === 0) return;
  throw new RpcError(rpcCodes.nodeUnhealthy, `Node is behind by ${behind} slots`, { numSlotsBehind: behind });
}

const getVersion: Method = () => ({ 'solana-core': version, 'feature-set': 0 });

const getGenesisHash: Method = ({ chain }) => chain.blockhashes.at(0);

const getSlot: Method = (view, params) => contextSlot(view, configParam(params, 0));

const getBlockHeight: Method = (view, params) => heightOf(contextSlot(view, configParam(params, 0)));

const getEpochInfo: Method = (view, params) => {
  const slot = contextSlot(view, configParam(params, 0));
  return {
    absoluteSlot: slot,
    blockHeight: heightOf(slot),
    epoch: Math.floor(slot / slotsInEpoch),
    slotIndex: slot % slotsInEpoch,
    slotsInEpoch,
    transactionCount: view.chain.history.count(),
  };
};

const getFirstAvailableBlock: Method = () => firstSlot;

const getLatestBlockhash: Method = (view, params) => {
  const slot = contextSlot(view, configParam(params, 0));
  return inContext(slot, latestBlockhash(view, slot));
};

export const latestBlockhash = ({ chain }: View, slot: number) => ({
  blockhash: chain.blockhashes.at(slot),
  lastValidBlockHeight: heightOf(slot) + blockhashAge_blocks,
});

const isBlockhashValid: Method = (view, params) => {
  const slot = contextSlot(view, configParam(params, 1));
  return inContext(slot, view.chain.blockhashes.find(textParam(params, 0, 'blockhash'), slot) !== undefined);
};

const getFeeForMessage: Method = (view, params) => {
  const slot = contextSlot(view, configParam(params, 1));
  const bytes = Buffer.from(textParam(params, 0, 'message'), 'base64');
  let message: Message;
  try {
    message = messageIn(bytes);
  } catch {
    throw invalid('failed to deserialize the message');
  }
  const known = view.chain.blockhashes.find(message.lifetimeToken, slot) !== undefined;
  return inContext(slot, known ? feeOf(message) : null);
};

/** Fees never rise here, because blocks are never full. */
const getRecentPrioritizationFees: Method = ({ chain, head }, params) => {
  if (params[0] !== undefined) listParam(params, 0, 'addresses', feeAddressesMax);
  const final = slotAt('finalized', head, chain.finality);
  const first = Math.max(firstSlot, final - fee_slots + 1);
  return Array.from({ length: final - first + 1 }, (_, index) => ({ slot: first + index, prioritizationFee: 0 }));
};

const getMinimumBalanceForRentExemption: Method = ({ chain }, params) =>
  chain.machine.rentExempt(integerParam(params, 0, 'bytes'));

export const methods = {
  getHealth,
  getVersion,
  getGenesisHash,
  getSlot,
  getBlockHeight,
  getEpochInfo,
  getFirstAvailableBlock,
  getLatestBlockhash,
  isBlockhashValid,
  getFeeForMessage,
  getRecentPrioritizationFees,
  getMinimumBalanceForRentExemption,
};
