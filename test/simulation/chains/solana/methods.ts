/** The methods that a node answers, as agave does (rpc/src/rpc.rs). */
import { base58 } from '@scure/base';
import { RpcError } from '../../../../sandbox/rpcError.ts';
import { isSigned } from '../../../../sandbox/solana/chain/signatures.ts';
import type { Submitted } from '../../../../sandbox/solana/chain/transaction.ts';
import { tokenProgram } from '../../../../src/chains/solana/tokenProgram.ts';
import { NodeAway } from '../../kernel/ports.ts';
import { execute, read, stateOver, systemProgram } from './execution.ts';
import type { SolanaNode } from './node.ts';
import type { AccountState, Block, Landed, TokenHeld } from './slots.ts';

type Params = readonly unknown[];
type Config = Readonly<Record<string, unknown>>;
type Method = (node: SolanaNode, params: Params) => unknown;

const configAt = (params: Params, place: number): Config => (params[place] ?? {}) as Config;
export const blockhashAge_blocks = 150;
/** Height added by a node that reports all attempts as expired. */
const ahead_blocks = 1_000;

/** @throws RpcError if the node is behind */
function slotFor(node: SolanaNode, { commitment, minContextSlot }: Config): number {
  const slot = node.slotOf(commitment);
  if (typeof minContextSlot === 'number' && minContextSlot > slot)
    throw new RpcError(-32_016, 'Minimum context slot has not been reached', { contextSlot: slot });
  return slot;
}

const inContext = (slot: number, value: unknown) => ({ context: { apiVersion: '3.0.0', slot }, value });
const heightOf = (node: SolanaNode, { height }: Block): number =>
  height + (node.spells.has('expiresAll') ? ahead_blocks : 0);

function blockAt(node: SolanaNode, slot: number, { commitment }: Config): Block {
  const newest = node.slotOf(commitment) - (node.spells.has('newestMissing') ? 2 : 0);
  if (slot > newest) throw new RpcError(-32_004, `Block not available for slot ${slot}`);
  const block = node.slots.blockAt(slot);
  if (!block) throw new RpcError(-32_007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);
  return block;
}

function getBlock(node: SolanaNode, params: Params): object {
  const config = configAt(params, 1);
  const block = blockAt(node, Number(params[0]), config);
  return {
    blockhash: block.hash,
    previousBlockhash: block.parentHash,
    parentSlot: block.parentSlot,
    blockHeight: block.height,
    blockTime: block.time_s,
    ...(config['transactionDetails'] === 'accounts' && { transactions: block.landed.map(inBlock) }),
    ...(config['transactionDetails'] === 'signatures' && {
      signatures: block.landed.map(({ signature }) => signature),
    }),
  };
}

const inBlock = (landed: Landed): object => ({
  transaction: { signatures: [landed.signature], accountKeys: landed.accounts.map((pubkey) => ({ pubkey })) },
  meta: metaOf(landed),
  version: 0,
});

const held = ({ accountIndex, mint, owner, amount }: TokenHeld) => ({
  accountIndex,
  mint,
  owner,
  programId: tokenProgram,
  uiTokenAmount: { amount: String(amount) },
});

const metaOf = ({ err, fee, lamportsBefore, lamportsAfter, tokensBefore, tokensAfter }: Landed) => ({
  err,
  fee: Number(fee),
  preBalances: lamportsBefore.map(Number),
  postBalances: lamportsAfter.map(Number),
  preTokenBalances: tokensBefore.map(held),
  postTokenBalances: tokensAfter.map(held),
});

function getTransaction(node: SolanaNode, params: Params): object | null {
  const found = node.find(String(params[0]));
  if (!found || found.slot > node.slotOf(configAt(params, 1)['commitment'])) return null;
  const { signature, slot, accounts } = found;
  return {
    slot,
    transaction: { signatures: [signature], message: { accountKeys: accounts } },
    meta: metaOf(found),
    version: 0,
  };
}

function getSignatureStatuses(node: SolanaNode, [signatures]: Params): object {
  const [slot, final] = [node.slotOf('confirmed'), node.slotOf('finalized')];
  const told = (signatures as readonly string[]).map((signature) => {
    const found = node.find(signature);
    if (!found || found.slot > slot) return null;
    return {
      slot: found.slot,
      err: found.err,
      confirmations: null,
      confirmationStatus: found.slot <= final ? 'finalized' : 'confirmed',
    };
  });
  return inContext(slot, told);
}

/** @throws RpcError when the node does not have the transaction, as Agave does from 4.2 on */
function boundAt(node: SolanaNode, signature: unknown, newest: number): Landed | undefined {
  if (signature === undefined) return undefined;
  const found = node.find(String(signature));
  if (found && found.slot <= newest) return found;
  throw new RpcError(-32_020, `Transaction ${signature} not found`);
}

/** A bound need not name the account: then its slot counts. @param all newest first */
function firstNotNewer(all: readonly Landed[], { signature, slot }: Landed): number {
  const own = all.findIndex((each) => each.signature === signature);
  const first = own >= 0 ? own : all.findIndex((each) => each.slot <= slot);
  return first < 0 ? all.length : first;
}

function firstOlder(all: readonly Landed[], bound: Landed): number {
  const first = firstNotNewer(all, bound);
  return all[first]?.signature === bound.signature ? first + 1 : first;
}

function getSignaturesForAddress(node: SolanaNode, params: Params): readonly object[] {
  const config = configAt(params, 1);
  const newest = slotFor(node, config);
  const all = node.naming(String(params[0])).filter(({ slot }) => slot <= newest);
  const [before, until] = [config['before'], config['until']].map((each) => boundAt(node, each, newest));
  const olderThan = before === undefined ? 0 : firstOlder(all, before);
  const downTo = until === undefined ? all.length : firstNotNewer(all, until);
  const page = all.slice(olderThan, downTo).slice(0, Number(config['limit'] ?? 1_000));
  return page.map(({ signature, slot, err }) => ({
    signature,
    slot,
    err,
    memo: null,
    confirmationStatus: 'finalized',
  }));
}

const bytes_mint = 82;
const bytes_token = 165;

function dataOf(node: SolanaNode, address: string, state: AccountState | undefined): Buffer | undefined {
  const decimals = node.decimals.get(address);
  if (decimals !== undefined) {
    const mint = Buffer.alloc(bytes_mint);
    mint[44] = decimals;
    return mint;
  }
  if (!state) return undefined;
  if (state.mint === null) return Buffer.alloc(0);
  const data = Buffer.alloc(bytes_token);
  data.set(base58.decode(state.mint), 0);
  data.set(base58.decode(state.owner), 32);
  data.writeBigUInt64LE(state.amount, 64);
  data[108] = 1;
  return data;
}

/** Amount that a forger adds to an account's balance. */
const forgedIn = (node: SolanaNode, address: string): bigint =>
  node.spells.has('forges')
    ? node.forged
        .filter(({ accounts }) => accounts[2] === address)
        .reduce((sum, { tokensAfter }) => sum + (tokensAfter.at(-1)?.amount ?? 0n), 0n)
    : 0n;

function getMultipleAccounts(node: SolanaNode, params: Params): object {
  const config = configAt(params, 1);
  const slot = slotFor(node, config);
  const slice = config['dataSlice'] as { readonly offset: number; readonly length: number } | undefined;
  const told = (params[0] as readonly string[]).map((address) => {
    const state = node.slots.accountAt(slot, address);
    const data = dataOf(node, address, state && { ...state, amount: state.amount + forgedIn(node, address) });
    if (!data) return null;
    const isTokens = node.decimals.has(address) || state?.mint;
    const shown = slice ? data.subarray(slice.offset, slice.offset + slice.length) : data;
    return {
      owner: isTokens ? tokenProgram : systemProgram,
      lamports: Number(state?.lamports ?? 1n),
      executable: false,
      data: [shown.toString('base64'), 'base64'],
    };
  });
  return inContext(slot, told);
}

/** @returns true if blocks after a slot still accept a blockhash */
export function isValid(node: SolanaNode, hash: string, slot: number): boolean {
  const block = node.slots.byHash(hash);
  if (!block || block.slot > slot || node.spells.has('expiresAll')) return false;
  return node.slots.newestAt(slot).height - block.height <= blockhashAge_blocks;
}

function rehearse(node: SolanaNode, submitted: Submitted, slot: number) {
  if (!isValid(node, submitted.message.lifetimeToken, slot))
    return { err: 'BlockhashNotFound', why: 'Blockhash not found' };
  const landed = node.find(submitted.signature);
  if (landed && landed.slot <= slot)
    return { err: 'AlreadyProcessed', why: 'This transaction has already been processed' };
  const done = execute(
    stateOver((address) => node.slots.accountAt(slot, address)),
    submitted,
  );
  return done ?? { err: 'InsufficientFundsForFee', why: 'insufficient funds for fee' };
}

function simulateTransaction(node: SolanaNode, params: Params): object {
  const slot = slotFor(node, configAt(params, 1));
  const { err, why } = rehearse(node, read(String(params[0])), slot);
  return inContext(slot, { err, logs: why === null ? [] : [`Program log: ${why}`], unitsConsumed: 40_000 });
}

function sendTransaction(node: SolanaNode, params: Params): string {
  const config = configAt(params, 1);
  const submitted = read(String(params[0]));
  if (!isSigned(submitted.transaction)) throw new RpcError(-32_003, 'Transaction signature verification failure');
  if (config['skipPreflight'] !== true) {
    const { err, why } = rehearse(node, submitted, node.slotOf(config['preflightCommitment']));
    if (err !== null) throw new RpcError(-32_002, `Transaction simulation failed: ${why}`, { err });
  }
  if (!node.spells.has('swallows')) node.tell(submitted);
  return submitted.signature;
}

function finalBlocks(node: SolanaNode, params: Params): readonly number[] {
  const config = configAt(params, 2);
  const end = Math.min(Number(params[1]), node.slotOf(config['commitment']));
  const all: number[] = [];
  for (let slot = Number(params[0]); slot <= end; slot += 1) if (node.slots.blockAt(slot)) all.push(slot);
  return all;
}

const methods: Readonly<Record<string, Method>> = {
  getGenesisHash: (node) => node.slots.newestAt(0).hash,
  getSlot: (node, params) => slotFor(node, configAt(params, 0)),
  getBlock,
  getBlocks: finalBlocks,
  getEpochInfo(node, params) {
    const slot = slotFor(node, configAt(params, 0));
    const block = node.slots.newestAt(slot);
    return { absoluteSlot: block.slot, blockHeight: heightOf(node, block) };
  },
  getLatestBlockhash(node, params) {
    const slot = slotFor(node, configAt(params, 0));
    const { hash, height } = node.slots.newestAt(slot);
    return inContext(slot, { blockhash: hash, lastValidBlockHeight: height + blockhashAge_blocks });
  },
  isBlockhashValid(node, params) {
    const slot = slotFor(node, configAt(params, 1));
    return inContext(slot, isValid(node, String(params[0]), slot));
  },
  getRecentPrioritizationFees: (node) => [
    { slot: node.slotOf('confirmed'), prioritizationFee: node.spells.has('asksForMore') ? 2_000_000 : 2_000 },
  ],
  getMultipleAccounts,
  getSignaturesForAddress,
  getSignatureStatuses,
  getTransaction,
  simulateTransaction,
  sendTransaction,
};

/** @throws NodeAway, RpcError */
export function answer(node: SolanaNode, method: string, params: unknown): unknown {
  if (node.spells.has('away')) throw new NodeAway('the node is away');
  if (node.spells.has('crowded')) throw new RpcError(429, 'Too many requests from your IP');
  if (node.spells.has('fails')) throw new RpcError(-32_603, 'Internal error');
  const known = methods[method];
  if (!known) throw new RpcError(-32_601, 'Method not found');
  return known(node, params as Params);
}
