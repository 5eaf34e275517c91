/** Facts about Solana's nodes for operators. Each node's first check covers the tokens and their decimals. */
import { instant } from '../../../domain/time.ts';
import { type ChainHealth, createChainHealth, type MethodProbe, type NodeLook, tryMethods } from '../health.ts';
import { ask, list, text } from '../node/jsonRpc.ts';
import { describeContracts } from './cctp.ts';
import { solanaChain } from './config.ts';
import { accountsOf, accountsPerCall, blockAt, finalBlocks, finalHead, slotOf } from './reads.ts';
import type { SolanaNode, SolanaRpc } from './rpc.ts';

/** Blocks become final one by one, 32 behind the newest. */
const finalSteps_ms = 2_000;

export const createSolanaHealth = (rpc: SolanaRpc): ChainHealth =>
  createChainHealth(solanaChain(), rpc, finalSteps_ms, {
    identity: (node) => ask(node, 'getGenesisHash', [], text),
    look,
    features: [
      { what: 'accounts in one call', needed: true, tryOut: accounts },
      { what: 'history of an account', needed: true, tryOut: history },
      { what: 'blocks with the newest transactions', needed: true, tryOut: newestBlock },
      { what: 'methods', needed: true, tryOut: (node) => tryMethods(node, probes) },
      { what: 'rebalances by CCTP', needed: false, tryOut: describeContracts },
    ],
    comparisons: [],
    pace_ms,
  });

/** 32 and 64 bytes of zeros in base 58: the id of the system program, and a signature that no transaction has. */
const [someId, noSignature] = ['1'.repeat(32), '1'.repeat(64)];
/** Bytes that are no transaction. */
const noTransaction = ['AAAA', { encoding: 'base64' }];

/** One probe per required method; blocks and histories are tried above. */
const probes: readonly MethodProbe[] = [
  { method: 'getGenesisHash', params: [] },
  { method: 'getSlot', params: [] },
  { method: 'getEpochInfo', params: [{ commitment: 'finalized' }] },
  { method: 'getLatestBlockhash', params: [{ commitment: 'confirmed' }] },
  { method: 'isBlockhashValid', params: [someId, { commitment: 'confirmed' }] },
  { method: 'getRecentPrioritizationFees', params: [[]] },
  { method: 'getMultipleAccounts', params: [[someId], { encoding: 'base64' }] },
  { method: 'getSignaturesForAddress', params: [someId, { limit: 1 }] },
  { method: 'getSignatureStatuses', params: [[noSignature], { searchTransactionHistory: true }] },
  { method: 'getTransaction', params: [noSignature, { encoding: 'json', maxSupportedTransactionVersion: 0 }] },
  { method: 'simulateTransaction', params: noTransaction, refusedAnyway: true },
  { method: 'sendTransaction', params: noTransaction, refusedAnyway: true },
];

/** Uses the time of the newest final block: some nodes have none for newer ones. */
async function look(node: SolanaNode): Promise<NodeLook> {
  const [slot, final] = await Promise.all([slotOf(node, 'confirmed'), finalHead(node)]);
  const { time_s } = await blockAt(node, final.slot, 'finalized');
  return { head: { blockNumber: slot, time: instant(time_s * 1_000) }, final: { blockNumber: final.slot } };
}

/** Any addresses will do: the token's own. */
async function accounts(node: SolanaNode): Promise<string> {
  const [token] = solanaChain().tokens;
  const asked = Array.from({ length: accountsPerCall }, () => token?.address ?? '');
  await accountsOf(node, asked, { commitment: 'confirmed' });
  return `${node.limits.most('accounts') ?? accountsPerCall}`;
}

async function history(node: SolanaNode): Promise<string> {
  const [token] = solanaChain().tokens;
  const found = await ask(node, 'getSignaturesForAddress', [token?.address ?? '', { limit: 1_000 }], list);
  return `${found.length} of 1000 signatures of the token`;
}

async function newestBlock(node: SolanaNode): Promise<string> {
  const { slot } = await finalHead(node);
  await blockAt(node, slot, 'finalized');
  return 'yes';
}

const paceSlots = 500n;
const paceLeast = 200n;
/** Maximum run of slots without a block. */
const around_slots = 64n;

async function pace_ms(node: SolanaNode): Promise<number | undefined> {
  const { slot } = await finalHead(node);
  const from = slot > paceSlots ? slot - paceSlots : 1n;
  const [before] = await finalBlocks(node, from, from + around_slots);
  if (before === undefined || slot - before < paceLeast) return undefined;
  const [first, last] = await Promise.all([blockAt(node, before, 'finalized'), blockAt(node, slot, 'finalized')]);
  return ((last.time_s - first.time_s) * 1_000) / Number(slot - before);
}
