/**
 * Words for specifications of payments. Unless a specification says otherwise, a customer pays 10.01 USDC on Base, the
 * merchant gets 10.00 USDC on Ethereum, and the fee is 0.01. Minute 0 is the creation, minute 60 the expiry.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  type Chain,
  type ChainFamily,
  type ChainId,
  chainOf,
  findToken,
  type Token,
  type TokenSymbol,
} from '../../domain/chains.ts';
import { parseAmount } from '../../domain/money.ts';
import { type AmountPolicy, holdAll } from '../../domain/payment/amountPolicy.ts';
import { createPayment, type Terms } from '../../domain/payment/create.ts';
import type {
  BounceCode,
  Deposit,
  PaymentEvent,
  PaymentEventData,
  PaymentEventType,
  Transfer,
} from '../../domain/payment/events.ts';
import { transferId } from '../../domain/payment/events.ts';
import { refundText } from '../../domain/payment/refundAddress.ts';
import type { PlannedRefund, RefundOrder, SendingCost } from '../../domain/payment/refundOrder.ts';
import { type Payment, paymentDecider } from '../../domain/payment/state.ts';
import { type Instant, instant, minute_ms, plus } from '../../domain/time.ts';
import type { DeathProof, SignedAttempt } from '../../domain/transfer/shapes.ts';

export interface Asset {
  readonly chain: Chain;
  readonly token: Token;
}

export function asset(chainId: ChainId, symbol: TokenSymbol = 'USDC'): Asset {
  const chain = chainOf(chainId);
  const token = findToken(chain, symbol);
  assert.ok(token, `${chain.name} has ${symbol}`);
  return { chain, token };
}

/** 6 decimals, but 18 on BNB Chain and 7 on Stellar. */
export const baseUsdc = asset(8453);
export const ethereumUsdc = asset(1);
export const ethereumUsdt = asset(1, 'USDT');
export const polygonUsdc = asset(137);
export const bnbUsdc = asset(56);
export const solanaUsdc = asset(501);
export const stellarUsdc = asset(1500);

export const minute = (minutes: number): Instant => plus(instant(Date.UTC(2026, 10, 21, 9)), minutes * minute_ms);
export const created_at = minute(0);
export const expires_at = minute(60);

/** A decimal text in a token's smallest units. */
export function of(amount: string, { token }: { token: Token } = baseUsdc): bigint {
  const value = parseAmount(amount, token.decimals);
  if (typeof value === 'string') assert.fail(`${amount} ${token.symbol}: ${value}`);
  return value;
}

export const digits = (amount: string, asset?: Asset): string => of(amount, asset).toString();

/** 32 bytes that look like a chain's. */
export const hashOf = (...parts: readonly unknown[]): string =>
  `0x${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`;

export const merchantWallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const customerWallet = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
export const depositAddress = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
export const treasuryAccount = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

export interface TermsSketch {
  readonly type?: Terms['type'];
  readonly amount?: string;
  readonly from?: Asset;
  readonly to?: Asset;
  readonly fee?: { readonly fixed?: string; readonly basisPoints?: number };
  readonly orderId?: string | null;
  readonly keyless?: boolean;
  readonly webhookUrl?: string | null;
  /** Other sources of the payer, each for the same fee. */
  readonly alternatives?: readonly Asset[];
  /** The app's policy for wrong amounts. Default: all are held. */
  readonly policy?: Partial<AmountPolicy>;
  /** Additional sources that deposits watch, each for the same fee. */
  readonly watched?: readonly Asset[];
}

export function terms(sketch: TermsSketch = {}): Terms {
  const { type = 'exactOut', amount = '10.00', from = baseUsdc, to = ethereumUsdc, fee = {} } = sketch;
  return {
    paymentId: '0198f3c2-0000-8000-8000-000000000001',
    appId: 'wallet_demo',
    orderId: sketch.orderId ?? null,
    keyless: sketch.keyless ?? false,
    type,
    intent: null,
    display: { title: 'Coffee beans', description: null, currency: 'USD' },
    metadata: null,
    source: { ...from, amount: type === 'exactIn' ? of(amount, from) : null, senderAddress: null },
    destination: {
      ...to,
      amount: type === 'exactOut' ? of(amount, to) : null,
      receiverAddress: merchantWallet,
      receiverMemo: null,
    },
    feePolicy: { fixed: of(fee.fixed ?? '0.01', from), basisPoints: fee.basisPoints ?? 0 },
    deposit: {
      scheme: 'test-1',
      address: depositAddress,
      memo: null,
      contract: null,
      contractMemo: null,
      salt: '0x01',
    },
    webhookUrl: sketch.webhookUrl ?? null,
    alternatives: (sketch.alternatives ?? []).map((each) => ({
      ...each,
      feePolicy: { fixed: of(fee.fixed ?? '0.01', each), basisPoints: fee.basisPoints ?? 0 },
    })),
    ...(sketch.policy && { policy: { ...holdAll, ...sketch.policy } }),
    tolerable: (sketch.watched ?? []).map((each) => ({
      ...each,
      feePolicy: { fixed: of(fee.fixed ?? '0.01', each), basisPoints: fee.basisPoints ?? 0 },
    })),
    now: created_at,
  };
}

/** An event by name, its data checked by the compiler. */
export const event = <T extends PaymentEventType>(type: T, data: PaymentEventData<T>) =>
  ({ type, data }) as Extract<PaymentEvent, { type: T }>;

export function created(sketch: TermsSketch = {}): PaymentEvent {
  const [first] = createPayment(null, terms(sketch)) as readonly PaymentEvent[];
  assert.ok(first, 'the sketched terms make a payment');
  return first;
}

export interface PayinSketch {
  readonly amount?: string;
  readonly tx?: string;
  readonly index?: number;
  readonly block?: number | string;
  readonly at?: Instant;
  readonly in?: Asset;
}

/** A transfer to the deposit address. */
export function payin(sketch: PayinSketch = {}): Transfer {
  const { amount = '10.01', tx = 'payin', index = 0, block = 100, at = minute(5), in: asset = baseUsdc } = sketch;
  return {
    chainId: asset.chain.id,
    txHash: hashOf(tx),
    index,
    blockNumber: String(Number.parseInt(String(block), 10)),
    blockHash: hashOf('block', block),
    blockTime: at,
    token: asset.token,
    from: customerWallet,
    to: depositAddress,
    amount: digits(amount, asset),
  };
}

export const detected = (transfer: Transfer = payin()) => event('PayinDetected', { transfer });
export const confirmed = (transfer: Transfer = payin(), at: Instant = minute(6)) =>
  event('PayinConfirmed', { transfer, confirmedAt: at });
export const orphaned = (transfer: Transfer = payin()) =>
  event('PayinOrphaned', { transferId: transferId(transfer), blockHash: transfer.blockHash });
export const lost = (transfer: Transfer = payin()) =>
  event('PayinLost', { transferId: transferId(transfer), amount: transfer.amount });

/** Amounts as texts, payout in destination units. */
export function funded(
  by: readonly Transfer[] = [payin()],
  {
    source = baseUsdc,
    destination = ethereumUsdc,
    at = minute(6),
    rule = 'agreed',
    fromAlternative,
    ...amounts
  }: FundedSketch = {},
) {
  const {
    received = '10.01',
    sourceAmount = '10.01',
    fee = '0.01',
    excess = '0',
    dust = '0',
    payout = '10.00',
  } = amounts;
  return event('PaymentFunded', {
    rule,
    transferIds: by.map(transferId),
    received: digits(received, source),
    sourceAmount: digits(sourceAmount, source),
    fee: digits(fee, source),
    excess: digits(excess, source),
    dust: digits(dust, source),
    payout: digits(payout, destination),
    ...(fromAlternative && { source: { chainId: source.chain.id, tokenAddress: source.token.address } }),
    fundedAt: at,
  });
}

type FundedAmounts = 'received' | 'sourceAmount' | 'fee' | 'excess' | 'dust' | 'payout';
interface FundedSketch extends Partial<Record<FundedAmounts, string>> {
  readonly source?: Asset;
  /** True if `source` differs from the payment's created source. */
  readonly fromAlternative?: boolean;
  readonly destination?: Asset;
  readonly at?: Instant;
  readonly rule?: PaymentEventData<'PaymentFunded'>['rule'];
}

export const payoutRequested = (amount = '10.00', to: Asset = ethereumUsdc) =>
  event('PayoutRequested', {
    chainId: to.chain.id,
    token: to.token,
    receiverAddress: merchantWallet,
    receiverMemo: null,
    amount: digits(amount, to),
    requestedAt: minute(7),
  });

export interface AttemptSketch {
  readonly nonce?: string | null;
  readonly fee?: Readonly<Record<string, string>>;
  readonly amount?: string;
  readonly to?: Asset;
  readonly receiver?: string;
  readonly account?: string;
}

/** The nth signed attempt. */
export function attempt(n = 1, sketch: AttemptSketch = {}): SignedAttempt {
  const { nonce = '7', fee = feeCaps(100), amount = '10.00', to = ethereumUsdc } = sketch;
  const { receiver = merchantWallet, account = treasuryAccount } = sketch;
  return {
    attempt: n,
    chainId: to.chain.id,
    account,
    nonce,
    hash: hashOf('attempt', account, nonce, fee, receiver, amount),
    bytes: '0x02',
    validUntil: null,
    fee: { ...fee },
    token: to.token,
    receiver,
    receiverMemo: null,
    amount: digits(amount, to),
    signedAt: minute(8),
  };
}

/** EVM fee terms at a level. */
export const feeCaps = (level: number): Readonly<Record<string, string>> => ({
  maxFeePerGas: String(level),
  maxPriorityFeePerGas: String(level),
  gas: '65000',
});

/** Block of a landed attempt. */
export const landed = ({ attempt, hash }: SignedAttempt, block: number | string = 200) => ({
  attempt,
  hash,
  blockNumber: String(Number.parseInt(String(block), 10)),
  blockHash: hashOf('block', block),
  confirmedAt: minute(9),
});

/** A chain's statement about a landed attempt. */
export const final = ({ attempt, hash, blockNumber, blockHash }: ReturnType<typeof landed>) =>
  ({ kind: 'final', attempt, hash, blockNumber: BigInt(blockNumber), blockHash }) as const;

export const nonceUsed: DeathProof = { reason: 'nonceUsed', detail: 'another transaction used the nonce, final' };
export const reverted: DeathProof = { reason: 'reverted', detail: 'reverted in block 200, final' };

export const signed = (signing: SignedAttempt = attempt()) => event('PayoutSigned', signing);
export const died = (n = 1, proof: DeathProof = nonceUsed) => event('PayoutDied', { attempt: n, proof });
export const settled = (signing: SignedAttempt = attempt(), block?: number | string) =>
  event('PayoutConfirmed', landed(signing, block));
/** Final, with this amount arrived. */
export function short(arrived: string, signing: SignedAttempt = attempt()) {
  const { confirmedAt: seenAt, ...where } = landed(signing);
  return event('PayoutShort', { ...where, arrived: digits(arrived), seenAt });
}
export const unsettled = (signing: SignedAttempt = attempt(), block: number | string = 200) =>
  event('PayoutOrphaned', { attempt: signing.attempt, hash: signing.hash, blockHash: hashOf('block', block) });

export const held = () => event('PayoutHeld', { reason: 'paid by hand', heldAt: minute(10) });
export const retried = () => event('PayoutRetried', { reason: 'it was not', retriedAt: minute(11) });

export const expired = (chainTime: Instant = minute(61), at: Instant = minute(62)) =>
  event('PaymentExpired', { chainTime, expiredAt: at });
export const bounced = (code: BounceCode, received: string, at: Instant = minute(62), asset?: Asset) =>
  event('PaymentBounced', { code, received: digits(received, asset), bouncedAt: at });
/** For money of another source than the payment's created one. */
export const bouncedOther = (code: BounceCode, received: string, asset: Asset, at: Instant = minute(62)) =>
  event('PaymentBounced', {
    code,
    received: digits(received, asset),
    asset: { chainId: asset.chain.id, token: asset.token },
    bouncedAt: at,
  });

/** Another deposit of the payment's, for a family of chains that it was not created on. */
export const depositOn = (family: ChainFamily): Deposit => ({ ...terms().deposit, address: `deposit on ${family}` });

export const chose = (from: Asset, deposit: Deposit = depositOn(from.chain.family), at: Instant = minute(2)) =>
  event('SourceChosen', { chainId: from.chain.id, tokenAddress: from.token.address, deposit, chosenAt: at });

export interface ProofSketch {
  readonly sender?: string;
  readonly transfer?: Transfer;
  readonly by?: 'key' | 'contract';
  readonly number?: number;
}

/** A payer's signed address, as if the signature were checked. */
export function signedAddress(address = customerWallet, sketch: ProofSketch = {}) {
  const { sender = customerWallet, transfer = payin(), by = 'key', number = 1 } = sketch;
  const { paymentId } = terms();
  const chain = chainOf(transfer.chainId).name;
  const text = refundText({ service: 'https://pay.example', paymentId, chain, sender, address, memo: null, number });
  return { sender, transferId: transferId(transfer), by, text, signature: '0x5161' } as const;
}

export const refundAddressSet = (address = customerWallet, sketch: ProofSketch = {}) =>
  event('RefundAddressSet', { address, memo: null, setAt: minute(70), proof: signedAddress(address, sketch) });

/** @param amount sent amount */
export const refundRequested = (amount: string, sketch: RefundSketch = {}) => {
  const { refund = 1, reason = 'bounced', in: asset = baseUsdc, receiver = customerWallet, networkFee = '0' } = sketch;
  return event('RefundRequested', {
    refund,
    reason,
    chainId: asset.chain.id,
    token: asset.token,
    receiverAddress: receiver,
    receiverMemo: null,
    amount: digits(amount, asset),
    networkFee: digits(networkFee, asset),
    requestedAt: minute(71),
    scope: 'all',
    requestedBy: 'operator',
    ...sketch.request,
  });
};

interface RefundSketch {
  readonly refund?: number;
  readonly reason?: PaymentEventData<'RefundRequested'>['reason'];
  readonly in?: Asset;
  readonly receiver?: string;
  readonly networkFee?: string;
  readonly request?: Partial<PaymentEventData<'RefundRequested'>>;
}

/** By the operator, of everything, to the customer. */
export const refundOrder = (order: Partial<RefundOrder> = {}): RefundOrder => ({
  scope: 'all',
  to: { address: customerWallet, memo: null },
  signers: [],
  by: 'operator',
  note: null,
  key: null,
  ...order,
});

/** Sending it costs 0.05 whole tokens. */
export const refundCost = ({ token }: Pick<PlannedRefund, 'token'>): SendingCost => ({
  networkFee: 5n * 10n ** BigInt(token.decimals - 2),
});

/** A signed attempt of a refund to the customer. */
export const refundAttempt = (n: number, amount: string, sketch: AttemptSketch = {}): SignedAttempt =>
  attempt(n, { amount, to: baseUsdc, receiver: customerWallet, ...sketch });
export const refundSigned = (refund: number, signing: SignedAttempt) => event('RefundSigned', { refund, ...signing });
export const refundSettled = (refund: number, signing: SignedAttempt) =>
  event('RefundConfirmed', { refund, ...landed(signing) });

/** Histories of the ordinary payment. */
export const unpaid: readonly PaymentEvent[] = [created()];
export const paid: readonly PaymentEvent[] = [...unpaid, detected(), confirmed(), funded()];
export const ordered: readonly PaymentEvent[] = [...paid, payoutRequested()];
export const sent: readonly PaymentEvent[] = [...ordered, signed()];
export const done: readonly PaymentEvent[] = [...sent, settled()];

/** The payment that a history leaves. */
export function paymentAfter(history: readonly PaymentEvent[]): Payment {
  const state = history.reduce(paymentDecider.evolve, paymentDecider.initial);
  assert.ok(state, 'the history begins with PaymentCreated');
  return state;
}
