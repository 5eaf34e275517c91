/** Checks on a node before an authorization is sent: an authorization that the token would refuse ends here and costs no gas. */
import { type Address, encodeFunctionData, type Hex, isAddressEqual, numberToHex, toEventSelector } from 'viem';
import { formatAmount } from '../../../../domain/money.ts';
import type { RelayEnd } from '../../../../domain/relay/events.ts';
import { higher } from '../../../lib/concurrency.ts';
import { ask, list, object } from '../../node/jsonRpc.ts';
import { PayoutBlocked, type RelayOrder } from '../../ports.ts';
import { gasNeeded, simulate, tokenBalance, topicOf } from '../accounts.ts';
import { authorizationAbi, authorizationCall } from '../authorization.ts';
import type { EvmFees } from '../config.ts';
import { hex, knownHeader } from '../reads.ts';
import type { EvmNode } from '../rpc.ts';
import { isRevert, type Payer } from './preflight.ts';
import { withMargin } from './prices.ts';

const [used, cancelled] = ['AuthorizationUsed', 'AuthorizationCanceled'].map((name) =>
  toEventSelector(`${name}(address,bytes32)`),
);
const transferred = toEventSelector('Transfer(address,address,uint256)');
/** Ranges of blocks that are searched for the transaction that used an authorization. */
const rangesMax = 10;

/** @throws PayoutBlocked whose `ends` states how the relay ends */
export async function gasToRelay(
  node: EvmNode,
  { chain, account }: Payer,
  order: RelayOrder,
  { fees: { gasMax }, rangeBlocksMax }: { readonly fees: EvmFees; readonly rangeBlocksMax: number },
): Promise<bigint> {
  const { token, amount, form } = order;
  if (await isUsed(node, order)) throw await usedUp(node, order, rangeBlocksMax);
  const held = await tokenBalance(node, form.payer as Address, token.address);
  const text = (units: bigint) => `${formatAmount(units, token.decimals)} ${token.symbol}`;
  if (held < amount) throw ended('drained', `${form.payer} holds ${text(held)}, and ${text(amount)} are to be paid`);
  try {
    const needed = withMargin(await gasNeeded(node, { from: account, ...authorizationCall(order) }));
    if (needed <= gasMax) return needed;
    throw ended('refused', `it needs ${needed} gas, the limit is ${gasMax} (GAS_MAX_${chain.id})`);
  } catch (error) {
    if (!isRevert(error)) throw error;
    // Another party may send it between the two calls.
    if (await isUsed(node, order)) throw await usedUp(node, order, rangeBlocksMax);
    throw ended(
      /expired/i.test(error.detail) ? 'expired' : 'refused',
      `${token.symbol} on ${chain.name} refuses it: ${error.detail}`,
    );
  }
}

const ended = (reason: RelayEnd, why: string, movedBy: string | null = null): PayoutBlocked =>
  new PayoutBlocked('refusedByToken', why.slice(0, 400), reason, movedBy);

async function isUsed(node: EvmNode, { token, form }: RelayOrder): Promise<boolean> {
  const args = [form.payer as Address, form.nonce as Hex] as const;
  const data = encodeFunctionData({ abi: authorizationAbi, functionName: 'authorizationState', args });
  const said = await simulate(node, { to: token.address, data });
  if (said === '0x') throw ended('refused', `there is no contract at ${token.address}`);
  return BigInt(said) !== 0n;
}

/**
 * An authorization that moved its money has paid, no matter who sent it. A cancelled one never will, nor will one whose nonce the payer has
 * used for another transfer. Without a log it counts as used, and the payin pass finds the payment.
 */
async function usedUp(node: EvmNode, order: RelayOrder, rangeBlocksMax: number): Promise<PayoutBlocked> {
  const { token, form } = order;
  const head = await knownHeader(node, 'latest');
  let to = head.number;
  for (let ranges = 0; ranges < rangesMax && to >= 0n; ranges += 1) {
    const from = higher(to - BigInt(rangeBlocksMax) + 1n, 0n);
    const topics = [[used, cancelled], topicOf(form.payer), form.nonce];
    const filter = { address: token.address, topics, fromBlock: numberToHex(from), toBlock: numberToHex(to) };
    const [found]: readonly { readonly topic: Hex; readonly txHash: Hex }[] = await ask(
      node,
      'eth_getLogs',
      [filter],
      (answer) =>
        list(answer)
          .map(object)
          .map((log) => ({ topic: hex(list(log['topics'])[0]), txHash: hex(log['transactionHash']) })),
    );
    if (found && found.topic === cancelled)
      return ended('cancelled', `the payer cancelled the authorization: ${found.txHash}`);
    if (found && !(await hasMoved(node, order, found.txHash)))
      return ended('cancelled', `the payer used the nonce of the authorization for another transfer: ${found.txHash}`);
    if (found) return ended('superseded', `somebody else sent the authorization: ${found.txHash}`, found.txHash);
    to = from - 1n;
  }
  return ended('superseded', 'the token says that the authorization is used or cancelled');
}

/** Whether a transaction moved exactly the order's amount from its payer to its deposit. */
async function hasMoved(node: EvmNode, { token, amount, receiver, form }: RelayOrder, txHash: Hex): Promise<boolean> {
  const logs = await ask(node, 'eth_getTransactionReceipt', [txHash], (answer) =>
    list(object(answer)['logs'])
      .map(object)
      .map((log) => ({
        address: hex(log['address']),
        topics: list(log['topics']).map(hex),
        data: hex(log['data']),
      })),
  );
  return logs.some(
    ({ address, topics: [topic, from, to], data }) =>
      isAddressEqual(address, token.address as Address) &&
      topic === transferred &&
      from === topicOf(form.payer) &&
      to === topicOf(receiver) &&
      data !== '0x' &&
      BigInt(data) === amount,
  );
}

/** The contract's own domain separator. @throws RpcFailed `refused` by a token without one */
export const separatorAt = (node: EvmNode, token: string): Promise<Hex> =>
  simulate(node, { to: token, data: encodeFunctionData({ abi: authorizationAbi, functionName: 'DOMAIN_SEPARATOR' }) });
