/** Methods that no real node has: tests and the sandbox control the world with them, from any process. */

import { type SolanaFault, solanaFaultKinds } from '../../faults.ts';
import { lag_slotsMax } from '../chain/chain.ts';
import { tokenPrograms } from '../chain/tokens.ts';
import { plantCctpPrograms, plantLamports, plantMint, plantTokens } from '../plant.ts';
import { addressOf as addressIn, invalid, type Method, type Params } from './method.ts';

const slotsMax = 100_000;
const decimalsMax = 19;

type Config = Readonly<Record<string, unknown>>;

/** An object with options, or nothing. */
function configParam(params: Params, place: number): Config {
  const value = Array.isArray(params) ? (params[place] ?? {}) : {};
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid('the options must be an object');
  return value as Config;
}

function addressOf(value: unknown) {
  if (typeof value !== 'string') throw invalid('an address must be a string');
  return addressIn(value);
}

export const advanceSlots: Method = ({ chain }, params) => {
  const { slots = 1, seconds = 0 } = configParam(params, 0);
  chain.advance(whole(slots, 'slots', slotsMax), whole(seconds, 'seconds', slotsMax));
  return { slot: chain.head() };
};

export const plant: Method = ({ chain }, params) => {
  const { mint, decimals = 6, program } = configParam(params, 0);
  const owner = program === undefined ? undefined : addressOf(program);
  if (owner && !tokenPrograms.has(owner)) throw invalid(`not a token program: ${owner}`);
  plantMint(chain, addressOf(mint), whole(decimals, 'decimals', decimalsMax), owner);
  return { mint };
};

/** `{ attesters }`: 20 bytes each in hex, joined by commas, in ascending order. */
export const plantCctp: Method = async ({ chain }, params) => {
  const { attesters } = configParam(params, 0);
  if (typeof attesters !== 'string') throw invalid('attesters must be a string');
  await plantCctpPrograms(
    chain,
    attesters.split(',').map((each) => Buffer.from(each, 'hex')),
  );
  return {};
};

export const fund = async ({ chain }: { readonly chain: Parameters<typeof plantMint>[0] }, params: Params) => {
  const { address: owner, lamports = '0', tokens = {} } = configParam(params, 0);
  const wallet = addressOf(owner);
  if (amountOf(lamports) > 0n) plantLamports(chain, wallet, amountOf(lamports));
  const accounts: Record<string, string> = {};
  for (const [mint, amount] of Object.entries(tokens as Config)) {
    accounts[mint] = await plantTokens(chain, wallet, addressOf(mint), amountOf(amount));
  }
  return { accounts };
};

export const addFault: Method = ({ faults }, params) => {
  const { kind, method, times = 1, slots = 1 } = configParam(params, 0);
  const known = solanaFaultKinds.find((each) => each === kind);
  if (!known || typeof method !== 'string')
    throw invalid(`a fault needs a method and one of: ${solanaFaultKinds.join(', ')}`);
  if (known === 'drop' && method !== 'sendTransaction') throw invalid('only sendTransaction can drop anything');
  const fault: SolanaFault = {
    kind: known,
    method,
    times: whole(times, 'times', slotsMax),
    slots: whole(slots, 'slots', lag_slotsMax),
  };
  faults.add(fault);
  return { kind };
};

/** `{ slots, method, params }`: answers a call like a node that is this many slots behind. */
export function behindOf(params: Params) {
  const { slots, method, params: asked = [] } = configParam(params, 0);
  if (typeof method !== 'string' || !Array.isArray(asked)) throw invalid('slots, a method and its list of params');
  return { slots: whole(slots, 'slots', lag_slotsMax), method, params: asked as Params };
}

export const clearFaults: Method = ({ faults }) => {
  faults.clear();
  return {};
};

export const fork: Method = ({ chain }, params) => {
  const { to, landAgain = false } = configParam(params, 0);
  const slot = whole(to, 'to', Number.MAX_SAFE_INTEGER);
  try {
    return { gone: chain.fork(slot, landAgain === true), slot: chain.head() };
  } catch (error) {
    throw invalid((error as Error).message);
  }
};

function whole(value: unknown, name: string, max: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max) return value as number;
  throw invalid(`${name} must be a whole number up to ${max}`);
}

function amountOf(value: unknown): bigint {
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value);
  throw invalid('amounts are whole numbers of smallest units, as text');
}
