/**
 * A world in which a trial makes payments while parts of it fail. Two drivers open one: processes/ with programs of this machine, and
 * containers/ with a compose file. docs/explain/decisions/0025-one-kit-for-trials.md has the differences.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainId, Token } from '../../domain/chains.ts';
import type { PublicPayment } from '../customer.ts';
import type { Random } from '../random.ts';

export interface TrialWorld {
  /** Callers reach the API here. */
  readonly url: string;
  /** Key of an app, for orders. */
  readonly apiKey: string;
  /** Chains on which customers pay and receivers are paid. */
  readonly chainIds: readonly ChainId[];
  /** A chain's node, as this process reaches it. */
  rpcUrl(chainId: ChainId): string;
  /** Accounts of customers on a chain. Each sends one transaction after the other. */
  payers(chainId: ChainId): readonly Payer[];
  /** Address of the treasury on a chain. */
  treasury(chainId: ChainId): string;
  /** Runs `npm run <name> -- <args>` as an operator. @returns its output @throws Error with its output */
  tool(name: string, ...args: readonly string[]): Promise<string>;
  /** Ends all programs and removes their data. */
  close(): Promise<void>;
}

/** Used fields of the API's answer to the app. */
export interface Payment extends PublicPayment {
  readonly refunds?: readonly { readonly status: string }[];
}

export interface Payer {
  readonly address: string;
  /** Sends an amount to the payment, as a wallet does. @throws Error of the wallet */
  pay(payment: Payment, token: Token, amount: bigint): Promise<unknown>;
}

/** Acts at once. @returns function that reverts the fault */
export type Strike<World> = (world: World, random: Random) => Promise<() => Promise<void>>;

const revertTriesMax = 20;
const revertPause_ms = 500;

/** @param lasting waits while the fault lasts @throws Error if the fault could not be caused or reverted */
export async function inflict<World>(
  strike: Strike<World>,
  world: World,
  random: Random,
  lasting: () => Promise<void>,
): Promise<void> {
  const revert = await strike(world, random);
  try {
    await lasting();
  } finally {
    await retry(revert, revertTriesMax, revertPause_ms).catch((error: unknown) => {
      throw new Error(`was not reverted: ${messageOf(error)}`);
    });
  }
}

/** @throws the last failure */
export async function retry<T>(work: () => Promise<T>, tries: number, pause_ms = 1_000): Promise<T> {
  for (let left = tries; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left <= 1) throw error;
      await sleep(pause_ms);
    }
  }
}

const messageMax = 300;

export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, messageMax);

/** A table of Markdown. */
export const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
