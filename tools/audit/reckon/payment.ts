/** One payment, recomputed from its events: received, divided, outgoing and held money. */
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { transferId } from '../../../domain/payment/shapes.ts';
import type { InflowClaim, Out, UnsettledMoney } from '../claims.ts';
import type { AuditEntry, Reckoner } from '../entry.ts';
import { type FindingCode, findingAt } from '../findings.ts';
import { auditedTerms, fundingFindings } from './funding.ts';
import { type AuditedLeg, createLeg, landing, orderedOf } from './legs.ts';

interface Refund {
  readonly ordered: AuditEntry;
  readonly leg: AuditedLeg;
  readonly chainId: number;
  readonly asset: string;
  readonly sent: bigint;
  /** Including its network fee. */
  readonly taken: bigint;
  calledOff: boolean;
}

export interface RefundAudit {
  /** A payer set a refund address. */
  setAddress(entry: AuditEntry): void;
  /** A person of the app confirmed one, or withdrew it. */
  confirmAddress(entry: AuditEntry): void;
  withdrawAddress(entry: AuditEntry): void;
  order(entry: AuditEntry): void;
  callOff(entry: AuditEntry): void;
  /** @returns false if no such refund was ordered */
  next(kind: string, entry: AuditEntry): boolean;
  /** Amount of an asset used by refunds that were not called off, or landed anyway. */
  taken(key: string): bigint;
  end(): void;
}

/**
 * Follows one payment's refunds by its own events: each ordered refund, and its part of the held money.
 * @param left held amount of an asset, less all refunds so far
 * @param sentBy amount of an asset from a sender
 */
export function createRefundAudit(
  out: Out,
  left: (key: string) => bigint,
  sentBy: (sender: string, key: string) => bigint,
): RefundAudit {
  const refunds = new Map<number, Refund>();
  const addresses: AuditEntry['data'][] = [];
  const confirmed = new Map<number, AuditEntry['data']>();
  const find = (code: FindingCode, entry: AuditEntry, message: string) => out.find(findingAt(code, entry, message));
  const standing = () => [...refunds.values()].filter(({ calledOff, leg }) => !calledOff || leg.settled() !== null);
  const takenBy = (key: string, isMeant: (refund: Refund) => boolean): bigint =>
    standing().reduce(
      (sum, each) => (assetKey(each.chainId, each.asset) === key && isMeant(each) ? sum + each.taken : sum),
      0n,
    );

  /** A refund goes to the payer, or to the address that the payer signed or the app confirmed; an operator may choose any address. */
  function checkReceiver(entry: AuditEntry): void {
    const { refund, chainId, token, amount, receiverAddress, receiverMemo, requestedBy, requestedAt, proof } =
      entry.data;
    const key = assetKey(chainId, token.address);
    const isProven = ({ sender, by }: AuditEntry['data']): boolean =>
      by === 'credit'
        ? receiverAddress === sender && receiverMemo === null
        : (by === 'merchant' ? [...confirmed.values()] : addresses).some(
            (set) =>
              (by === 'merchant' ? set.sender : set.proof?.sender) === sender &&
              set.address === receiverAddress &&
              (set.memo ?? null) === receiverMemo &&
              (by !== 'merchant' || set.effectiveAt <= requestedAt),
          );
    if (!proof && (requestedBy === 'operator' || requestedBy === undefined)) {
      if (sentBy(receiverAddress, key) === 0n)
        out.byWord({
          ...{ stream: entry.stream, revision: entry.revision },
          what: `refund ${refund} of ${amount} of ${token.address} to ${receiverAddress}`,
        });
      return;
    }
    if (!proof || !isProven(proof)) {
      find('refundElsewhere', entry, `${receiverAddress} is not proven to be an address of a payer`);
      return;
    }
    const theirs = takenBy(key, ({ ordered }) => ordered.data.proof?.sender === proof.sender);
    const sent = sentBy(proof.sender, key);
    if (theirs > sent) find('refundElsewhere', entry, `${theirs} goes back for ${proof.sender}, who sent ${sent}`);
  }

  return {
    setAddress: (entry) => void addresses.push(entry.data),
    confirmAddress: ({ data }) => void confirmed.set(data.number, data),
    withdrawAddress: ({ data }) => void confirmed.delete(data.number),
    order(entry) {
      const { refund, chainId, token, amount, networkFee = '0' } = entry.data;
      if (refund !== refunds.size + 1) find('illegalEvent', entry, `refund ${refund} follows ${refunds.size} refunds`);
      const [sent, taken] = [BigInt(amount), BigInt(amount) + BigInt(networkFee)];
      const leg = createLeg(orderedOf(entry.data, 'refunded'), out);
      refunds.set(refund, { ordered: entry, leg, chainId, asset: token.address, sent, taken, calledOff: false });
      const missing = -left(assetKey(chainId, token.address));
      if (missing > 0n) find('refundBeyondCap', entry, `${missing} more is to go back than is held`);
      checkReceiver(entry);
    },
    callOff(entry) {
      const refund = refunds.get(entry.data.refund);
      if (refund?.leg.mayLand())
        find('illegalEvent', entry, 'the refund has landed, or can still: it cannot be called off');
      if (refund) refund.calledOff = true;
    },
    next(kind, entry) {
      const refund = refunds.get(entry.data.refund);
      if (refund?.calledOff && landing.has(kind)) find('illegalEvent', entry, 'the refund was called off before');
      refund?.leg.next(kind, entry);
      return refund !== undefined;
    },
    taken: (key) => takenBy(key, () => true),
    end() {
      for (const { leg } of refunds.values()) leg.end();
      for (const { leg, ordered } of standing())
        if (leg.settled() === null)
          out.unsettled({
            chainId: ordered.data.chainId,
            stream: ordered.stream,
            position: leg.signedAt() ?? ordered.position,
            what: `refund ${ordered.data.refund} is not settled`,
          });
      for (const { chainId, asset, sent, taken } of standing()) {
        out.sum(chainId, asset, 'refunded', sent);
        out.sum(chainId, asset, 'networkFees', taken - sent);
      }
    },
  };
}

/** State of a payment after its events. */
interface Payment {
  created: AuditEntry | null;
  funded: AuditEntry | null;
  bounced: boolean;
  payout: AuditedLeg | null;
  ordered: AuditEntry | null;
  /** Its deposits. */
  readonly deposits: AuditEntry['data'][];
  last: AuditEntry | null;
}

export function createPaymentReckoner(out: Out): Reckoner {
  const payment: Payment = {
    ...{ created: null, funded: null, bounced: false, payout: null, ordered: null, deposits: [], last: null },
  };
  const payins = createPayins(out, (transfer) => payment.deposits.some((deposit) => isAt(deposit, transfer)));
  const leftOf = (key: string): bigint =>
    (payins.received().get(key) ?? 0n) - usedFor(payment, key) - refunds.taken(key);
  const refunds = createRefundAudit(out, leftOf, payins.sentBy);
  const find = (code: FindingCode, entry: AuditEntry, message: string) => out.find(findingAt(code, entry, message));

  function fund(entry: AuditEntry, created: AuditEntry) {
    if (payment.funded) return find('illegalEvent', entry, 'it is funded already');
    payment.funded = entry;
    const used = entry.data.transferIds.map(payins.confirmed);
    for (const finding of fundingFindings(auditedTerms(created), entry, used)) out.find(finding);
  }
  /** Events of a transfer: Signed, Died, Confirmed … */
  function move(entry: AuditEntry): void {
    const { type } = entry;
    const kind = type.slice('Payout'.length);
    const isKnown = type.startsWith('Payout') ? payment.payout !== null : refunds.next(kind, entry);
    if (type.startsWith('Payout')) payment.payout?.next(kind, entry);
    if (type === 'PayoutSigned') checkPayout(entry);
    if (!isKnown && /^(Payout|Refund)(Signed|Confirmed|Short)$/.test(type))
      find('illegalEvent', entry, 'nothing was ordered before it');
  }
  /** The money of a payout must be unrefunded. */
  function checkPayout(entry: AuditEntry): void {
    if (payment.bounced) find('illegalEvent', entry, 'the payment bounced: its money can only go back');
    const by = divided({ ...payment, bounced: false });
    if (!by) return;
    const key = assetKey(by.chainId, by.asset);
    const missing = shareOf(by.data) + refunds.taken(key) - (payins.received().get(key) ?? 0n) - payins.gone(key);
    if (missing > 0n) find('refundBeyondCap', entry, `${missing} more is refunded and paid out than was received`);
  }
  /** An orphaned payin after the payout is a recorded loss; nothing else explains more outgoing than received money. */
  function checkHeld(last: AuditEntry): void {
    for (const [key, received] of payins.received()) {
      const missing = usedFor(payment, key) + refunds.taken(key) - received - payins.gone(key);
      if (missing > 0n)
        find(
          'refundBeyondCap',
          last,
          `${missing} of ${key.split(' ')[1]} more is refunded and paid out than was received`,
        );
    }
  }
  return {
    next(entry) {
      const { type, data } = entry;
      const { created } = payment;
      payment.last = entry;
      if (type === 'PaymentCreated') return create(payment, entry, out);
      if (!created) return find('illegalEvent', entry, 'no PaymentCreated comes before it');
      if (type === 'SourceChosen') return disclose(payment, out, entry, data);
      if (type === 'PayinDetected' || type === 'PayinConfirmed') return payins.see(entry);
      if (type === 'PayinOrphaned' || type === 'PayinLost') return payins.lose(entry);
      if (type === 'PaymentFunded') return fund(entry, created);
      if (type === 'PayoutRequested') return order(payment, entry, out);
      if (type === 'RefundAddressSet') return refunds.setAddress(entry);
      if (type === 'RefundAddressConfirmed') return refunds.confirmAddress(entry);
      if (type === 'RefundAddressWithdrawn') return refunds.withdrawAddress(entry);
      if (type.startsWith('FundedRefund')) return;
      if (type === 'RefundRequested') return refunds.order(entry);
      if (type === 'RefundCalledOff') return refunds.callOff(entry);
      if (type === 'PaymentBounced') payment.bounced = true;
      else move(entry);
    },
    end() {
      payment.payout?.end();
      payins.end();
      refunds.end();
      if (!payment.created) return;
      if (payment.last) checkHeld(payment.last);
      tellPlaces(payment, payins.count(), out);
      for (const [key, received] of payins.received()) {
        const [chainId = '', asset = ''] = key.split(' ');
        out.sum(Number(chainId), asset, 'received', received);
        out.sum(Number(chainId), asset, 'held', leftOf(key));
      }
      sumUp(payment, out);
      for (const unsettled of unsettledIn(payment, payins, leftOf)) out.unsettled(unsettled);
    },
  };
}

function create(payment: Payment, entry: AuditEntry, out: Out) {
  const { paymentId, source, deposit } = entry.data;
  if (payment.created || entry.stream !== `payment-${paymentId}`)
    return out.find(findingAt('illegalEvent', entry, 'it is not this stream’s first event, or of another payment'));
  payment.created = entry;
  disclose(payment, out, entry, { chainId: source.chainId, deposit });
}

/** Adds a deposit from now on. */
function disclose(payment: Payment, out: Out, { at }: AuditEntry, { chainId, deposit }: AuditEntry['data']): void {
  const { family } = chainOf(chainId);
  payment.deposits.push(deposit);
  out.deposit({ address: deposit.address, family, at, paymentId: payment.created?.data.paymentId });
}

interface Place {
  readonly to: string;
  readonly memo: string | null;
}

/** A deposit is an address, with a memo if payments share it; for a contract payment, the contract with its own memo. */
function placesOf({ address, memo, contract, contractMemo }: AuditEntry['data']): readonly Place[] {
  const called = contract === null ? [] : [{ to: contract, memo: contractMemo }];
  return contract === null || memo !== null ? [...called, { to: address, memo }] : called;
}

const isAt = (deposit: AuditEntry['data'], transfer: AuditEntry['data']): boolean =>
  placesOf(deposit).some(({ to, memo }) => transfer.to === to && (transfer.memo ?? null) === memo);

/** Deposits with a memo share an address: unmatched funds with that memo belong to the payment. */
function tellPlaces({ created, deposits }: Payment, count: number, out: Out): void {
  if (!created) return;
  const where = { stream: created.stream, revision: created.revision, id: created.id };
  for (const { to, memo } of deposits.flatMap(placesOf))
    if (memo !== null)
      out.place(`${to} ${memo}`, { side: 'place', where, paymentId: created.data.paymentId, payins: count });
}

function order(payment: Payment, entry: AuditEntry, out: Out): void {
  const { destination } = payment.created?.data ?? {};
  const { data } = entry;
  const right =
    payment.funded !== null &&
    BigInt(data.amount) === BigInt(payment.funded.data.payout) &&
    data.chainId === destination?.chainId &&
    data.token.address === destination?.token.address &&
    data.receiverAddress === destination?.receiverAddress &&
    data.receiverMemo === destination?.receiverMemo;
  if (payment.payout || !right) {
    const what = `ordered ${data.amount} to ${data.receiverAddress}, which the terms do not say`;
    out.find(findingAt('payoutWrong', entry, what));
  }
  payment.payout ??= createLeg(orderedOf(data, 'paid'), out);
  payment.ordered ??= entry;
}

/** Money neither paid out nor refunded, by chain. */
function unsettledIn(
  { created, payout, ordered, bounced }: Payment,
  payins: Payins,
  leftOf: (key: string) => bigint,
): readonly UnsettledMoney[] {
  const stream = created?.stream ?? '';
  const isDue = payout !== null && payout.settled() === null && !bounced;
  const found: UnsettledMoney[] = [...payins.seen()].flatMap(([chainId, { position, confirmed }]) => {
    const held = [...payins.received().keys()].filter((key) => key.startsWith(`${chainId} `) && leftOf(key) > 0n);
    const what = [
      ...(confirmed ? [] : ['its payin is not final']),
      ...held.map((key) => `${leftOf(key)} of ${key.split(' ')[1]} are held`),
      ...(isDue ? [`its payout on chain ${ordered?.data.chainId} is not settled`] : []),
    ];
    return what.length === 0 ? [] : [{ chainId, stream, position, what: what.join('; ') }];
  });
  if (!isDue || !ordered || found.some(({ chainId }) => chainId === ordered.data.chainId)) return found;
  const position = payout.signedAt() ?? ordered.position;
  return [...found, { chainId: ordered.data.chainId, stream, position, what: 'its payout is not settled' }];
}

/** Division of the received money; null before it, and if the payment bounced before anything left. */
function divided({ created, funded, bounced, payout }: Payment) {
  if (!created || !funded || funded.data.rule === 'cashback' || (bounced && payout?.settled() == null)) return null;
  return { ...auditedTerms(created).paidFrom(funded.data.source), data: funded.data };
}

/** Amount of an asset used by payout, fee and dust. */
function usedFor(payment: Payment, key: string): bigint {
  const by = divided(payment);
  return by && assetKey(by.chainId, by.asset) === key ? shareOf(by.data) : 0n;
}

const shareOf = ({ received, excess }: AuditEntry['data']): bigint => BigInt(received) - BigInt(excess);

function sumUp(payment: Payment, out: Out): void {
  const by = divided(payment);
  if (!by) return;
  const { chainId, asset, data } = by;
  const [fee, dust, received, excess] = [data.fee, data.dust, data.received, data.excess].map(BigInt) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  out.sum(chainId, asset, 'fees', fee);
  out.sum(chainId, asset, 'dust', dust);
  out.sum(chainId, asset, 'paidOut', received - excess - fee - dust);
}

// Payins of one payment, from its own events: each transfer, and whether it is still on its chain.

/** A chain and a token as a key. */
const assetKey = (chainId: number, asset: string): string => `${chainId} ${asset}`;

interface Payin {
  readonly entry: AuditEntry;
  phase: InflowClaim['phase'];
}

interface Payins {
  /** A detected transfer, or a final one, which never changes back. */
  see(entry: AuditEntry): void;
  lose(entry: AuditEntry): void;
  /** Number of recorded transfers, in any phase. */
  count(): number;
  /** Confirmed amount of an asset from a sender. */
  sentBy(sender: string, key: string): bigint;
  /** Confirmed amount of an asset that left its chain again. */
  gone(key: string): bigint;
  /** Transfer with that id; null if it is not confirmed. */
  confirmed(id: string): AuditEntry['data'] | null;
  /** Confirmed amounts by asset. */
  received(): ReadonlyMap<string, bigint>;
  /** Existing transfers by chain: log position of the last one, and whether all are final. */
  seen(): ReadonlyMap<ChainId, { readonly position: string; readonly confirmed: boolean }>;
  end(): void;
}

/** @param isOwn true if a transfer is at one of the payment's deposits, all of which are known at the end */
function createPayins(out: Out, isOwn: (transfer: AuditEntry['data']) => boolean): Payins {
  const payins = new Map<string, Payin>();
  const sumOf = (key: string, isMeant: (payin: Payin) => boolean): bigint =>
    [...payins.values()].reduce((sum, payin) => {
      const { chainId, token, amount } = payin.entry.data.transfer;
      return assetKey(chainId, token.address) === key && isMeant(payin) ? sum + BigInt(amount) : sum;
    }, 0n);
  return {
    see(entry) {
      const id = transferId(entry.data.transfer);
      if (entry.type === 'PayinConfirmed' && payins.get(id)?.phase === 'confirmed')
        out.find(findingAt('illegalEvent', entry, `${id} was confirmed before`));
      const isConfirmed = entry.type === 'PayinConfirmed' || payins.get(id)?.phase === 'confirmed';
      payins.set(id, { entry, phase: isConfirmed ? 'confirmed' : 'detected' });
    },
    count: () => payins.size,
    sentBy: (sender, key) =>
      sumOf(key, ({ entry, phase }) => phase === 'confirmed' && entry.data.transfer.from === sender),
    gone: (key) => sumOf(key, ({ phase }) => phase === 'gone'),
    lose(entry) {
      const payin = payins.get(entry.data.transferId);
      if (payin) payin.phase = 'gone';
      else out.find(findingAt('illegalEvent', entry, `${entry.data.transferId} was never seen`));
    },
    confirmed(id) {
      const payin = payins.get(id);
      return payin?.phase === 'confirmed' ? payin.entry.data.transfer : null;
    },
    received() {
      const sums = new Map<string, bigint>();
      for (const { entry, phase } of payins.values()) {
        const { chainId, token, amount } = entry.data.transfer;
        const key = assetKey(chainId, token.address);
        if (phase === 'confirmed') sums.set(key, (sums.get(key) ?? 0n) + BigInt(amount));
      }
      return sums;
    },
    seen() {
      const seen = new Map<ChainId, { readonly position: string; readonly confirmed: boolean }>();
      for (const { entry, phase } of payins.values()) {
        const { chainId } = entry.data.transfer;
        const confirmed = phase === 'confirmed' && (seen.get(chainId)?.confirmed ?? true);
        if (phase !== 'gone') seen.set(chainId, { position: entry.position, confirmed });
      }
      return seen;
    },
    end() {
      for (const [id, payin] of payins) out.claim(claimOf(id, payin, isOwn(payin.entry.data.transfer)));
    },
  };
}

function claimOf(id: string, { entry, phase }: Payin, atOwnDeposit: boolean): InflowClaim {
  const { chainId, txHash, from, to, memo = null, token, amount, blockNumber } = entry.data.transfer;
  return {
    side: 'log',
    kind: 'payin',
    where: { stream: entry.stream, revision: entry.revision, id: entry.id },
    position: entry.position,
    at: entry.at,
    chainId,
    txHash,
    transferId: id,
    from,
    to,
    memo,
    atOwnDeposit,
    asset: token.address,
    amount,
    block: blockNumber,
    phase,
  };
}
