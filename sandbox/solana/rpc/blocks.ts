/** Blocks: every slot here has one. */
import { RpcError } from '../../rpcError.ts';
import { firstSlot, heightOf } from '../chain/commitments.ts';
import { blockConfig, contextConfig, lastSlotOrConfig } from './configs.ts';
import { type ContextOptions, contextSlot, invalid, rpcCodes, type View } from './method.ts';
import { defineMethod, optional, u64, usize } from './params.ts';
import { checkConfirmed } from './transactions.ts';
import { accountsView, transactionView } from './transactionView.ts';

const blocksMax = 500_000;

/** Unix seconds. */
export const getBlockTime = defineMethod([u64], 1, (view, slot) => view.chain.times.at(existingSlot(slot, view.head)));

export const getBlocks = defineMethod(
  [u64, optional(lastSlotOrConfig), optional(contextConfig)],
  1,
  (view, begin, lastOrConfig, config) => {
    const isEndless = typeof lastOrConfig !== 'number';
    const newest = newestSlot(view, config ?? (isEndless ? lastOrConfig : undefined));
    const end = isEndless ? newest : Math.min(lastOrConfig, newest);
    if (end - begin > blocksMax) throw invalid(`Slot range too large; max ${blocksMax}`);
    return slotsFrom(begin, end - Math.max(begin, firstSlot) + 1);
  },
);

export const getBlocksWithLimit = defineMethod(
  [u64, usize, optional(contextConfig)],
  2,
  (view, begin, limit, config) => {
    if (limit > blocksMax) throw invalid(`Limit too large; max ${blocksMax}`);
    const newest = newestSlot(view, config);
    return slotsFrom(begin, Math.min(limit, newest - Math.max(begin, firstSlot) + 1));
  },
);

function newestSlot(view: View, config: ContextOptions | undefined): number {
  checkConfirmed(config);
  return contextSlot(view, config);
}

function slotsFrom(begin: number, count: number): readonly number[] {
  const first = Math.max(begin, firstSlot);
  return Array.from({ length: Math.max(0, count) }, (_, index) => first + index);
}

export const getBlock = defineMethod([u64, optional(blockConfig)], 1, (view, wanted, config = noOptions) => {
  const { chain } = view;
  checkConfirmed(config);
  const slot = existingSlot(wanted, contextSlot(view, { commitment: config.commitment }));
  const { transactionDetails = 'full', rewards = true } = config;
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
    ...(rewards && { rewards: [] }),
  };
});

const noOptions = blockConfig({});

/** @throws RpcError if the block does not exist, or not yet */
function existingSlot(slot: number, newest: number): number {
  if (slot > newest)
    throw new RpcError(rpcCodes.blockNotAvailable, `Block not available for slot ${integerText(slot)}`);
  if (slot >= firstSlot) return slot;
  const why = 'was skipped, or missing due to ledger jump to recent snapshot';
  throw new RpcError(rpcCodes.slotSkipped, `Slot ${slot} ${why}`);
}

const integerText = (value: number): string => BigInt(value).toString();
