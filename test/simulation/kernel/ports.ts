/** Ports of a simulated world: the kernel's services for its parts, and a simulated chain's for the kernel. */
import type { ChainFamily, ChainId } from '../../../domain/chains.ts';
import type { Random } from '../../../sandbox/random.ts';

/** All randomness of a run comes from its seed. */
export type { Random };

/**
 * True if something goes wrong here. A query is identified by its name and number, so a run can be repeated without some of its faults.
 * Always false after the faults of a run have stopped.
 * @param name a word with its room, such as `evm.node.lags` @param likelihood from 0 to 1
 */
export type Faults = (name: string, likelihood: number) => boolean;

export interface Kernel {
  readonly random: Random;
  readonly fails: Faults;
  /** Simulated, in Unix time. */
  now_ms(): number;
  /** Runs it later in simulated time, outside of any simulated process. @returns what calls it off */
  after(wait_ms: number, run: () => void): () => void;
  /** A line of the run's trace: with the seed, it makes two runs comparable. Never with what differs from run to run. */
  note(line: string): void;
}

/** The node gives no answer: it is away, or the connection breaks. Thrown by `ask`. */
export class NodeAway extends Error {
  override readonly name = 'NodeAway';
}

/**
 * One node of a chain, seen through JSON-RPC. The kernel provides the network between it and the service: it delays, loses and repeats
 * calls.
 */
export interface SimulatedNode {
  /** `http://evm-1.simulated/`: its URL in the configuration. */
  readonly url: string;
  /** Called when a request arrives. @returns the JSON `result` @throws RpcError, NodeAway */
  ask(method: string, params: unknown): unknown;
}

/** A customer's task: pay the payment's address in one of these ways. */
export interface CustomerPayment {
  readonly address: string;
  /** Empty or null where the address is the payment's own. */
  readonly memo: string | null;
  readonly tokenAddress: string;
  /** Smallest units. */
  readonly amount: bigint;
  /** Payer's account. Default: a new account. */
  readonly from?: string;
}

/** A call of a contract by anybody. */
export interface StrangersCall {
  readonly address: string;
  readonly data: string;
}

/** A transfer of a token that the chain's best branch holds now. */
export interface TrueTransfer {
  readonly txHash: string;
  /** Within its transaction, as the service's transfers have it. */
  readonly index: number;
  readonly tokenAddress: string;
  readonly from: string;
  readonly to: string;
  readonly memo: string | null;
  readonly amount: bigint;
  readonly block: bigint;
}

/** True state of the chain, whatever nodes report. */
export interface Truth {
  /** Grows whenever anything below changes. */
  version(): number;
  /** The best branch's end. */
  head(): bigint;
  /** At and below this block nothing ever changes. */
  final(): bigint;
  /** Transfers of the best branch, oldest first. The same array for the same version. */
  transfers(): readonly TrueTransfer[];
  /** Smallest units. */
  balance(address: string, tokenAddress: string): bigint;
  /** Hashes of all transactions that any node was ever sent by the service, in order; mined, waiting or forgotten. */
  received(): readonly string[];
}

export interface SimulatedChain {
  readonly chainId: ChainId;
  readonly family: ChainFamily;
  readonly nodes: readonly SimulatedNode[];
  readonly truth: Truth;
  /** The account that pays out. */
  readonly treasury: string;
  /** Puts a customer's transfer under way; it is mined later, or after a fork again. */
  pay(payment: CustomerPayment): void;
  /** A stranger calls a contract. Omitted on chains without authorizations. */
  call?(call: StrangersCall): void;
  /** Omitted on chains without USDT0. */
  readonly usdt0?: SimulatedUsdt0;
  /** Omitted on chains without CCTP. */
  readonly cctp?: SimulatedCctp;
  /** A new merchant's account that can receive every token. */
  receiver(): string;
  /** Faults have stopped: nodes tell the truth at once, pending transactions are mined, blocks continue. */
  calm(): void;
  /** Configuration of the service for this chain: RPC_URLS_<chainId>, AGREE_…, the treasury's key, and the family's other variables. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A message of USDT0 from one chain to another. */
export interface OftMessage {
  readonly from: ChainId;
  readonly to: ChainId;
  /** Number on its path. */
  readonly nonce: bigint;
  /** The contract that sent it, 32 bytes with 0x; so are the id and the text of the message. */
  readonly sender: string;
  readonly guid: string;
  readonly message: string;
}

export type MessageStage = 'unverified' | 'verified' | 'delivered';

/** A chain's side of USDT0, as its verifiers and executors see it. */
export interface SimulatedUsdt0 {
  /** Messages in blocks that the chain cannot lose, oldest first. */
  sent(): readonly OftMessage[];
  /** Stage of a message to this chain: on the best branch, and where the chain cannot lose it. */
  stageOf(message: OftMessage): { readonly best: MessageStage; readonly final: MessageStage };
  /** A stranger verifies a message, or delivers it. */
  verify(message: OftMessage): void;
  deliver(message: OftMessage): void;
}

/** A chain's side of CCTP, as the attestation service and strangers see it. */
export interface SimulatedCctp {
  /** Message of a burn in a block that the chain cannot lose. */
  burned(hash: string): string | undefined;
  /** Number of the best block. */
  head(): bigint;
  /** A stranger submits a message. */
  mint(message: string, attestation: string): void;
}

/** Makes a chain that begins with a treasury that holds enough of every token and coin. */
export type OpenChain = (kernel: Kernel, chainId: ChainId) => SimulatedChain;
