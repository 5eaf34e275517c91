/**
 * Checks before deposits are flushed, or their forwarder is deployed: a call that would revert, or move less, is refused before its
 * signature.
 */
import { formatAmount } from '../../../../domain/money.ts';
import { PayoutBlocked, type TransferOrder } from '../../ports.ts';
import { gasNeeded, hasCode } from '../accounts.ts';
import { deployer, forwarderAddresses } from '../addresses.ts';
import type { EvmFees } from '../config.ts';
import { isPayManyThere, payManyAddress } from '../payMany.ts';
import { balancesOfMany } from '../reads.ts';
import type { EvmNode } from '../rpc.ts';
import { isRevert, type Payer } from './preflight.ts';
import { withMargin } from './prices.ts';
import { callFor, gasMaxFor } from './transaction.ts';

/**
 * @returns the gas to allow
 * @throws PayoutBlocked if the forwarder is missing, the deposits hold less than ordered, the token refuses, or it needs too much gas
 */
export async function gasToFlush(node: EvmNode, payer: Payer, order: TransferOrder, fees: EvmFees): Promise<bigint> {
  const { token, amount, form } = order;
  const deposits = form?.kind === 'flush' ? form.deposits.map(({ address }) => address) : [];
  if (!(await hasCode(node, forwarderAddresses(payer.account).factory))) throw missing(payer);
  const held = (await balancesOfMany(node, deposits, [token.address], 'latest')).flat();
  const sum = held.reduce((total, each) => total + each, 0n);
  if (sum < amount) {
    const text = (units: bigint) => formatAmount(units, token.decimals);
    throw refused(`the deposits hold ${text(sum)} ${token.symbol} by now, ${text(amount)} were to be taken`);
  }
  return gasFor(node, payer, order, fees);
}

/** @throws PayoutBlocked if it exists already, cannot be deployed, or needs too much gas */
export async function gasToDeploy(node: EvmNode, payer: Payer, order: TransferOrder, fees: EvmFees): Promise<bigint> {
  const { chain, account } = payer;
  const isPayMany = order.form?.kind === 'deploy' && order.form.contract === 'payMany';
  const address = isPayMany ? payManyAddress : forwarderAddresses(account).factory;
  if (await hasCode(node, address)) throw refused(`the contract is on ${chain.name}`);
  if (!(await hasCode(node, deployer)))
    throw refused(`${chain.name} has no deterministic deployer at ${deployer}: deploy that first`);
  return gasFor(node, payer, order, fees);
}

/** @throws PayoutBlocked if the contract is missing, or the token refuses such an allowance */
export async function gasToAllow(node: EvmNode, payer: Payer, order: TransferOrder, fees: EvmFees): Promise<bigint> {
  const isOurs = order.form?.kind === 'allow' && order.form.contract === 'payMany';
  if (isOurs ? await isPayManyThere(node) : await hasCode(node, order.receiver))
    return gasFor(node, payer, order, fees);
  if (!isOurs) throw refused(`the contract that burns is not on ${payer.chain.name}`);
  throw refused(`the contract that pays many is not on ${payer.chain.name}: deploy that first`);
}

/** @throws PayoutBlocked when it would be reverted, or needs too much gas */
export async function gasFor(
  node: EvmNode,
  { chain, account }: Payer,
  order: TransferOrder,
  { gasMax }: EvmFees,
): Promise<bigint> {
  const most = gasMaxFor(order, gasMax);
  try {
    const needed = withMargin(await gasNeeded(node, { from: account, ...callFor(order, account) }));
    if (needed <= most) return needed;
    throw refused(`it needs ${needed} gas, the limit is ${most} (GAS_MAX_${chain.id})`);
  } catch (error) {
    if (isRevert(error)) throw refused(`it would be reverted on ${chain.name}: ${error.detail}`);
    throw error;
  }
}

/** @returns why deposits cannot be swept on a chain without their forwarder */
export const missing = ({ chain }: Pick<Payer, 'chain'>): PayoutBlocked =>
  refused(`the forwarder is not on ${chain.name}: npm run sweep -- deploy ${chain.id}`);

const refused = (why: string): PayoutBlocked => new PayoutBlocked('refusedByToken', why);
