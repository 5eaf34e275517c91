/** Effects of a transaction: coin, tokens and the deposit forwarder, and its cost. */

import { decodeFunctionData, type Hex, hexToBytes } from 'viem';
import { forwarderFactory } from '../../../../contracts/evm/artifacts/ForwarderFactory.ts';
import { payMany } from '../../../../contracts/evm/artifacts/PayMany.ts';
import type { Chain } from '../../../../domain/chains.ts';
import { deployer, depositAddresses, forwarderAddresses } from '../../../../src/chains/evm/addresses.ts';
import { payManyAddress } from '../../../../src/chains/evm/payMany.ts';
import { lower } from '../../../../src/lib/concurrency.ts';
import { allowanceKey, authorizationKey, codeKey, coinKey, type Mined, nonceKey, tokenKey } from './blocks.ts';
import { type Cctp, cctpOn, isCctpContract, runCctp } from './cctp.ts';
import { type Call, type Effect, move, type State } from './state.ts';
import { addressArgument, argument, authorizationLog, numberArgument, selectors, transferLog } from './tokens.ts';
import type { Transaction } from './transactions.ts';
import { runUsdt0, type Usdt0Contracts, usdt0On } from './usdt0.ts';

/** A chain's contracts, all in lower case. */
export interface Contracts {
  readonly tokens: ReadonlySet<string>;
  readonly factory: string;
  readonly depositOf: (salt: Uint8Array) => string;
  readonly treasury: string;
  /** Null on chains without CCTP. */
  readonly cctp: Cctp | null;
  /** Null on chains without USDT0. */
  readonly usdt0: Usdt0Contracts | null;
}

export function contractsOf({ id, tokens }: Chain, treasury: string): Contracts {
  const depositOf = depositAddresses(treasury as Hex);
  return {
    tokens: new Set(tokens.map(({ address }) => address.toLowerCase())),
    factory: forwarderAddresses(treasury as Hex).factory.toLowerCase(),
    depositOf: (salt) => depositOf(salt).toLowerCase(),
    treasury: treasury.toLowerCase(),
    cctp: cctpOn(id),
    usdt0: usdt0On(id),
  };
}

export const isDeployer = (address: string): boolean => address === deployer.toLowerCase();

const gasFor = {
  coin: 21_000n,
  transfer: 40_000n,
  newHolder: 20_000n,
  authorization: 66_000n,
  flush: 30_000n,
  deposit: 60_000n,
  deploy: 450_000n,
  payMany: 30_000n,
  each: 32_000n,
};

/** Runs a call and keeps its effect in the state. @returns undefined when it is reverted: the state is then as it was */
export function run(state: State, call: Call, contracts: Contracts): Effect | undefined {
  const { from, to, data, value } = call;
  if (value > state.get(coinKey(from))) return undefined;
  move(state, coinKey, { from, to, amount: value });
  if (data.startsWith(selectors.transfer)) return transfer(state, call);
  if (data.startsWith(selectors.transferWithAuthorization)) return authorized(state, call);
  if (to === payManyAddress.toLowerCase()) return paysMany(state, call);
  if (contracts.cctp && isCctpContract(to)) return runCctp(state, call, contracts.cctp);
  if (contracts.usdt0?.all.has(to)) return runUsdt0(state, call, contracts.usdt0);
  if (to === contracts.factory && state.get(codeKey(to)) > 0n) return flush(state, data as Hex, contracts);
  if (isDeployer(to)) state.set(codeKey(contracts.factory), 1n);
  return { gas: isDeployer(to) ? gasFor.deploy : gasFor.coin, logs: [] };
}

/** Unknown contracts accept any transfer: theirs is only a log. */
function transfer(state: State, { from, to: token, data }: Call): Effect | undefined {
  const [receiver, amount] = [addressArgument(data, 0), numberArgument(data, 1)];
  const key = (account: string) => tokenKey(token, account);
  if (state.get(key(from)) < amount) return undefined;
  const gas = gasFor.transfer + (state.get(key(receiver)) === 0n ? gasFor.newHolder : 0n);
  move(state, key, { from, to: receiver, amount });
  return { gas, logs: [transferLog(token, from, receiver, amount)] };
}

/** EIP-3009: anybody may send it, once. Signatures are left to the service: no other is sent here. */
function authorized(state: State, { to: token, data }: Call): Effect | undefined {
  const [payer, receiver, amount] = [addressArgument(data, 0), addressArgument(data, 1), numberArgument(data, 2)];
  const nonce = `0x${argument(data, 5)}`;
  const used = authorizationKey(token, payer, nonce);
  const key = (account: string) => tokenKey(token, account);
  if (state.get(used) !== 0n || state.get(key(payer)) < amount) return undefined;
  const gas = gasFor.authorization + (state.get(key(receiver)) === 0n ? gasFor.newHolder : 0n);
  state.set(used, 1n);
  move(state, key, { from: payer, to: receiver, amount });
  return { gas, logs: [authorizationLog(token, payer, nonce), transferLog(token, payer, receiver, amount)] };
}

/** contracts/evm/PayMany.sol: all transfers, or none. */
function paysMany(state: State, { from, data }: Call): Effect | undefined {
  const { args } = decodeFunctionData({ abi: payMany.abi, data: data as Hex });
  const [asset, receivers, amounts] = args as readonly [string, readonly string[], readonly bigint[]];
  const token = asset.toLowerCase();
  const key = (account: string) => tokenKey(token, account);
  const sum = amounts.reduce((total, amount) => total + amount, 0n);
  const allowed = state.get(allowanceKey(token, from));
  if (allowed < sum || state.get(key(from)) < sum) return undefined;
  state.set(allowanceKey(token, from), allowed - sum);
  const logs = receivers.map((receiver, at) => {
    const [to, amount] = [receiver.toLowerCase(), amounts[at] ?? 0n];
    move(state, key, { from, to, amount });
    return transferLog(token, from, to, amount);
  });
  return { gas: gasFor.payMany + gasFor.each * BigInt(receivers.length), logs };
}

function flush(state: State, data: Hex, contracts: Contracts): Effect | undefined {
  const { functionName, args } = decodeFunctionData({ abi: forwarderFactory.abi, data });
  if (functionName !== 'flush') return undefined;
  const [salts, token] = args as readonly [readonly Hex[], string];
  const key = (account: string) => tokenKey(token.toLowerCase(), account);
  const logs = salts.flatMap((salt) => {
    const from = contracts.depositOf(hexToBytes(salt));
    const amount = state.get(key(from));
    move(state, key, { from, to: contracts.treasury, amount });
    return amount === 0n ? [] : [transferLog(token.toLowerCase(), from, contracts.treasury, amount)];
  });
  return { gas: gasFor.flush + gasFor.deposit * BigInt(salts.length), logs };
}

/** A transaction's place in its block. */
export interface Place {
  readonly baseFee_wei: bigint;
  readonly firstLog: number;
  readonly extraFee_wei: bigint;
}

/** Applies a transaction to a state: its cost is paid with any outcome. */
export function mine(state: State, transaction: Transaction, contracts: Contracts, place: Place): Mined {
  const { from, gas, maxFee_wei, maxTip_wei } = transaction;
  const offered_wei = place.baseFee_wei + maxTip_wei;
  const price_wei = lower(maxFee_wei, offered_wei);
  if (!transaction.ours) endow(state, transaction);
  const before = new Map(state.changes);
  const effect = run(state, transaction, contracts);
  const succeeded = effect !== undefined && effect.gas <= gas;
  if (!succeeded) {
    state.changes.clear();
    for (const [key, value] of before) state.changes.set(key, value);
  }
  const gasUsed = effect && succeeded ? effect.gas : gas;
  state.set(nonceKey(from), BigInt(transaction.nonce + 1));
  state.set(coinKey(from), state.get(coinKey(from)) - gasUsed * price_wei - place.extraFee_wei);
  return {
    transaction,
    succeeded,
    gasUsed,
    price_wei,
    logs: effect && succeeded ? effect.logs : [],
    firstLog: place.firstLog,
  };
}

/** Customers and strangers always have the money that they send. */
function endow(state: State, { from, to, data }: Transaction): void {
  state.set(coinKey(from), 10n ** 20n);
  if (!data.startsWith(selectors.transfer)) return;
  const [key, amount] = [tokenKey(to, from), numberArgument(data, 1)];
  if (state.get(key) < amount) state.set(key, amount);
}
