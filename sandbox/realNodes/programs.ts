/** The programs that start real chain nodes. The environment names them; the project ships none. */
import { realpathSync } from 'node:fs';
import { freePort } from '../freePort.ts';

/** Start programs by environment variable. Each takes `PORT FOLDER` (GETH: `PORT FOLDER GENESIS.json`) and runs in the foreground. */
export interface RealNodePrograms {
  /** go-ethereum, one node per EVM chain. */
  readonly GETH?: string;
  /** Agave's solana-test-validator. */
  readonly SOLANA?: string;
  /** stellar-core with stellar-rpc. */
  readonly STELLAR?: string;
}

export type RealNodeName = keyof RealNodePrograms;

/** Consecutive ports that each program listens on, beginning with the port of its JSON-RPC. */
export const portsOfNode: Readonly<Record<RealNodeName, number>> = { GETH: 2, SOLANA: 45, STELLAR: 6 };

/**
 * Reads the start programs from the environment.
 *
 * @throws Error that names the variable whose program does not exist
 */
export function realNodePrograms(env: NodeJS.ProcessEnv): RealNodePrograms {
  const names = Object.keys(portsOfNode) as RealNodeName[];
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, existing(name, env[name])]] : [])));
}

/** Returns the programs of a sandbox on real nodes. @throws Error when the environment names none */
export function chosenRealNodes(env: NodeJS.ProcessEnv): RealNodePrograms {
  const programs = realNodePrograms(env);
  if (Object.keys(programs).length > 0) return programs;
  throw new Error('--real-nodes needs a start program: set GETH, SOLANA or STELLAR (docs/contribute/real-chains.md)');
}

/** Returns a port of 127.0.0.1 that is free together with the ports above it that the program uses. */
export const freeNodePort = (name: RealNodeName): Promise<number> => freePort(portsOfNode[name]);

function existing(name: RealNodeName, path: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw new Error(`${name}=${path}: no such program; set ${name} to the path of its start program`);
  }
}
