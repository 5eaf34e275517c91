import type { ChainId } from '../domain/chains.ts';
import { categoryOf, instanceOf, type StoredEvent } from '../domain/decider.ts';
import { coinAddress } from '../domain/money.ts';
import { type Transfer, transferId } from '../domain/payment/events.ts';
import type { Payment } from '../domain/payment/state.ts';
import { burnPart, mintPart } from '../domain/rebalance/rebalance.ts';
import type { TransferLeg } from '../domain/transfer/leg.ts';
import { type LegEvent, unprefixed } from '../domain/transfer/record.ts';
import { type LandedAt, referenceOf } from '../domain/transfer/shapes.ts';
import type { TransactionAdopted, TreasuryEvent } from '../domain/treasury/events.ts';
import { costs, type Movement, type Moving, movementsOf } from '../domain/treasury/movements.ts';
import { unmatchedRefundPart } from '../domain/unmatched.ts';
import { ofEvents, type RowChange, remove, type SeenEventOf, upsert } from './projection.ts';

/**
 * Effects of each recorded transfer on a treasury account. A transaction counts once, however many events name it: rows are by transaction,
 * asset and part. Movements of an orphaned block are removed, and added again with the block that includes them.
 */
export const treasuryMovements = ofEvents('treasuryMovements', (seen) => {
  switch (seen.category) {
    case 'payment':
      return ofPayment(seen);
    case 'operation':
      return ofOperation(seen);
    case 'relay':
      return ofRelay(seen);
    case 'rebalance':
      return ofRebalance(seen);
    case 'unmatched':
      return ofUnmatched(seen);
    case 'treasury':
      return ofTreasury(seen.stored, seen.event);
    case 'books':
      return ofBooks(seen);
    default:
      return [];
  }
});

function ofPayment({ event, before, after, stored }: SeenEventOf<'payment'>): readonly RowChange[] {
  if (event.type === 'PayinConfirmed') return received(stored, 'payin', event.data.transfer);
  const { paymentId } = after.terms;
  const payout = unprefixed('Payout', event);
  if (payout) {
    const reference = referenceOf({ kind: 'payout', id: paymentId, part: 1 });
    return ofLeg(stored, payout, { kind: 'payout', reference, before: before?.payout, after: after.payout });
  }
  const refund = unprefixed('Refund', event);
  if (!refund || !('refund' in event.data)) return [];
  const part = event.data.refund;
  const legOf = (payment: Payment | null) => payment?.refunds.find((each) => each.refund === part);
  const reference = referenceOf({ kind: 'refund', id: paymentId, part });
  return ofLeg(stored, refund, { kind: 'refund', reference, before: legOf(before), after: legOf(after) });
}

function ofOperation({ event, before, after, stored }: SeenEventOf<'operation'>): readonly RowChange[] {
  const told = unprefixed('Operation', event);
  if (!told) return [];
  const { kind, account } = after.ordered;
  const reference = referenceOf({ kind: 'operation', id: instanceOf(stored.stream), part: 1 });
  const arrived = after.brought === null ? {} : { arrived: after.brought };
  return ofLeg(stored, told, { kind, reference, account, ...arrived, before: before?.leg, after: after.leg });
}

/** Gas of a relay: the moved money is the payer's. */
function ofRelay({ event, before, after, stored }: SeenEventOf<'relay'>): readonly RowChange[] {
  const reference = referenceOf({ kind: 'relay', id: instanceOf(stored.stream), part: 1 });
  if (event.type === 'RelayAccountOpened')
    return costs(after.ordered.chainId, event.data).map((movement) =>
      upsert('treasury_movements', rowOf(stored, { kind: 'relay', reference }, movement)),
    );
  const recorded = unprefixed('Relay', event);
  if (!recorded) return [];
  return ofLeg(stored, recorded, { kind: 'relay', reference, before: before?.leg, after: after.leg });
}

/**
 * A burn takes its amount from one account; a mint adds the rest of it to another one. Money in transit belongs to no
 * account of a chain: `npm run treasury -- floats` shows it.
 */
function ofRebalance({ event, before, after, stored }: SeenEventOf<'rebalance'>): readonly RowChange[] {
  const id = instanceOf(stored.stream);
  const [burn, mint] = [unprefixed('Burn', event), unprefixed('Mint', event)];
  if (burn) {
    const reference = referenceOf({ kind: 'rebalance', id, part: burnPart });
    const { account } = after.ordered.from;
    return ofLeg(stored, burn, { kind: 'burn', reference, account, before: before?.burn, after: after.burn });
  }
  const reference = referenceOf({ kind: 'rebalance', id, part: mintPart });
  const { chainId, account, token } = after.ordered.to;
  if (mint) {
    const arrived = event.type === 'MintConfirmed' ? BigInt(event.data.received) : after.mint?.short?.arrived;
    const own = { kind: 'mint', reference, account, ...(arrived !== undefined && { arrived }) };
    return ofLeg(stored, mint, { ...own, before: before?.mint, after: after.mint });
  }
  if (event.type === 'MintedByOther') {
    const { hash: txHash, blockNumber, blockHash, received: units } = event.data;
    const place = { chainId, account, txHash, blockNumber, blockHash };
    const movement = { ...place, asset: token.address, part: reference, amount: BigInt(units) };
    return [upsert('treasury_movements', rowOf(stored, { kind: 'mint', reference }, movement))];
  }
  if (event.type !== 'MintByOtherOrphaned') return [];
  const key = { chain_id: chainId, account, tx_hash: event.data.hash, asset: token.address, part: reference };
  return [remove('treasury_movements', key)];
}

function ofUnmatched({ event, before, after, stored }: SeenEventOf<'unmatched'>): readonly RowChange[] {
  if (event.type === 'UnmatchedPayinSeen') return received(stored, 'unmatched', event.data.transfer);
  const told = unprefixed('UnmatchedRefund', event);
  if (!told) return [];
  const reference = referenceOf({
    kind: 'unmatchedRefund',
    id: transferId(after.transfer),
    part: unmatchedRefundPart(after),
  });
  return ofLeg(stored, told, { kind: 'refund', reference, before: before?.refund, after: after.refund });
}

interface Leg extends Omit<Moving, 'leg'> {
  readonly kind: string;
  readonly before: TransferLeg | null | undefined;
  readonly after: TransferLeg | null | undefined;
}

function ofLeg(
  stored: StoredEvent,
  { type, data }: LegEvent,
  { kind, before, after, ...moving }: Leg,
): readonly RowChange[] {
  if (!after) return [];
  const { reference } = moving;
  const rows = (movements: readonly Movement[]) =>
    movements.map((movement) => upsert('treasury_movements', rowOf(stored, { kind, reference }, movement)));
  if (type === 'Confirmed' || type === 'Short') return rows(movementsOf({ ...moving, leg: after }, data));
  if (type === 'Died') return data.proof.landed ? rows(costs(after.order.chainId, data.proof.landed)) : [];
  if (type !== 'Orphaned' || !before?.settled) return [];
  return movementsOf({ ...moving, leg: before }, before.settled).map(({ chainId, account, txHash, asset, part }) =>
    remove('treasury_movements', { chain_id: chainId, account, tx_hash: txHash, asset, part }),
  );
}

/** On chains with shared addresses and memos, the treasury owns the money at once. */
function received(stored: StoredEvent, kind: string, transfer: Transfer): readonly RowChange[] {
  if (transfer.memo === undefined) return [];
  const { chainId, txHash, blockNumber, blockHash, token, from, to, amount } = transfer;
  const place = { chainId, txHash, blockNumber, blockHash, account: to, asset: token.address };
  const movement = { ...place, part: transferId(transfer), amount: BigInt(amount) };
  return [
    upsert(
      'treasury_movements',
      rowOf(stored, { kind, counterparty: from, reference: transferId(transfer) }, movement),
    ),
  ];
}

function ofTreasury(stored: StoredEvent, event: TreasuryEvent): readonly RowChange[] {
  const tell = (kind: string, reference: string, { landed }: { readonly landed?: LandedAt }) =>
    landed
      ? costs(accountOf(stored)[0], landed).map((movement) =>
          upsert('treasury_movements', rowOf(stored, { kind, reference }, movement)),
        )
      : [];
  switch (event.type) {
    case 'NonceUsedUp':
      return tell('cancel', `nonce ${event.data.nonce}`, event.data);
    case 'SweepConfirmed':
      return tell('sweep', 'checks', event.data);
    case 'TransactionAdopted':
      return adopted(stored, event.data);
    default:
      return [];
  }
}

/** One row for each asset, however often the transaction moved it. */
function adopted(stored: StoredEvent, data: TransactionAdopted): readonly RowChange[] {
  const [chainId, account] = accountOf(stored);
  const { hash: txHash, blockNumber, blockHash, fee, changes } = data;
  const place = { chainId, account, txHash, blockNumber, blockHash };
  const moved = [...Map.groupBy(changes, ({ asset }) => asset)].map(([asset, own]) => {
    const [first] = own;
    const amount = own.reduce((sum, each) => sum + BigInt(each.amount), 0n);
    const counterparty = own.length === 1 ? (first?.counterparty ?? null) : null;
    const what = { kind: 'adopted', counterparty, reference: data.nonce === null ? txHash : `nonce ${data.nonce}` };
    return rowOf(stored, what, { ...place, asset, part: 'adopted', amount });
  });
  const paid = rowOf(stored, { kind: 'adopted' }, { ...place, asset: coinAddress, part: 'fee', amount: -BigInt(fee) });
  return [...moved, paid].filter(({ amount }) => amount !== '0').map((row) => upsert('treasury_movements', row));
}

function ofBooks({ stored, event, after }: SeenEventOf<'books'>): readonly RowChange[] {
  const [chainId, account] = accountOf(stored);
  const own = { chainId, account, txHash: '', blockHash: '', part: `${stored.revision}` };
  const rowsOf = (kind: string, blockNumber: string, amounts: Readonly<Record<string, string>>) =>
    Object.entries(amounts).map(([asset, amount]) =>
      upsert('treasury_movements', rowOf(stored, { kind }, { ...own, blockNumber, asset, amount: BigInt(amount) })),
    );
  switch (event.type) {
    case 'BooksOpened':
      return rowsOf('opening', event.data.blockNumber, event.data.balances);
    case 'DifferenceExplained':
      return rowsOf('explained', event.data.blockNumber, event.data.differences);
    case 'TopUpSeen': {
      const { asset, amount, from, fromDeposit, transaction, upTo } = event.data;
      const { hash: txHash = '', blockNumber = upTo, blockHash = '' } = transaction ?? {};
      const movement = { ...own, txHash, blockNumber, blockHash, asset, amount: BigInt(amount) };
      const what = { kind: fromDeposit ? 'flush' : 'topUp', counterparty: from };
      return [upsert('treasury_movements', rowOf(stored, what, movement))];
    }
    case 'BooksNetworkClosed':
      return [account, ...event.data.payinAddresses].map((each) => {
        const blockNumber = event.data.last?.blockNumber ?? '0';
        const movement = { ...own, account: each, blockNumber, asset: coinAddress, amount: 0n };
        const what = { kind: 'networkClosed', reference: String(after.networksClosed) };
        return upsert('treasury_movements', rowOf(stored, what, movement));
      });
    default:
      return [];
  }
}

/** `treasury-<chainId>-<account>`, `books-<chainId>-<account>` */
function accountOf({ stream }: StoredEvent): readonly [ChainId, string] {
  const rest = stream.slice(categoryOf(stream).length + 1);
  const dash = rest.indexOf('-');
  return [Number(rest.slice(0, dash)) as ChainId, rest.slice(dash + 1)];
}

interface What {
  readonly kind: string;
  readonly reference?: string;
  readonly counterparty?: string | null;
}

const rowOf = (stored: StoredEvent, { kind, reference, counterparty }: What, movement: Movement) => ({
  chain_id: movement.chainId,
  account: movement.account,
  tx_hash: movement.txHash,
  asset: movement.asset,
  part: movement.part,
  kind,
  amount: movement.amount.toString(),
  reference,
  counterparty,
  block_number: movement.blockNumber,
  block_hash: movement.blockHash || null,
  position: stored.position.toString(),
  at: stored.metadata.at,
});
