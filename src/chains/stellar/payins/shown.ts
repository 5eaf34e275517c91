/** What nodes show of one transaction. */
import { type Transfer, transferId } from '../../../../domain/payment/events.ts';
import type { Statement } from '../../node/agreement.ts';
import { type SeenPayin, sameTransfer } from '../../ports.ts';
import { type FoundTransaction, transactionOf } from '../reads.ts';
import { ChainUnavailable, RpcFailed, type StellarNode, type StellarRpc } from '../rpc.ts';
import type { TransferReader } from './transfers.ts';

/**
 * What a transaction moved to us; nothing when the nodes that answer know nothing of it.
 * @throws ChainUnavailable when no node answers, and while one of them shows it and it cannot be read
 */
export async function lookUp(rpc: StellarRpc, reader: TransferReader, txHash: string, signal: AbortSignal) {
  const unread: Error[] = [];
  const found = await rpc.first(async (node) => {
    const transaction = await transactionOf(node, txHash);
    if (transaction.status === 'NOT_FOUND') return undefined;
    try {
      return transfersIn(node, reader, transaction, txHash);
    } catch (error) {
      if (error instanceof RpcFailed) unread.push(error);
      throw error;
    }
  }, signal);
  if (found === undefined && unread.length > 0) throw new ChainUnavailable(rpc.chainId, unread);
  return found ?? [];
}

/** Whether a node returns the transaction as successful. @throws ChainUnavailable when no node answers */
export async function hasSucceeded(rpc: StellarRpc, txHash: string, signal: AbortSignal): Promise<boolean> {
  const found = await rpc.first(async (node) => {
    const { status } = await transactionOf(node, txHash);
    return status === 'NOT_FOUND' ? undefined : status === 'SUCCESS';
  }, signal);
  return found ?? false;
}

/** @throws RpcFailed when what it moved cannot be read: the SDK may know it later, or another node show it otherwise */
function transfersIn(node: StellarNode, reader: TransferReader, found: FoundTransaction, txHash: string) {
  try {
    return reader.transfers(found, txHash);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it cannot be decoded';
    throw new RpcFailed(node.name, 'getTransaction', 'malformed', `transaction ${txHash}: ${why}`);
  }
}

/** What a node says of a transfer that another has told. @throws RpcFailed when it cannot say: it lags, or has forgotten the ledger */
export async function stated(node: StellarNode, reader: TransferReader, transfer: Transfer): Promise<Statement> {
  const { txHash } = transfer;
  const found = await whatItKnows(node, txHash, BigInt(transfer.blockNumber));
  if (found.status === 'NOT_FOUND') return { instead: `has no transaction ${txHash}` };
  const shown = transfersIn(node, reader, found, txHash).find((each) => sameTransfer(each, transfer));
  return shown ? 'same' : { instead: `has transaction ${txHash} in ledger ${found.ledger}, without that transfer` };
}

/** Whether a node has a payin: a closed ledger stays, so that what is not in it now was made up. @throws RpcFailed when it cannot say */
export async function isShown(node: StellarNode, reader: TransferReader, seen: SeenPayin): Promise<boolean> {
  const found = await whatItKnows(node, seen.txHash, seen.blockNumber);
  if (found.status === 'NOT_FOUND') return false;
  return transfersIn(node, reader, found, seen.txHash).some((each) => transferId(each) === seen.transferId);
}

/** @throws RpcFailed when the node does not show it, and does not know the ledger that it would be in */
async function whatItKnows(node: StellarNode, txHash: string, ledger: bigint): Promise<FoundTransaction> {
  const found = await transactionOf(node, txHash);
  const { oldest, latest } = found.range;
  if (found.status !== 'NOT_FOUND' || (oldest.ledger <= ledger && ledger <= latest.ledger)) return found;
  const detail = `it knows ledgers ${oldest.ledger} to ${latest.ledger}, not ledger ${ledger}`;
  throw new RpcFailed(node.name, 'getTransaction', 'refused', detail);
}
