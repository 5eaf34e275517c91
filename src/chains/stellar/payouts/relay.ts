/** Checks on a node before a payer's authorization entry is sent: one that the network would refuse ends here and costs no fee. */
import { Address, xdr } from '@stellar/stellar-sdk';
import { formatAmount } from '../../../../domain/money.ts';
import type { RelayEnd } from '../../../../domain/relay/events.ts';
import { type EntryOrder, PayoutBlocked } from '../../ports.ts';
import { holdingOf } from '../accounts.ts';
import { addressTopic } from '../payins/movements.ts';
import { createPages, LedgerForgotten } from '../payins/pages.ts';
import { createTransferReader } from '../payins/transfers.ts';
import { ledgerEntries } from '../reads.ts';
import type { StellarNode } from '../rpc.ts';
import { assetContractOf, assetOf } from '../tokens.ts';

/** Ledgers that a transaction needs to land. */
const leastLeft_ledgers = 2n;
/** A day of ledgers: no entry is kept that is good for longer. */
const mostLeft_ledgers = 17_280n;

/** @throws PayoutBlocked whose `ends` states how the relay ends */
export async function checkEntry(node: StellarNode, order: EntryOrder, networkPassphrase: string): Promise<void> {
  const { token, amount, form } = order;
  const { payer, nonce, validUntil } = form;
  const key = nonceKey(payer, nonce);
  const used = await ledgerEntries(node, [key]);
  // The ledger keeps a used nonce until its entry expires. A payment to the treasury with the memo is a payin, no matter who sent it.
  if (used.found.size > 0) {
    const ledger = used.changedIn.get(key.toXDR('base64'));
    const movedBy = ledger === undefined ? null : await movedIn(node, order, { ledger, networkPassphrase });
    const why = `the authorization entry with nonce ${nonce} was used`;
    throw ended('superseded', movedBy === null ? why : `${why} by somebody else: ${movedBy}`, movedBy);
  }
  const left = BigInt(validUntil) - used.latestLedger;
  if (left < leastLeft_ledgers)
    throw ended('expired', `the entry is valid until ledger ${validUntil}, and this is ledger ${used.latestLedger}`);
  if (left > mostLeft_ledgers)
    throw ended('refused', `the entry is valid for ${left} ledgers, the limit is ${mostLeft_ledgers}`);
  const { account, trustlines } = await holdingOf(node, payer, [assetOf(token)]);
  const [trustline] = trustlines;
  if (!account || !trustline?.authorized)
    throw ended('refused', `${payer} has no trustline that may send ${token.symbol}`);
  const text = (units: bigint) => `${formatAmount(units, token.decimals)} ${token.symbol}`;
  if (trustline.spendable < amount)
    throw ended('drained', `${payer} can spend ${text(trustline.spendable)}, and ${text(amount)} are to be paid`);
}

const ended = (reason: RelayEnd, why: string, movedBy: string | null = null): PayoutBlocked =>
  new PayoutBlocked('refusedByToken', why.slice(0, 400), reason, movedBy);

/**
 * Transaction of a ledger that moved exactly the order's amount from its payer to its deposit, by the nonce's ledger. Null if the payer used
 * the nonce for another call, or the node has forgotten the ledger's events: the payin pass finds the payment then.
 */
async function movedIn(
  node: StellarNode,
  { token, amount, form: { payer, deposit } }: EntryOrder,
  { ledger, networkPassphrase }: { readonly ledger: bigint; readonly networkPassphrase: string },
): Promise<string | null> {
  const reader = createTransferReader({ networkPassphrase, treasury: deposit.address, payinContract: null });
  const topics = [
    xdr.ScVal.scvSymbol('transfer').toXDR('base64'),
    addressTopic(payer),
    addressTopic(deposit.address),
    '**',
  ];
  const filter = { contractIds: [assetContractOf(token, networkPassphrase)], topics: [topics] };
  const read = await createPages([filter], networkPassphrase)
    .read(node, { from: ledger, to: ledger })
    .catch((error: unknown) => {
      if (error instanceof LedgerForgotten) return undefined;
      throw error;
    });
  const moved = reader.logs(read?.events ?? []).logs;
  const isOrdered = ({ from, memo, amount: units }: (typeof moved)[number]) =>
    from === payer && memo === deposit.memo && units === amount;
  return moved.find(isOrdered)?.txHash ?? null;
}

/** Ledger key of a used nonce (CAP-46-11). */
const nonceKey = (payer: string, nonce: string): xdr.LedgerKey =>
  xdr.LedgerKey.contractData(
    new xdr.LedgerKeyContractData({
      contract: new Address(payer).toScAddress(),
      key: xdr.ScVal.scvLedgerKeyNonce(new xdr.ScNonceKey({ nonce: xdr.Int64.fromString(nonce) })),
      durability: xdr.ContractDataDurability.temporary(),
    }),
  );
