/** Several payouts in one transaction: whether that is possible and cheaper, and the checks before its signature. */
import type { Batching, MemberOrder } from '../../../../commands/transferPorts.ts';
import { formatAmount } from '../../../../domain/money.ts';
import type { AssetRef } from '../../../../domain/transfer/shapes.ts';
import { higher, lower } from '../../../lib/concurrency.ts';
import { PayoutBlocked, type TransferOrder } from '../../ports.ts';
import { blockGasLimit, gasNeeded } from '../accounts.ts';
import type { EvmFees } from '../config.ts';
import { allowanceOf, isPayManyThere, payManyAddress, payManyCall } from '../payMany.ts';
import { type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';
import { isRevert, type Payer } from './preflight.ts';
import { withMargin } from './prices.ts';
import { gasMaxFor, transferCall } from './transaction.ts';

/** Maximum share of a block's gas for one transaction (a quarter): a larger one waits for an empty block. */
const blockShare = 4n;

/** @throws PayoutBlocked if the contract is missing, or its allowance is too small */
async function checkAllowed(node: EvmNode, { chain, account }: Payer, token: AssetRef, sum: bigint): Promise<void> {
  if (!(await isPayManyThere(node)))
    throw refused(
      `the contract that pays many is not on ${chain.name}: npm run treasury -- batches deploy ${chain.id}`,
    );
  const allowed = await allowanceOf(node, account, token.address);
  if (allowed >= sum) return;
  const text = (units: bigint) => `${formatAmount(units, token.decimals)} ${token.symbol}`;
  throw refused(
    `the contract that pays many may spend ${text(allowed)} on ${chain.name}, ${text(sum)} are to be paid: npm run treasury -- batches allow ${chain.id} ${token.symbol} <amount>`,
  );
}

/**
 * @param toNewHolder gas of a transfer to an account that never held the token: any receiver may have emptied its account by then
 * @returns the gas to allow
 * @throws PayoutBlocked if the token refuses one of the receivers, or would bring one less, or it needs too much gas
 */
export async function gasToPayMany(
  node: EvmNode,
  payer: Payer,
  order: TransferOrder,
  { fees, toNewHolder }: { readonly fees: EvmFees; readonly toNewHolder: bigint },
): Promise<bigint> {
  const { chain, account } = payer;
  await checkAllowed(node, payer, order.token, order.amount);
  const count = order.form?.kind === 'payMany' ? BigInt(order.form.payments.length) : 0n;
  const most = lower(gasMaxFor(order, fees.gasMax), (await blockGasLimit(node)) / blockShare);
  try {
    const needed = await gasNeeded(node, { from: account, ...payManyCall(order) });
    const allowed = lower(higher(withMargin(needed), toNewHolder * count), most);
    if (withMargin(needed) <= most) return allowed;
    throw refused(`${count} payouts together need ${needed} gas on ${chain.name}, ${most} are allowed`);
  } catch (error) {
    if (isRevert(error)) throw refused(`payouts together would be reverted on ${chain.name}: ${error.detail}`);
    throw error;
  }
}

const refused = (why: string): PayoutBlocked => new PayoutBlocked('refusedByToken', why);

/** Port of the rail for the batch worker. */
export function createBatching(rpc: EvmRpc, payer: Payer): Batching {
  const { chain, account } = payer;

  async function gasOf(node: EvmNode, order: TransferOrder): Promise<bigint | undefined> {
    try {
      const call = order.form ? payManyCall(order) : transferCall(order);
      return await gasNeeded(node, { from: account, ...call });
    } catch (error) {
      if (error instanceof RpcFailed && error.kind === 'refused') return undefined;
      throw error;
    }
  }

  async function choose(node: EvmNode, token: AssetRef, orders: readonly MemberOrder[]) {
    const single = await Promise.all(orders.map((each) => gasOf(node, plain(token, each))));
    const payable = orders.filter(({ receiver }, at) => single[at] !== undefined && receiver !== account);
    if (payable.length < 2) return { together: [], why: 'the token refuses the others' };
    const payments = payable.map(({ amount, ...each }) => ({ ...each, amount }));
    const sum = payments.reduce((total, { amount }) => total + amount, 0n);
    await checkAllowed(node, payer, token, sum);
    const order = {
      ...plain(token, { receiver: payManyAddress, amount: sum }),
      form: { kind: 'payMany', payments },
    } as const;
    const gas = await gasOf(node, order);
    if (gas === undefined) return { together: [], why: 'the token refuses them together' };
    const apart = orders.reduce((total, each, at) => (payable.includes(each) ? total + (single[at] ?? 0n) : total), 0n);
    if (gas >= apart) return { together: [], why: `together they need ${gas} gas, by themselves ${apart}` };
    return { together: payable.map(({ paymentId }) => paymentId), gas, apart };
  }

  const plain = (token: AssetRef, { receiver, amount }: Pick<MemberOrder, 'receiver' | 'amount'>): TransferOrder => ({
    chainId: chain.id,
    token,
    receiver,
    receiverMemo: null,
    amount,
  });

  return {
    contract: payManyAddress,
    async choose(token, orders, signal) {
      try {
        return await rpc.answer((node) => choose(node, token, orders), signal);
      } catch (error) {
        if (!(error instanceof PayoutBlocked)) throw error;
        return { together: [], why: error.message };
      }
    },
  };
}
