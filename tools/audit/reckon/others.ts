/** The other streams with money: unmatched money, treasury accounts, their books, withdrawals, the address book, relays. */

import { MuxedAccount, StrKey } from '@stellar/stellar-sdk';
import { chainOf, heldTokens } from '../../../domain/chains.ts';
import { categoryOf } from '../../../domain/decider.ts';
import { microUsdDecimals } from '../../../domain/money.ts';
import { transferId } from '../../../domain/payment/shapes.ts';
import { minute_ms } from '../../../domain/time.ts';
import type { AttemptClaim, Claim, Out, OwnClaim } from '../claims.ts';
import type { AuditEntry, Reckoner } from '../entry.ts';
import { type FindingCode, findingAt } from '../findings.ts';
import { scaled } from './funding.ts';
import { type AuditedLeg, createLeg, landing } from './legs.ts';

const whereOf = ({ stream, revision, id }: AuditEntry) => ({ stream, revision, id });

/** An ordered refund of unmatched funds; called off, it uses nothing unless it lands anyway. */
interface WayBack {
  readonly leg: AuditedLeg;
  readonly sent: bigint;
  readonly networkFee: bigint;
  calledOff: boolean;
}

export function createUnmatchedReckoner(out: Out): Reckoner {
  let seen: AuditEntry | null = null;
  let givenTo: string | null = null;
  const ways: WayBack[] = [];
  const standing = () => ways.filter(({ leg, calledOff }) => !calledOff || leg.settled() !== null);
  const find = (code: FindingCode, entry: AuditEntry, message: string) => out.find(findingAt(code, entry, message));
  return {
    next(entry) {
      const { type, data } = entry;
      if (type === 'UnmatchedPayinSeen') {
        if (seen) find('illegalEvent', entry, 'the money was seen before');
        seen ??= entry;
      }
      if (type === 'UnmatchedPayinSeen') return;
      if (type === 'UnmatchedPayinAssigned') {
        if (givenTo !== null) find('illegalEvent', entry, `the money was given to payment ${givenTo} before`);
        givenTo = data.paymentId;
      } else if (type === 'UnmatchedPayinRefundRequested') orderBack(entry);
      else if (type === 'UnmatchedRefundCalledOff') callOff(entry);
      else move(entry);
      const decided = type === 'UnmatchedPayinAssigned' || type === 'UnmatchedPayinRefundRequested';
      if (!decided) return;
      if (givenTo !== null && standing().length > 0)
        find('refundBeyondCap', entry, 'the money is given to a payment, and sent back as well');
      else if (standing().length > 1) find('refundBeyondCap', entry, 'the money goes back twice');
    },
    end() {
      for (const { leg } of ways) leg.end();
      if (!seen) return;
      const { chainId, token, amount } = seen.data.transfer;
      claim(seen);
      if (givenTo !== null) return;
      out.sum(chainId, token.address, 'received', BigInt(amount));
      const [last] = standing();
      if (!last) out.sum(chainId, token.address, 'held', BigInt(amount));
      for (const { sent, networkFee } of standing()) {
        out.sum(chainId, token.address, 'refunded', sent);
        out.sum(chainId, token.address, 'networkFees', networkFee);
      }
      const { stream, position } = seen;
      if (last && last.leg.settled() !== null) return;
      const what = last ? 'its refund is not settled' : `${amount} of ${token.address} are held`;
      out.unsettled({ chainId, stream, position, what });
    },
  };

  function claim(entry: AuditEntry): void {
    const { transfer, beyond } = entry.data;
    const { chainId, txHash, from, to, memo = null, token, amount, blockNumber: block } = transfer;
    const { position, at } = entry;
    const where = whereOf(entry);
    const own = {
      side: 'log',
      kind: 'unmatched',
      where,
      position,
      at,
      phase: 'confirmed',
      atOwnDeposit: false,
    } as const;
    const id = transferId(transfer);
    const claimed = { ...own, chainId, txHash, transferId: id, from, to, memo, asset: token.address, amount, block };
    out.claim(givenTo === null ? claimed : { ...claimed, givenTo });
    if (memo !== null)
      out.place(`${to} ${memo}`, {
        ...{ side: 'unmatchedAt', where, beyond: beyond?.paymentId ?? null },
        message: `${amount} of ${token.address} came to ${to} with the memo ${memo}`,
      });
  }

  function orderBack(entry: AuditEntry): void {
    if (!seen) return;
    const { chainId, token, amount } = seen.data.transfer;
    const { receiverAddress: receiver, receiverMemo: memo, networkFee = '0' } = entry.data;
    // Older ones were sent by hand, and adopted or explained.
    const sent = BigInt(amount) - BigInt(networkFee);
    if (sent < 0n) find('refundBeyondCap', entry, `${networkFee} is taken off of ${amount}`);
    const ordered = {
      chainId,
      asset: token.address,
      receiver,
      memo,
      amount: sent,
      form: null,
      owner: null,
      purpose: 'refunded' as const,
    };
    ways.push({ leg: createLeg(ordered, out), sent, networkFee: BigInt(networkFee), calledOff: false });
    if (receiver !== seen.data.transfer.from)
      out.byWord({
        ...{ stream: entry.stream, revision: entry.revision },
        what: `unmatched funds refunded: ${sent} of ${token.address} to ${receiver}`,
      });
  }

  function callOff(entry: AuditEntry): void {
    const last = ways.at(-1);
    if (!last || last.leg.mayLand())
      find('illegalEvent', entry, 'no refund is ordered, or it has landed or can still: it cannot be called off');
    if (last) last.calledOff = true;
  }

  function move(entry: AuditEntry): void {
    const last = ways.at(-1);
    const kind = entry.type.replace('UnmatchedRefund', '');
    if (landing.has(kind) && (!last || last.calledOff))
      find('illegalEvent', entry, last ? 'the refund was called off before' : 'nothing was ordered before it');
    last?.leg.next(kind, entry);
  }
}

/** `treasury-<chainId>-<account>`: of any length, so nothing of it is kept. */
export function createTreasuryReckoner(out: Out, book: Book): Reckoner {
  let networksClosed = 0;
  return {
    next(entry) {
      const { type, data } = entry;
      const [chainId, account] = accountOf(entry.stream);
      const own = {
        side: 'log',
        where: whereOf(entry),
        position: entry.position,
        at: entry.at,
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
      if (type === 'TreasuryOpened') out.firstNonce(`${chainId} ${account}`, BigInt(data.firstNonce));
      if (type === 'TransactionAdopted') {
        const { hash: txHash, changes, fee, blockNumber: block } = data;
        claim({ kind: 'adopted', txHash, changes, fee, block, notInBook: strangersIn(entry, chainId, book) });
        const left = outflowsOf(entry).map(
          ({ asset, amount, counterparty }) => `${-BigInt(amount)} of ${asset} to ${counterparty}`,
        );
        if (left.length > 0)
          out.byWord({ ...{ stream: entry.stream, revision: entry.revision }, what: `adopted: ${left.join(', ')}` });
      }
    },
    end() {},
  };
}

const outflowsOf = ({ data }: AuditEntry): OwnClaim['changes'] =>
  (data.changes as OwnClaim['changes']).filter(({ amount }) => BigInt(amount) < 0n);

/** Receivers of an adopted transaction outside the address book. An adoption is one operator's word. */
const strangersIn = (entry: AuditEntry, chainId: OwnClaim['chainId'], book: Book): readonly string[] =>
  outflowsOf(entry)
    .filter(
      ({ counterparty }) =>
        counterparty === null || !book.isUsable({ chainId, address: counterparty }, entry.data.adoptedAt),
    )
    .map(({ counterparty }) => counterparty ?? 'nobody');

export function createBooksReckoner(out: Out): Reckoner {
  let isOpen = false;
  return {
    next(entry) {
      const { type, data } = entry;
      const [chainId, account] = accountOf(entry.stream);
      const key = `${chainId} ${account}`;
      if (type === 'BooksOpened' && (isOpen || data.chainId !== chainId || data.account !== account))
        out.find(findingAt('illegalEvent', entry, 'the books are open, or the event is about another account'));
      isOpen = type === 'BooksOpened' || (isOpen && type !== 'BooksNetworkClosed');
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
        at: entry.at,
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

/** An allowance moves no money, like a deployment. */
const formOf = (form?: { readonly kind: string }): AttemptClaim['form'] =>
  form === undefined ? null : form.kind === 'flush' || form.kind === 'coin' ? form.kind : 'deploy';

/** Allowed receivers of withdrawals, with the time of each. */
export interface Book {
  /** @param place without a memo: with any memo */
  isUsable(
    place: { readonly chainId: number; readonly address: string; readonly memo?: string | null },
    at: string,
  ): boolean;
}

/** @param approvalFrom_microUsd value above which another operator must approve; null if unknown */
export function createOperationReckoner(out: Out, book: Book, approvalFrom_microUsd: bigint | null): Reckoner {
  const illegal = (entry: AuditEntry, message: string) => out.find(findingAt('illegalEvent', entry, message));
  let ordered: AuditEntry | null = null;
  let leg: AuditedLeg | null = null;
  let signed: AuditEntry | null = null;
  let calledOff = false;
  const approvedBy = new Set<string>();
  return {
    next(entry) {
      const { type, data } = entry;
      if (type === 'OperationOrdered') {
        if (ordered) illegal(entry, 'it was ordered before');
        if (isOtherTime(data.orderedAt, entry.at))
          illegal(entry, `it says that it was ordered at ${data.orderedAt}, and the log recorded it at ${entry.at}`);
        ordered = entry;
        const { chainId, token, receiver, receiverMemo: memo, amount, form, account: owner } = data;
        leg = createLeg(
          {
            chainId,
            asset: token.address,
            receiver,
            memo,
            amount: BigInt(amount),
            form: formOf(form),
            ...(form?.kind === 'flush' && { from: form.deposits.map(({ address }: { address: string }) => address) }),
            owner,
            purpose: 'moved',
          },
          out,
        );
      } else if (type === 'OperationApproved') approvedBy.add(data.by);
      else if (type === 'OperationCalledOff') {
        if (leg?.mayLand()) illegal(entry, 'it has landed, or can still: it cannot be called off');
        calledOff = true;
      } else if (type !== 'RebalanceArrived') {
        const kind = type.replace('Operation', '');
        if (landing.has(kind) && (!leg || calledOff))
          illegal(entry, leg ? 'it was called off before' : 'nothing was ordered before it');
        if (type === 'OperationSigned' && ordered) check(entry, ordered);
        if (type === 'OperationSigned') signed ??= entry;
        leg?.next(kind, entry);
      }
    },
    end() {
      leg?.end();
      const settled = leg?.settled();
      if (!ordered) return;
      if (signed) tellUnapproved(ordered);
      const { kind, chainId, token } = ordered.data;
      const position = leg?.signedAt() ?? null;
      if (!settled && position !== null)
        out.unsettled({ chainId, stream: ordered.stream, position, what: `its ${kind} is signed and not settled` });
      if (!settled) return;
      if (kind === 'withdrawal') out.sum(chainId, token.address, 'withdrawn', settled.amount);
      if (kind === 'sweep') out.sum(chainId, token.address, 'swept', settled.amount);
    },
  };

  /** A daily limit of one operator needs all other operations. */
  function tellUnapproved(entry: AuditEntry): void {
    const { data } = entry;
    const others = [...approvedBy].filter((by) => by !== data.by).length;
    if (others > 0 || !movesMoney(data)) return;
    const value_microUsd = worthOf(data).toString();
    out.unapproved({ where: whereOf(entry), at: entry.at, by: data.by, value_microUsd });
  }

  /** For every kind: outgoing money needs an entry of the address book, and above a value another operator. */
  function check(entry: AuditEntry, { data }: AuditEntry): void {
    if (!movesMoney(data)) return;
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

/** An order is recorded when it is made. An append may be retried during an outage. */
const recordedWithin_ms = 60 * minute_ms;

/** True also if one of them is not a time. */
const isOtherTime = (a: string, b: string): boolean => !(Math.abs(Date.parse(a) - Date.parse(b)) <= recordedWithin_ms);

const movesMoney = ({ form }: AuditEntry['data']): boolean => formOf(form) === null || formOf(form) === 'coin';

/** In millionths of a dollar: a token counts as one dollar, regardless of the order; a coin's value is only in the order. */
function worthOf({ chainId, token, amount, value_microUsd: stated }: AuditEntry['data']): bigint {
  const known = heldTokens(chainOf(chainId)).find(({ address }) => address === token.address);
  const worth = known ? scaled(BigInt(amount), known.decimals, microUsdDecimals) : 0n;
  return worth > BigInt(stated) ? worth : BigInt(stated);
}

// The address book at any moment: at most a few hundred entries ever.

interface Span {
  readonly place: string;
  readonly address: string;
  readonly from: string;
  until: string | null;
}

export const addressBookStream = 'addressBook-treasury';

export interface WrittenBook extends Book {
  next(entry: AuditEntry): void;
}

export function createBook(): WrittenBook {
  const spans: Span[] = [];
  const addressOf = ({ chainId, address }: Parameters<Book['isUsable']>[0]): string =>
    JSON.stringify([chainId, address]);
  const placeOf = ({ chainId, address, memo }: Parameters<Book['isUsable']>[0]): string =>
    JSON.stringify([chainId, address, memo]);
  return {
    next({ type, data }) {
      const place = placeOf(data);
      for (const span of spans)
        if (span.place === place && span.until === null) span.until = data.removedAt ?? data.addedAt;
      if (type === 'AddressAdded') spans.push({ place, address: addressOf(data), from: data.usableFrom, until: null });
    },
    isUsable: (asked, at) =>
      spans.some(
        ({ place, address, from, until }) =>
          (asked.memo === undefined ? address === addressOf(asked) : place === placeOf(asked)) &&
          from <= at &&
          (until === null || at < until),
      ),
  };
}

/**
 * Relays, recomputed from their own events: they cost the treasury gas only. The payers' money is audited as payins.
 */
export function createRelayReckoner(out: Out): Reckoner {
  let ordered: AuditEntry | null = null;
  let leg: AuditedLeg | null = null;
  let ended = false;
  const illegal = (entry: AuditEntry, message: string) => out.find(findingAt('illegalEvent', entry, message));

  function order(entry: AuditEntry): void {
    const { stream, data } = entry;
    if (ordered) illegal(entry, 'it was ordered before');
    if (stream !== `${categoryOf(stream)}-${data.paymentId}-${data.relay}`)
      illegal(entry, `it is relay ${data.relay} of payment ${data.paymentId}, in another stream`);
    if (!paysDeposit(data))
      illegal(entry, `it pays ${data.receiver}, and the payment's deposit is ${data.form.deposit.address}`);
    ordered ??= entry;
    const { chainId, token, receiver, amount } = data;
    // It moves as little of ours as a deployment does.
    const own = { form: 'deploy', memo: null, owner: null, purpose: 'moved' } as const;
    leg ??= createLeg({ chainId, asset: token.address, receiver, amount: BigInt(amount), ...own }, out);
  }

  return {
    next(entry) {
      const kind = entry.type.replace('Relay', '');
      if (kind === 'Ordered') return order(entry);
      if (kind === 'Ended') {
        if (leg?.mayLand()) illegal(entry, 'its transaction has landed, or can still: it cannot be ended');
        ended = true;
        return;
      }
      if (landing.has(kind) && (!leg || ended))
        illegal(entry, leg ? 'it was ended before' : 'nothing was ordered before it');
      leg?.next(kind, entry);
    },
    end() {
      leg?.end();
      const position = leg?.signedAt() ?? null;
      if (!ordered || !leg || ended || position === null || leg.settled() || !leg.mayLand()) return;
      const what = 'its relay is signed and not settled';
      out.unsettled({ chainId: ordered.data.chainId, stream: ordered.stream, position, what });
    },
  };
}

/** On Stellar the receiver is an M address: the treasury's account, and the payment's memo as its id. */
function paysDeposit({ receiver, form: { deposit } }: AuditEntry['data']): boolean {
  if (!StrKey.isValidMed25519PublicKey(receiver)) return receiver === deposit.address;
  const muxed = MuxedAccount.fromAddress(receiver, '0');
  return muxed.baseAccount().accountId() === deposit.address && muxed.id() === deposit.memo;
}
