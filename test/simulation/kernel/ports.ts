/** What the parts of a simulated world agree on: what the kernel gives them, and what a simulated chain gives to the kernel. */
import type { ChainFamily, ChainId } from '../../../domain/chains.ts';

/** All chance of a run comes from its seed. */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  /** A whole number from 0 up to `end`, without it. */
  below(end: number): number;
  pick<T>(from: readonly [T, ...T[]]): T;
  bytes(count: number): Uint8Array;
  /** Another source, whose course does not depend on how much is drawn from this one. */
  fork(name: string): Random;
}

/**
 * Whether something goes wrong here. What is asked is told apart by its name and how often it was asked, so that a run can be repeated with some
 * of its faults left out. Always false once the faults of a run have stopped.
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

/** An error that a node answers with. Thrown by `ask`. */
export class RpcRefusal extends Error {
  override readonly name = 'RpcRefusal';
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The node answers with nothing: it is away, or the connection breaks. Thrown by `ask`. */
export class NodeAway extends Error {
  override readonly name = 'NodeAway';
}

/** One node of a chain, as it looks from its JSON-RPC. The network between it and the service is the kernel's: it delays, loses and repeats calls. */
export interface SimulatedNode {
  /** `http://evm-1.simulated/`: what the configuration names it by. */
  readonly url: string;
  /** Called when a request arrives. @returns the JSON `result` @throws RpcRefusal, NodeAway */
  ask(method: string, params: unknown): unknown;
}

/** What a customer is to do: pay to the address that the payment shows, in one of these ways. */
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

/** What really is on the chain, whatever nodes say of it. */
export interface Truth {
  /** Grows whenever anything below changes. */
  version(): number;
  /** The best branch's end. */
  head(): bigint;
  /** At and below this block nothing ever changes. */
  final(): bigint;
  /** Of the best branch, oldest first. The same array as long as the version is the same. */
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
  /** A merchant's account that can take every token, another one each time. */
  receiver(): string;
  /** Faults have stopped: nodes tell the truth at once, what waits is mined, blocks go on. */
  calm(): void;
  /** Variables of the service's configuration for this chain: RPC_URLS_<chainId>, AGREE_…, the treasury's key, and what else its family needs. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Makes a chain that begins with a treasury that holds enough of every token and coin. */
export type OpenChain = (kernel: Kernel, chainId: ChainId) => SimulatedChain;
