/** The node itself, its slots, heights, blockhashes and fees. */
import { isBlockhash } from '@solana/kit';
import { RpcError } from '../../rpcError.ts';
import { blockhashAge_blocks, firstSlot, heightOf, slotAt } from '../chain/commitments.ts';
import { feeOf, priceOf } from '../chain/fee.ts';
import { type Message, messageIn } from '../chain/message.ts';
import { isWritable, parseTransaction } from '../chain/transaction.ts';
import { bytesOfBase64 } from './bytes.ts';
import { commitmentConfig, contextConfig } from './configs.ts';
import {
  addressOf,
  checkCount,
  contextSlot,
  inContext,
  invalid,
  isBase58,
  rpcCodes,
  type View,
  version,
} from './method.ts';
import { defineMethod, list, optional, text, usize } from './params.ts';

const slotsInEpoch = 432_000;
/** Number of non-empty slots that the recent fees cover. */
const fee_slots = 150;
const feeAddressesMax = 128;
const accountBytesMax = 10 * 1024 * 1024;

const getHealth = defineMethod([], 0, (view) => {
  checkHealth(view);
  return 'ok';
});

/** @throws RpcError for a node that lags behind */
export function checkHealth({ chain, head }: View): void {
  const behind = chain.head() - head;
  if (behind === 0) return;
  throw new RpcError(rpcCodes.nodeUnhealthy, `Node is behind by ${behind} slots`, { numSlotsBehind: behind });
}

const getVersion = defineMethod([], 0, () => ({ 'solana-core': version, 'feature-set': 0 }));

const getGenesisHash = defineMethod([], 0, ({ chain }) => chain.blockhashes.at(0));

/** No validator has this address, which is derived from the genesis. */
const getIdentity = defineMethod([], 0, ({ chain }) => ({ identity: chain.blockhashes.at(1) }));

const getSlot = defineMethod([optional(contextConfig)], 0, contextSlot);

const getBlockHeight = defineMethod([optional(contextConfig)], 0, (view, config) =>
  heightOf(contextSlot(view, config)),
);

const getTransactionCount = defineMethod([optional(contextConfig)], 0, (view, config) => {
  contextSlot(view, config);
  return view.chain.history.count();
});

const getEpochInfo = defineMethod([optional(contextConfig)], 0, (view, config) => {
  const slot = contextSlot(view, config);
  return {
    absoluteSlot: slot,
    blockHeight: heightOf(slot),
    epoch: Math.floor(slot / slotsInEpoch),
    slotIndex: slot % slotsInEpoch,
    slotsInEpoch,
    transactionCount: view.chain.history.count(),
  };
});

const getEpochSchedule = defineMethod([], 0, () => ({
  firstNormalEpoch: 0,
  firstNormalSlot: 0,
  leaderScheduleSlotOffset: slotsInEpoch,
  slotsPerEpoch: slotsInEpoch,
  warmup: false,
}));

const getFirstAvailableBlock = defineMethod([], 0, () => firstSlot);

const getLatestBlockhash = defineMethod([optional(contextConfig)], 0, (view, config) => {
  const slot = contextSlot(view, config);
  return inContext(slot, latestBlockhash(view, slot));
});

export const latestBlockhash = ({ chain }: View, slot: number) => ({
  blockhash: chain.blockhashes.at(slot),
  lastValidBlockHeight: heightOf(slot) + blockhashAge_blocks,
});

const isBlockhashValid = defineMethod([text, optional(contextConfig)], 1, (view, hash, config) => {
  if (!isBase58(hash)) throw invalid('Invalid');
  if (!isBlockhash(hash)) throw invalid('WrongSize');
  const slot = contextSlot(view, config);
  return inContext(slot, view.chain.blockhashes.find(hash, slot) !== undefined);
});

const getFeeForMessage = defineMethod([text, optional(contextConfig)], 1, (view, encoded, config) => {
  const bytes = bytesOfBase64(encoded);
  let message: Message;
  try {
    message = messageIn(bytes);
  } catch (error) {
    throw invalid(`failed to deserialize solana_message::versions::VersionedMessage: ${(error as Error).message}`);
  }
  const slot = contextSlot(view, config);
  const known = view.chain.blockhashes.find(message.lifetimeToken, slot) !== undefined;
  return inContext(slot, known ? feeOf(message) : null);
});

/**
 * For each of the newest slots with transactions the lowest price of a compute unit, in millionths of a lamport: of the whole block, or of its
 * transactions that write to one of the accounts where that is more.
 * @see https://github.com/anza-xyz/agave/blob/master/runtime/src/prioritization_fee.rs
 */
const getRecentPrioritizationFees = defineMethod([optional(list(text))], 0, ({ chain, head }, keys = []) => {
  checkCount(keys, feeAddressesMax);
  const accounts = keys.map(addressOf);
  const confirmed = slotAt('confirmed', head, chain.finality);
  const lowest = new Map<number, number>();
  const lowestOfAccounts = new Map<string, number>();
  const note = <K>(prices: Map<K, number>, key: K, price: number) =>
    prices.set(key, Math.min(price, prices.get(key) ?? price));
  for (const record of chain.history.newest(fee_slots)) {
    // Nodes remember the prices of the blocks since their start.
    if (record.slot > confirmed || record.slot < chain.openedAt) continue;
    const { message } = parseTransaction(Buffer.from(record.bytes, 'base64'));
    const price = Number(priceOf(message));
    note(lowest, record.slot, price);
    for (const account of accounts) {
      if (record.keys.some((key, place) => key === account && isWritable(message, record.loaded, place)))
        note(lowestOfAccounts, `${record.slot} ${account}`, price);
    }
  }
  return [...lowest].map(([slot, price]) => ({
    slot,
    prioritizationFee: Math.max(price, ...accounts.map((each) => lowestOfAccounts.get(`${slot} ${each}`) ?? 0)),
  }));
});

const getMinimumBalanceForRentExemption = defineMethod(
  [usize, optional(commitmentConfig)],
  1,
  ({ chain }, bytes, _config) => {
    if (bytes > accountBytesMax) throw new RpcError(rpcCodes.invalidRequest, 'Invalid request');
    return chain.machine.rentExempt(bytes);
  },
);

export const methods = {
  getHealth,
  getVersion,
  getGenesisHash,
  getIdentity,
  getSlot,
  getBlockHeight,
  getTransactionCount,
  getEpochInfo,
  getEpochSchedule,
  getFirstAvailableBlock,
  minimumLedgerSlot: getFirstAvailableBlock,
  getLatestBlockhash,
  isBlockhashValid,
  getFeeForMessage,
  getRecentPrioritizationFees,
  getMinimumBalanceForRentExemption,
};
