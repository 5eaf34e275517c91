/** Agreement of several nodes of one chain: a single node may lie, lag, or be compromised. */
import { convert, tokenIn, usDollar } from '../../../domain/money.ts';
import { type Transfer, transferId } from '../../../domain/payment/events.ts';
import type { AssetRef } from '../../../domain/transfer/shapes.ts';
import { boundedMap } from '../../lib/cache.ts';
import { type Agreement, type Dispute, type Fate, type Sent, sameTransfer } from '../ports.ts';
import { type ChainNode, RpcFailed } from './jsonRpc.ts';
import { type Agree, type ChainRpc, ChainUnavailable } from './nodes.ts';

export const usuallyAgree = 2;
const largeFromDefault_usd = 1_000n;

/** Two if there are two; large sums always need two. */
export const defaultAgree = (rpcUrls: readonly string[], largeFrom_usd = largeFromDefault_usd): Agree => ({
  usual: Math.min(usuallyAgree, rpcUrls.length),
  large: usuallyAgree,
  largeFrom_usd,
});

/** Amount of a transfer in whole tokens. A coin's value is unknown here, so it needs the usual number of nodes. */
export const wholeTokens = ({ amount, token }: { readonly amount: string; readonly token: AssetRef }): bigint => {
  const dollar = tokenIn(token);
  return dollar ? convert(BigInt(amount), dollar, usDollar) : 0n;
};

/** All attempts of a transfer have the same amount. */
export const stakeOf = ([attempt]: readonly Pick<Sent, 'amount' | 'token'>[]): bigint =>
  attempt ? wholeTokens(attempt) : 0n;

/** @param usd amount at risk, in whole tokens */
export const nodesNeeded = ({ usual, large, largeFrom_usd }: Agree, usd: bigint): number =>
  usd >= largeFrom_usd ? Math.max(usual, large) : usual;

/** A node's statement about a fact from another node: it returns the same, or a different answer. */
export type Statement = 'same' | { readonly instead: string };

/**
 * Queries all nodes about a fact. Nodes that lag or do not answer are not counted.
 * @param ask throws RpcFailed for a node that cannot answer
 */
export async function agreedOn(
  rpc: ChainRpc,
  needed: number,
  ask: (node: ChainNode) => Promise<Statement>,
  signal?: AbortSignal,
): Promise<Agreement> {
  const said = await named(rpc, ask, signal);
  const same = said.filter(({ answer }) => answer === 'same');
  const others = said.flatMap(({ node, answer }) =>
    answer === undefined || answer === 'same' ? [] : [`${node}: ${answer.instead}`],
  );
  const agreed = same.length >= needed;
  if (others.length > 0) {
    const shown = same.map(({ node }) => `${node}: shows it`);
    return { agreed, dispute: { reason: 'nodesDisagree', message: [...shown, ...others].join('; ') } };
  }
  return agreed ? { agreed } : { agreed, dispute: tooFew(needed, said) };
}

/**
 * Returns the fact that each answering node found; null if they differ in one of the fields, found nothing, or are too few.
 * @param found of each node that answered
 */
export function foundByAll<T>(found: readonly (T | null)[], needed: number, fields: readonly (keyof T)[]): T | null {
  const [first = null] = found;
  const isSame = (each: T | null) => fields.every((field) => each?.[field] === first?.[field]);
  return found.length >= needed && found.every(isSame) ? first : null;
}

/** A node cannot answer because the fact is older than its history. */
export class FactForgotten extends RpcFailed {
  constructor(node: string, method: string, detail: string) {
    super(node, method, 'refused', detail);
  }
}

interface Said<T> {
  readonly node: string;
  /** Undefined if it could not answer. */
  readonly answer: T | undefined;
  readonly failure?: RpcFailed;
}

async function named<T>(
  rpc: ChainRpc,
  ask: (node: ChainNode) => Promise<T>,
  signal?: AbortSignal,
): Promise<readonly Said<T>[]> {
  const names = rpc.nodes.map((connect) => connect(signal).name);
  const outcomes = await rpc.allSettled(ask, signal);
  return outcomes.map((outcome, at): Said<T> => {
    const node = names[at] ?? `node ${at + 1}`;
    if (outcome.status === 'fulfilled') return { node, answer: outcome.value };
    return { node, answer: undefined, failure: outcome.reason as RpcFailed };
  });
}

function tooFew(needed: number, said: readonly Said<unknown>[]): Dispute {
  const could = said.filter(({ answer }) => answer !== undefined).length;
  const failures = said.flatMap(({ failure }) => failure ?? []);
  if (failures.some((failure) => failure instanceof FactForgotten)) return forgotten(failures);
  const wanted = `${needed} nodes must say the same, ${could} of ${said.length} can: name more in RPC_URLS_<chainId>`;
  return { reason: 'nodesTooFew', message: [wanted, ...failures.map(({ message }) => message)].join('; ') };
}

const forgotten = (failures: readonly Error[]): Dispute => ({
  reason: 'nodesForgot',
  message: [
    'the nodes have forgotten: as many as must agree have to remember',
    ...failures.map(({ message }) => message),
  ].join('; '),
});

/**
 * True if a fact is gone: every answering node denies it, and at least the required number do. The other nodes are queried only once one
 * denies it.
 * @param ask returns undefined for a node that cannot answer
 */
export async function allDeny(
  rpc: ChainRpc,
  ask: (node: ChainNode) => Promise<boolean | undefined>,
  signal?: AbortSignal,
): Promise<boolean> {
  if ((await rpc.firstAnswer(ask, signal)) !== false) return false;
  const said = (await rpc.all(ask, signal)).filter((answer) => answer !== undefined);
  return said.length >= rpc.agree.usual && said.every((shown) => !shown);
}

/**
 * Start of reading a chain, according to the required number of nodes: a single node could hide earlier payins.
 * @throws ChainUnavailable while fewer answer
 */
export async function toldByEnough<T>(
  rpc: ChainRpc,
  ask: (node: ChainNode) => Promise<T>,
  signal?: AbortSignal,
): Promise<readonly T[]> {
  const said = await named(rpc, ask, signal);
  const told = said.flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
  if (told.length >= rpc.agree.usual) return told;
  const failures = said.flatMap(({ failure }) => failure ?? []);
  throw new ChainUnavailable(rpc.chainId, [...failures, new Error(`${rpc.agree.usual} have to say where to begin`)]);
}

/**
 * A pass that expires payments by block times does not follow a node to blocks that others lack: at least one of the answering nodes must
 * have the block. If none answers, the node is followed: alone it confirms no payin.
 * @param shows returns true if another node has the block; throws RpcFailed for one that does not answer
 */
export async function isShared(
  rpc: ChainRpc,
  node: ChainNode,
  shows: (other: ChainNode) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<boolean> {
  const said = await saidElsewhere(rpc, node, shows, signal);
  return said === null || said.length === 0 || said.includes(true);
}

/** Stricter check for decisions that could lose money if one node lied: if other nodes exist and none answers, it waits. */
export async function isSharedForSure(
  rpc: ChainRpc,
  node: ChainNode,
  shows: (other: ChainNode) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<boolean> {
  const said = await saidElsewhere(rpc, node, shows, signal);
  return said === null || said.includes(true);
}

/** Answers of the other nodes; null if one node is trusted, or there is no other. */
async function saidElsewhere(
  rpc: ChainRpc,
  node: ChainNode,
  shows: (other: ChainNode) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<readonly boolean[] | null> {
  const others = rpc.nodes.map((connect) => connect(signal)).filter(({ name }) => name !== node.name);
  if (rpc.agree.usual <= 1 || others.length === 0) return null;
  const asked = await Promise.allSettled(others.map(shows));
  return asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}

const undecided = { kind: 'pending', mined: true } as const satisfies Fate;

/** Fate according to one node. `unshown`: it has an attempt mined, and no receipt of it; another node may have it. */
export type NodeFate = Fate | 'unshown';

/**
 * Fate of attempts. Queries the nodes one after the other until one can answer; `unknown` if none can. Final or short requires as many
 * nodes as the amount demands, in the same block, with the same amount. Dead requires those and every other answering node: a wrong answer
 * would pay twice.
 *
 * @param ask one node's answer; undefined if it knows none of the attempts and cannot prove them dead
 * @param usd the transfer, in whole tokens
 */
export async function agreedFate(
  rpc: ChainRpc,
  ask: (node: ChainNode) => Promise<NodeFate | undefined>,
  usd: bigint,
  signal: AbortSignal,
): Promise<Fate> {
  const needed = nodesNeeded(rpc.agree, usd);
  let isUnshown = false;
  const shownBy = async (node: ChainNode): Promise<Fate | undefined> => {
    const fate = await ask(node);
    isUnshown ||= fate === 'unshown';
    return fate === 'unshown' ? undefined : fate;
  };
  const saidBy = async (node: ChainNode): Promise<Fate | 'nothing'> => {
    const fate = await ask(node);
    return fate === 'unshown' ? undecided : (fate ?? 'nothing');
  };
  try {
    const said = await rpc.firstAnswer(shownBy, signal);
    if (said === undefined) return isUnshown ? undecided : { kind: 'unknown' };
    if (said.kind === 'pending' || (said.kind === 'final' && needed <= 1)) return said;
    return judged(said, needed, await named(rpc, saidBy, signal));
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    const { failures } = error;
    const forgot = failures.some((failure) => failure instanceof FactForgotten);
    return forgot ? { ...undecided, dispute: forgotten(failures) } : { kind: 'unknown' };
  }
}

function judged(first: Fate, needed: number, said: readonly Said<Fate | 'nothing'>[]): Fate {
  const answers = said.flatMap(({ answer }) => answer ?? []);
  const fates = answers.filter((answer) => answer !== 'nothing');
  if (contradict([first, ...fates])) {
    const message = said.map(({ node, answer }) => `${node}: ${inWords(answer)}`).join('; ');
    return { ...undecided, dispute: { reason: 'nodesDisagree', message } };
  }
  const alike = answers.filter((answer) => answer !== 'nothing' && answer.kind === first.kind);
  const assented = first.kind === 'dead' ? alike.length === answers.length : true;
  if (assented && alike.length >= needed) return first;
  if (answers.length < needed) return { ...undecided, dispute: tooFew(needed, said) };
  return fates.find(({ kind }) => kind === 'pending') ?? undecided;
}

type Landed = Extract<Fate, { kind: 'final' | 'short' }>;

/** Dead at one node and landed at another, or landed in two blocks, or with two amounts. */
function contradict(fates: readonly Fate[]): boolean {
  const landed = fates.filter((fate) => fate.kind === 'final' || fate.kind === 'short');
  const places = new Set(landed.map((fate) => `${fate.hash} ${fate.blockHash} ${brought(fate)}`));
  return places.size > 1 || (places.size === 1 && fates.some(({ kind }) => kind === 'dead'));
}

const brought = ({ kind, arrived }: Landed): string =>
  kind === 'final' && arrived === undefined ? 'all' : `${arrived}`;

function inWords(said: Fate | 'nothing' | undefined): string {
  if (said === undefined) return 'no answer';
  if (said === 'nothing') return 'knows nothing of it';
  if (said.kind === 'final' || said.kind === 'short')
    return `${said.hash} is final in block ${said.blockNumber} (${said.blockHash})${said.kind === 'short' ? ` and brought ${said.arrived} units` : ''}`;
  return said.kind === 'dead' ? `dead: ${said.proof.detail}` : 'still waits';
}

type Named = Pick<ChainNode, 'name'>;

export interface ShownTransfers {
  show(node: Named, transfers: readonly Transfer[]): void;
  /** True if the node itself has returned exactly this transfer in this block. */
  isShownBy(node: Named, transfer: Transfer): boolean;
}

const keptMax = 10_000;

/** Remembers which transfers each node returned as final, so a node is not queried again for its own answer. */
export function createShownTransfers(): ShownTransfers {
  const shown = boundedMap<Transfer>(keptMax);
  const keyOf = ({ name }: Named, transfer: Transfer) => `${name} ${transferId(transfer)}`;
  return {
    show(node, transfers) {
      for (const transfer of transfers) shown.set(keyOf(node, transfer), transfer);
    },
    isShownBy(node, transfer) {
      const known = shown.get(keyOf(node, transfer));
      return known !== undefined && sameTransfer(known, transfer);
    },
  };
}
