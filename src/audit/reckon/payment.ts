/** One payment, reckoned again from its events: what came, how it was divided, what left, what is held. */
import { chainOf } from '../../../domain/chains.ts';
import { transferId } from '../../../domain/payment/shapes.ts';
import type { Out } from '../claims.ts';
import type { Entry } from '../entry.ts';
import { type FindingCode, findingAt } from '../findings.ts';
import { fundingFindings, type Terms, termsOf } from './funding.ts';
import { createLeg, type Leg, type Ordered } from './legs.ts';
import type { Reckoner } from './reckoner.ts';

interface Payin {
  readonly entry: Entry;
  phase: 'detected' | 'confirmed' | 'gone';
}

interface Refund {
  readonly leg: Leg;
  readonly asset: string;
  readonly chainId: number;
  readonly sent: bigint;
  readonly taken: bigint;
  calledOff: boolean;
}

/** A chain and a token, as a key. */
const assetKey = (chainId: number, asset: string): string => `${chainId} ${asset}`;

export function createPaymentReckoner(out: Out): Reckoner {
  const payins = new Map<string, Payin>();
  const refunds = new Map<number, Refund>();
  let created: Entry | null = null;
  let funded: Entry | null = null;
  let bounced = false;
  let payout: Leg | null = null;
  const find = (code: FindingCode, entry: Entry, message: string) => out.find(findingAt(code, entry, message));

  function create(entry: Entry) {
    if (created || entry.stream !== `payment-${entry.data.paymentId}`)
      return find('illegalEvent', entry, 'it is not this stream’s first event, or of another payment');
    created = entry;
    disclose(entry, entry.data.source.chainId, entry.data.deposit.address);
  }
  const disclose = (entry: Entry, chainId: number, address: string) =>
    out.deposit({
      address,
      family: chainOf(chainId as never).family,
      at: entry.at,
      paymentId: created?.data.paymentId,
    });

  function see(entry: Entry, phase: 'detected' | 'confirmed'): void {
    payins.set(transferId(entry.data.transfer), { entry, phase });
  }
  function lose(entry: Entry) {
    const payin = payins.get(entry.data.transferId);
    if (!payin) return find('illegalEvent', entry, `${entry.data.transferId} was never seen`);
    payin.phase = 'gone';
  }

  function fund(entry: Entry) {
    if (funded || !created) return find('illegalEvent', entry, 'it is funded already, or was never created');
    funded = entry;
    const used = entry.data.transferIds.map((id: string) => payins.get(id));
    for (const finding of fundingFindings(
      termsOf(created),
      entry,
      used.map((payin: Payin | undefined) => (payin && payin.phase === 'confirmed' ? payin.entry.data.transfer : null)),
    ))
      out.find(finding);
  }

  function order(entry: Entry): void {
    const { destination } = created?.data ?? {};
    const { data } = entry;
    const right =
      funded !== null &&
      BigInt(data.amount) === BigInt(funded.data.payout) &&
      data.chainId === destination?.chainId &&
      data.token.address === destination?.token.address &&
      data.receiverAddress === destination?.receiverAddress &&
      data.receiverMemo === destination?.receiverMemo;
    if (payout || !right)
      find('payoutWrong', entry, `ordered ${data.amount} to ${data.receiverAddress}, which the terms do not say`);
    payout ??= createLeg(orderedOf(data), out);
  }

  function orderRefund(entry: Entry): void {
    const { refund, chainId, token, amount, networkFee = '0' } = entry.data;
    if (refund !== refunds.size + 1) find('illegalEvent', entry, `refund ${refund} follows ${refunds.size} refunds`);
    const [sent, taken] = [BigInt(amount), BigInt(amount) + BigInt(networkFee)];
    refunds.set(refund, {
      leg: createLeg(orderedOf(entry.data), out),
      chainId,
      asset: token.address,
      sent,
      taken,
      calledOff: false,
    });
    const left = leftOf(assetKey(chainId, token.address));
    if (left < 0n) find('refundBeyondCap', entry, `${-left} more is to go back than is held`);
  }

  const leftOf = (key: string): bigint => received(key) - usedFor(key) - returned(key);
  const received = (key: string): bigint =>
    [...payins.values()].reduce((sum, { entry, phase }) => {
      const { chainId, token, amount } = entry.data.transfer;
      return phase === 'confirmed' && assetKey(chainId, token.address) === key ? sum + BigInt(amount) : sum;
    }, 0n);
  /** What the payout, the fee and the dust took; nothing of it where the payment bounced before anything left. */
  function usedFor(key: string): bigint {
    if (!funded || !created || (bounced && payout?.settled() == null)) return 0n;
    const { source, received: came, excess, rule } = funded.data;
    if (rule === 'cashback') return 0n;
    const { chainId, tokenAddress } = source ?? {
      chainId: created.data.source.chainId,
      tokenAddress: created.data.source.token.address,
    };
    return assetKey(chainId, tokenAddress) === key ? BigInt(came) - BigInt(excess) : 0n;
  }
  const returned = (key: string): bigint =>
    [...refunds.values()].reduce(
      (sum, { chainId, asset, taken, calledOff }) =>
        !calledOff && assetKey(chainId, asset) === key ? sum + taken : sum,
      0n,
    );

  function sumUp(terms: Terms): void {
    const keys = new Set<string>();
    for (const { entry, phase } of payins.values()) {
      const { chainId, token, amount } = entry.data.transfer;
      if (phase !== 'confirmed') continue;
      out.sum(chainId, token.address, 'received', BigInt(amount));
      keys.add(assetKey(chainId, token.address));
    }
    for (const key of keys) {
      const [chainId = '', asset = ''] = key.split(' ');
      out.sum(Number(chainId), asset, 'held', leftOf(key));
    }
    for (const { chainId, asset, sent, taken, calledOff } of refunds.values()) {
      if (calledOff) continue;
      out.sum(chainId, asset, 'refunded', sent);
      out.sum(chainId, asset, 'networkFees', taken - sent);
    }
    if (!funded || (bounced && payout?.settled() == null) || funded.data.rule === 'cashback') return;
    const { chainId, asset } = terms.paidFrom(funded.data.source);
    const { fee, dust, received: came, excess } = funded.data;
    out.sum(chainId, asset, 'fees', BigInt(fee));
    out.sum(chainId, asset, 'dust', BigInt(dust));
    out.sum(chainId, asset, 'paidOut', BigInt(came) - BigInt(excess) - BigInt(fee) - BigInt(dust));
  }

  function claimPayins(): void {
    for (const [id, { entry, phase }] of payins) {
      const { chainId, txHash, to, token, amount, blockNumber } = entry.data.transfer;
      const where = { stream: entry.stream, revision: entry.revision, id: entry.id };
      out.claim({
        side: 'log',
        kind: 'payin',
        where,
        chainId,
        txHash,
        transferId: id,
        to,
        asset: token.address,
        amount,
        block: blockNumber,
        phase,
      });
    }
  }

  return {
    next(entry) {
      const { type, data } = entry;
      if (type === 'PaymentCreated') return create(entry);
      if (!created) return find('illegalEvent', entry, 'no PaymentCreated comes before it');
      if (type === 'SourceChosen') return disclose(entry, data.chainId, data.deposit.address);
      if (type === 'PayinDetected')
        return see(entry, payins.get(transferId(data.transfer))?.phase === 'confirmed' ? 'confirmed' : 'detected');
      if (type === 'PayinConfirmed') return see(entry, 'confirmed');
      if (type === 'PayinOrphaned' || type === 'PayinLost') return lose(entry);
      if (type === 'PaymentFunded') return fund(entry);
      if (type === 'PaymentBounced') {
        bounced = true;
        return;
      }
      if (type === 'PayoutRequested') return order(entry);
      if (type === 'RefundRequested') return orderRefund(entry);
      if (type === 'RefundCalledOff') return callOff(entry);
      const [leg, kind] = type.startsWith('Payout')
        ? [payout, type.slice(6)]
        : [refunds.get(data.refund)?.leg, type.slice(6)];
      if (leg) leg.next(kind, entry);
      else if (/^(Payout|Refund)(Signed|Confirmed|Short)$/.test(type))
        find('illegalEvent', entry, 'nothing was ordered before it');
    },
    end() {
      payout?.end();
      for (const { leg } of refunds.values()) leg.end();
      claimPayins();
      if (created) sumUp(termsOf(created));
    },
  };

  function callOff(entry: Entry): void {
    const refund = refunds.get(entry.data.refund);
    if (refund?.leg.settled()) find('illegalEvent', entry, 'the refund has landed: it cannot be called off');
    if (refund) refund.calledOff = true;
  }
}

const orderedOf = ({ chainId, token, receiverAddress, receiverMemo, amount }: Entry['data']): Ordered => ({
  chainId,
  asset: token.address,
  receiver: receiverAddress,
  memo: receiverMemo,
  amount: BigInt(amount),
  form: null,
  owner: null,
});
