/** The other streams that money goes by: unmatched money, treasury accounts, their books, withdrawals. */
import { chainOf } from '../../../domain/chains.ts';
import { microUsdDecimals } from '../../../domain/money.ts';
import { transferId } from '../../../domain/payment/shapes.ts';
import type { AttemptClaim, Claim, Out, OwnClaim } from '../claims.ts';
import type { Entry } from '../entry.ts';
import { findingAt } from '../findings.ts';
import { scaled } from './funding.ts';
import { createLeg, type Leg } from './legs.ts';
import type { Reckoner } from './reckoner.ts';

const whereOf = ({ stream, revision, id }: Entry) => ({ stream, revision, id });

export function createUnmatchedReckoner(out: Out): Reckoner {
  let seen: Entry | null = null;
  let givenTo: string | null = null;
  let refund: Leg | null = null;
  return {
    next(entry) {
      const { type, data } = entry;
      if (type === 'UnmatchedPayinSeen') seen = entry;
      else if (type === 'UnmatchedPayinAssigned') givenTo = data.paymentId;
      else if (type === 'UnmatchedPayinRefundRequested') refund = orderBack(entry);
      else refund?.next(type.replace('UnmatchedRefund', ''), entry);
      const decided = type === 'UnmatchedPayinAssigned' || type === 'UnmatchedPayinRefundRequested';
      if (decided && givenTo !== null && refund !== null)
        out.find(findingAt('refundBeyondCap', entry, 'the money is given to a payment, and sent back as well'));
    },
    end() {
      refund?.end();
      if (!seen) return;
      const { chainId, txHash, to, token, amount, blockNumber: block } = seen.data.transfer;
      const own = {
        side: 'log',
        kind: 'unmatched',
        where: whereOf(seen),
        position: seen.position,
        chainId,
        txHash,
        phase: 'confirmed',
      } as const;
      const claim = { ...own, transferId: transferId(seen.data.transfer), to, asset: token.address, amount, block };
      out.claim(givenTo === null ? claim : { ...claim, givenTo });
      if (givenTo !== null) return;
      out.sum(chainId, token.address, 'received', BigInt(amount));
      if (refund === null) out.sum(chainId, token.address, 'held', BigInt(amount));
      const { stream, position } = seen;
      if (refund?.settled() != null) return;
      const what = refund === null ? `${amount} of ${token.address} are held` : 'its refund is not settled';
      out.unsettled({ chainId, stream, position, what });
    },
  };

  function orderBack(entry: Entry): Leg | null {
    if (!seen) return null;
    const { chainId, token, amount } = seen.data.transfer;
    const { receiverAddress: receiver, receiverMemo: memo, networkFee } = entry.data;
    // Older ones were sent by hand, and adopted or explained.
    const sent = BigInt(amount) - BigInt(networkFee ?? 0);
    if (sent < 0n) out.find(findingAt('refundBeyondCap', entry, `${networkFee} is taken off of ${amount}`));
    out.sum(chainId, token.address, 'refunded', sent);
    out.sum(chainId, token.address, 'networkFees', BigInt(networkFee ?? 0));
    return createLeg({ chainId, asset: token.address, receiver, memo, amount: sent, form: null, owner: null }, out);
  }
}

/** `treasury-<chainId>-<account>`: of any length, so that nothing of it is kept. */
export function createTreasuryReckoner(out: Out): Reckoner {
  let networksClosed = 0;
  return {
    next(entry) {
      const { type, data } = entry;
      const [chainId, account] = accountOf(entry.stream);
      const own = {
        side: 'log',
        where: whereOf(entry),
        position: entry.position,
        chainId,
        account,
        cost: null,
        changes: [],
        fee: '0',
        block: null,
      } as const;
      const claim = (more: Pick<OwnClaim, 'kind' | 'txHash'> & Partial<OwnClaim>): void =>
        out.claim({ ...own, ...more } as Claim);
      if (type === 'NonceCancelled' || type === 'SweepSigned') claim({ kind: 'cancel', txHash: data.hash });
      const { landed } = data;
      if ((type === 'NonceUsedUp' || type === 'SweepConfirmed') && landed)
        claim({ kind: 'cancel', txHash: landed.hash, cost: landed.cost, block: landed.blockNumber });
      if (type === 'TreasuryNetworkClosed') networksClosed += 1;
      if (type === 'NonceAssigned')
        out.once(`nonce ${entry.stream} ${networksClosed} ${data.nonce}`, {
          where: own.where,
          says: `nonce ${data.nonce} was handed out`,
          code: 'illegalEvent',
        });
      if (type === 'TransactionAdopted')
        claim({ kind: 'adopted', txHash: data.hash, changes: data.changes, fee: data.fee, block: data.blockNumber });
    },
    end() {},
  };
}

export function createBooksReckoner(out: Out): Reckoner {
  return {
    next(entry) {
      const { type, data } = entry;
      const [chainId, account] = accountOf(entry.stream);
      const key = `${chainId} ${account}`;
      if (type === 'BooksOpened') out.opening({ chainId, account, block: data.blockNumber, balances: data.balances });
      if (type === 'BooksNetworkClosed') out.networkClosed({ chainId, account, position: entry.position, ...data });
      if (type === 'DifferenceExplained')
        for (const [asset, amount] of Object.entries<string>(data.differences)) out.told(key, asset, BigInt(amount));
      if (type !== 'TopUpSeen') return;
      const { asset, amount, from: counterparty, transaction } = data;
      if (!transaction) return out.told(key, asset, BigInt(amount));
      const changes = [{ asset, amount, counterparty }];
      const own = {
        side: 'log',
        kind: 'topUp',
        where: whereOf(entry),
        position: entry.position,
        chainId,
        account,
        cost: null,
        changes,
        fee: '0',
      } as const;
      out.claim({ ...own, txHash: transaction.hash, block: transaction.blockNumber });
    },
    end() {},
  };
}

/** `treasury-<chainId>-<account>`, `books-<chainId>-<account>` */
function accountOf(stream: string): [OwnClaim['chainId'], string] {
  const [, chainId = '', ...account] = stream.split('-');
  return [Number(chainId) as OwnClaim['chainId'], account.join('-')];
}

/** An allowance moves as little as a deployment does. */
const formOf = (form?: { readonly kind: string }): AttemptClaim['form'] =>
  form === undefined ? null : form.kind === 'flush' || form.kind === 'coin' ? form.kind : 'deploy';

/** Where money could be withdrawn to, and since when. */
export interface Book {
  isUsable(
    place: { readonly chainId: number; readonly address: string; readonly memo: string | null },
    at: string,
  ): boolean;
}

/** @param approvalFrom_microUsd what is worth more needs another operator; null where that is not known */
export function createOperationReckoner(out: Out, book: Book, approvalFrom_microUsd: bigint | null): Reckoner {
  let ordered: Entry | null = null;
  let leg: Leg | null = null;
  const approvedBy = new Set<string>();
  return {
    next(entry) {
      const { type, data } = entry;
      if (type === 'OperationOrdered') {
        ordered = entry;
        const { chainId, token, receiver, receiverMemo: memo, amount, form, account: owner } = data;
        leg = createLeg(
          { chainId, asset: token.address, receiver, memo, amount: BigInt(amount), form: formOf(form), owner },
          out,
        );
      } else if (type === 'OperationApproved') approvedBy.add(data.by);
      else if (type !== 'OperationCalledOff' && type !== 'RebalanceArrived') {
        if (type === 'OperationSigned' && ordered) check(entry, ordered);
        leg?.next(type.replace('Operation', ''), entry);
      }
    },
    end() {
      leg?.end();
      const settled = leg?.settled();
      if (!ordered) return;
      const { kind, chainId, token } = ordered.data;
      const position = leg?.signedAt() ?? null;
      if (!settled && position !== null)
        out.unsettled({ chainId, stream: ordered.stream, position, what: `its ${kind} is signed and not settled` });
      if (!settled) return;
      if (kind === 'withdrawal') out.sum(chainId, token.address, 'withdrawn', settled.amount);
      if (kind === 'sweep') out.sum(chainId, token.address, 'swept', settled.amount);
    },
  };

  /** Whatever it is called: money that leaves needs a place in the address book, and another operator where it is much. */
  function check(entry: Entry, { data }: Entry): void {
    const moves = formOf(data.form) === null || formOf(data.form) === 'coin';
    if (!moves) return;
    const others = [...approvedBy].filter((by) => by !== data.by).length;
    const above = approvalFrom_microUsd !== null && worthOf(data) > approvalFrom_microUsd;
    const needed = above ? 1 : data.approvals;
    if (others < needed)
      out.find(findingAt('approvalMissing', entry, `${data.by} ordered it, nobody else approved it`));
    const place = { chainId: data.chainId, address: data.receiver, memo: data.receiverMemo };
    if (!book.isUsable(place, entry.data.signedAt))
      out.find(
        findingAt('notInAddressBook', entry, `${data.receiver} was not usable in the address book when it was signed`),
      );
  }
}

/** In millionths of a dollar: a token counts as one dollar, whatever the order says; what a coin is worth it alone says. */
function worthOf({ chainId, token, amount, value_microUsd: stated }: Entry['data']): bigint {
  const known = chainOf(chainId).tokens.find(({ address }) => address === token.address);
  const worth = known ? scaled(BigInt(amount), known.decimals, microUsdDecimals) : 0n;
  return worth > BigInt(stated) ? worth : BigInt(stated);
}
