/** Balances of deposits on an EVM chain, and the number of them that one transaction can flush. */
import { type Address, type Hex, hexToBytes, isAddress } from 'viem';
import type {
  DepositSweep,
  HeldDeposit,
  LeftDeposit,
  PaidDeposit,
  SweepPart,
} from '../../../../commands/sweeps/ports.ts';
import { chainOf } from '../../../../domain/chains.ts';
import { higher, lower } from '../../../lib/concurrency.ts';
import { PayoutBlocked } from '../../ports.ts';
import { blockGasLimit, gasNeeded, hasCode } from '../accounts.ts';
import { depositAddresses, evmDeposits, flushCall, forwarderAddresses } from '../addresses.ts';
import type { EvmChainConfig } from '../config.ts';
import { finalHeight } from '../finality.ts';
import { missing } from '../payouts/forwarding.ts';
import { createPrices, type Prices, usualCost, withMargin } from '../payouts/prices.ts';
import { gasMaxFor } from '../payouts/transaction.ts';
import { balancesOfMany, knownHeader } from '../reads.ts';
import { createEvmRpc, type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';

const heldMax = 250;
/** Maximum deposits of one flush in an operation. The chain's own limit follows from estimates. */
const depositsMax = 200;
/** Maximum pending flushes, of at most sixteen pending transactions of an account. */
const partsMax = 4;
/** Maximum estimates; a token that refuses some of many deposits is found by bisection. */
const estimatesMax = 64;

/** Flushes by the treasury's forwarder. They close nothing: later deposits are found and swept later. */
export function createEvmSweep(
  config: EvmChainConfig,
  account: Address,
  rpc: EvmRpc = createEvmRpc(config),
): DepositSweep {
  const { chainId, fees, depths } = config;
  const chain = chainOf(chainId);
  const { tokens } = chain;
  const { factory } = forwarderAddresses(account);
  const depositOf = evmDeposits(account);
  const late = rpc.as('late');
  const prices = createPrices(late);

  async function ready(node: EvmNode, gasPriceMax: bigint | null): Promise<true> {
    if (!(await hasCode(node, factory))) throw missing({ chain });
    const { latest, tip_wei } = await prices(node);
    const price = latest.baseFee_wei + higher(lower(tip_wei, fees.maxTip_wei), fees.minTip_wei);
    const most = lower(gasPriceMax ?? fees.maxFeePerGas_wei, fees.maxFeePerGas_wei);
    if (price <= most) return true;
    throw new PayoutBlocked(
      'gas',
      `gas on ${chain.name} costs ${price} wei, sweeps pay ${most} at most: wait, or raise it`,
    );
  }

  /** Lower of the final and the current balance: a recent flush is not final yet. */
  async function heldBy(node: EvmNode, deposits: readonly Owned[]): Promise<readonly HeldDeposit[]> {
    const head = await knownHeader(node, 'latest');
    const final = higher(await finalHeight(node, head, depths.final), 0n);
    const [addresses, contracts] = [deposits.map(({ address }) => address), tokens.map(({ address }) => address)];
    const [now, settled] = await Promise.all([
      balancesOfMany(node, addresses, contracts, head.number),
      balancesOfMany(node, addresses, contracts, final),
    ]);
    return deposits.flatMap((deposit, at) =>
      tokens.flatMap((token, of) => {
        const amount = lower(now[at]?.[of] ?? 0n, settled[at]?.[of] ?? 0n);
        return amount > 0n ? [{ ...deposit, token, amount }] : [];
      }),
    );
  }

  /** Excludes deposits of a former treasury's forwarder, which cannot be flushed here. */
  const ours = (deposits: readonly PaidDeposit[]): readonly Owned[] =>
    deposits.flatMap((deposit) => {
      const { address, salt } = depositOf(deposit.paymentId);
      return address === deposit.address && salt ? [{ ...deposit, salt }] : [];
    });

  async function planned(node: EvmNode, held: readonly HeldDeposit[], most: number) {
    const [parts, left]: [SweepPart[], LeftDeposit[]] = [[], []];
    const at = await prices(node);
    const blockGas = await blockGasLimit(node);
    const waiting = chunked(held, depositsMax);
    for (let asked = 0; asked < estimatesMax && parts.length < most; asked += 1) {
      const deposits = waiting.shift();
      const [first] = deposits ?? [];
      if (!deposits || !first) break;
      const gas = await gasOf(
        node,
        deposits,
        lower(blockGas, gasMaxFor({ form: { kind: 'flush', deposits } }, fees.gasMax)),
      );
      if (typeof gas === 'bigint')
        parts.push({ token: first.token, deposits, gas, cost: costOf(gas, deposits.length, at) });
      else if (deposits.length > 1) waiting.unshift(...chunked(deposits, Math.ceil(deposits.length / 2)));
      else left.push({ ...first, why: gas.problem });
    }
    return { parts, left };
  }

  /** Returns the problem if one transaction cannot flush these deposits. */
  async function gasOf(node: EvmNode, deposits: readonly HeldDeposit[], most: bigint): Promise<bigint | Problem> {
    const salts = deposits.map(({ salt }) => salt);
    const call = flushCall(account, salts, deposits[0]?.token.address ?? '');
    try {
      const gas = await gasNeeded(node, { from: account, ...call });
      return withMargin(gas) <= most ? gas : { problem: `a flush needs ${gas} gas, ${most} are allowed` };
    } catch (error) {
      if (!(error instanceof RpcFailed) || error.kind !== 'refused') throw error;
      return { problem: `the token refuses: ${error.detail}` };
    }
  }

  /** Estimates omit some chains' charges for data: the configured gas is the minimum for each deposit. */
  const costOf = (gas: bigint, count: number, { latest, tip_wei }: Prices): bigint =>
    usualCost(higher(gas, fees.gasUsual * BigInt(count)), latest.baseFee_wei, tip_wei, fees);

  return {
    chainId,
    account,
    heldMax,
    partsMax,
    depositsMax,
    forwarder: { address: factory, isThere: (signal) => late.answer((node) => hasCode(node, factory), signal) },
    recoveryCall({ address, salt }, token) {
      const isOurs = depositAddresses(account)(hexToBytes(salt as Hex)) === address;
      return isOurs && isAddress(token) ? flushCall(account, [salt], token) : null;
    },
    ready: async (gasPriceMax, signal) => void (await late.answer((node) => ready(node, gasPriceMax), signal)),
    held: (deposits, signal) => late.answer((node) => heldBy(node, ours(deposits)), signal),
    plan: (held, most, signal) => late.answer((node) => planned(node, held, most), signal),
  };
}

type Owned = PaidDeposit & Pick<HeldDeposit, 'salt'>;

interface Problem {
  readonly problem: string;
}

const chunked = <T>(items: readonly T[], size: number): (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
