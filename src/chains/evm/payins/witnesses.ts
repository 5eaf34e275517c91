/** What each node says, for itself, of a transfer that another has told: its receipt, its block, and whether that is final. */
import { chainOf } from '../../../../domain/chains.ts';
import type { Transfer } from '../../../../domain/payment/events.ts';
import { agreedOn, nodesNeeded, type Statement } from '../../node/agreement.ts';
import { type Ingester, type Pass, sameTransfer } from '../../ports.ts';
import type { EvmChainConfig } from '../config.ts';
import { finalHeight } from '../finality.ts';
import { type Header, knownHeader, type Receipt, receiptOf } from '../reads.ts';
import { type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';
import type { Headers, Shown } from './headers.ts';
import { type SeenReceipts, seenKey } from './receipts.ts';
import type { ShownBlock, ShownBlocks } from './shownBlocks.ts';
import { transfersOf } from './transfers.ts';

const method = 'eth_getTransactionReceipt';

/**
 * @param shown blocks that nodes have just shown as theirs
 * @param seen receipts that nodes have shown: in the same block, a node's receipt stays what it is
 */
export function createWitnesses(
  config: EvmChainConfig,
  rpc: EvmRpc,
  {
    headers,
    shown: blocks,
    seen,
  }: { readonly headers: Headers; readonly shown: ShownBlocks; readonly seen: SeenReceipts },
): Ingester['agreed'] {
  const chain = chainOf(config.chainId);

  /** @throws RpcFailed when the node cannot say: it has not come so far */
  async function stated(node: EvmNode, transfer: Transfer, pass: Pass): Promise<Statement> {
    const height = BigInt(transfer.blockNumber);
    if (!(await reaches(node, height, pass)))
      throw new RpcFailed(node.name, method, 'refused', `block ${height} is not final there`);
    const said = (receipt: Receipt, { hash, time_s }: ShownBlock): Statement => {
      const shown = transfersOf(chain, receipt, time_s).find(({ index }) => index === transfer.index);
      const isThere = receipt.blockHash === hash && hash === transfer.blockHash;
      if (isThere && shown && sameTransfer(shown, transfer)) return 'same';
      return { instead: `has transaction ${transfer.txHash} in block ${receipt.blockHash}, ${inWords(shown)}` };
    };
    const block = async () => blocks.at(node, pass, height) ?? (await headers.now(node, height));
    const known = seen.get(seenKey(node, transfer));
    if (known && said(known, await block()) === 'same') return 'same';
    // What a node has shown otherwise may have been a lie, and is not held against it.
    const receipt = await receiptOf(node, transfer.txHash);
    if (!receipt) return { instead: `has no transaction ${transfer.txHash}` };
    return said(receipt, await block());
  }

  /** By what the watcher of heads saw of the node, or by asking it. */
  async function reaches(node: EvmNode, height: bigint, pass: Pass): Promise<boolean> {
    const endOf = (head: Header, tagged?: Shown['tagged']) =>
      pass === 'head' ? head.number : finalHeight(node, head, config.depths[pass], { aged, ...(tagged && { tagged }) });
    const aged = (atMost: bigint, before_s: number) => headers.aged(node, atMost, before_s);
    const newest = headers.seen(node);
    if (newest && (await endOf(newest.latest, newest.tagged)) >= height) return true;
    return (await endOf(await knownHeader(node, 'latest'))) >= height;
  }

  return (transfer, { pass, usd }, signal) =>
    agreedOn(rpc, nodesNeeded(config.agree, usd), (node) => stated(node, transfer, pass), signal);
}

const inWords = (shown: Transfer | undefined): string =>
  shown
    ? `where ${shown.from} sends ${shown.amount} of ${shown.token.address} to ${shown.to}`
    : 'without that transfer';
