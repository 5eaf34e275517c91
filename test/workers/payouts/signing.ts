/** A treasury on a chain that only counts nonces, a signer that counts signatures, and payments to pay out. */

import { currentState, type Handle } from '../../../commands/handle.ts';
import type { CrashPoint, EventStore } from '../../../commands/ports.ts';
import {
  type Fate,
  type NumberingAccount,
  nothingToProve,
  type Outgoing,
  PayoutBlocked,
  type PayoutRail,
  type Sent,
  type Signer,
  type SigningRefused,
  type TransferOrder,
  type TransferOwner,
} from '../../../commands/transferPorts.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { type Payment, paymentDecider } from '../../../domain/payment/state.ts';
import { plus } from '../../../domain/time.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import type { Purpose } from '../../../domain/treasury/events.ts';
import { treasuryInstance } from '../../../domain/treasury/state.ts';
import { checkFloat } from '../../../src/chains/money/spending.ts';
import { tendNonces } from '../../../src/workers/payouts/cancels.ts';
import { numberingMemory } from '../../../src/workers/payouts/numberingAccounts.ts';
import { payoutOwner } from '../../../src/workers/payouts/owners.ts';
import { signTransfer } from '../../../src/workers/payouts/sign.ts';
import { ethereumUsdc, feeCaps, hashOf, minute, ordered, treasuryAccount } from '../../support/payments.ts';
import { fakeNumbering } from '../../support/payouts.ts';
import { accepted, processes } from '../../support/processes.ts';

export const treasuryStream = `treasury-${treasuryInstance(1, treasuryAccount)}`;
export const first = 'first';
export const look_ms = 1_000;

/** Behaviour of the chain and the signer, set by tests. */
export interface Surroundings {
  minedNonce: bigint | null;
  /** Nonce that enough nodes agree on. Default: the same as `minedNonce`. */
  provenNonce?: bigint | null;
  /** Accounts that number transfers, including the treasury's own; null: the rail has no such accounts. */
  accounts: readonly NumberingAccount[] | null;
  /** The USDC balance, in smallest units. */
  float: bigint;
  blocked: PayoutBlocked | null;
  /** Reason that blocks a cancel. */
  cancelBlocked: PayoutBlocked | null;
  refusing: SigningRefused | null;
  /** Reason right before the signature: the money has left. */
  left: PayoutBlocked | null;
  /** Fees differ at each query, so that no two preparations are equal. */
  feeLevel: number;
  signatures: number;
  /** Orders that the rail prepared. */
  orders: TransferOrder[];
  /** The chain's cancels: their nonces, once per sending. */
  cancelled: bigint[];
  /** The cancels with the account in front. */
  freed: string[];
  /** Sum of the payouts in flight, on a chain without nonces. */
  unsettled: bigint;
  /** True if sent cancels are lost. */
  dropsCancels: boolean;
  /** Called before a node returns the next nonce. */
  atNode: () => void;
  /** Awaited before the chain returns its balance. */
  atChain: () => Promise<void> | void;
  /** Queue of concurrent transfers. Default: none, as for workers of separate processes. */
  inTurn?: <T>(work: () => Promise<T>) => Promise<T>;
  /** Called for each recorded attempt. */
  recorded?: () => void;
  /** Number of checks whether the money is still there. */
  shown: number;
  /** True if the nonce of the sent transaction is free. */
  canLand: boolean;
  /** The chain's answer about transactions that share a nonce. */
  fate: (sent: readonly Sent[]) => Fate | Promise<Fate>;
}

/** The assigned nonces with their purposes. */
export const assignments = async ({ store }: { readonly store: EventStore }) =>
  (await store.read(treasuryStream))
    .filter(({ type }) => type === 'NonceAssigned')
    .map(({ data }) => data as { nonce: string; purpose: Purpose })
    .map(({ nonce, purpose }) => `${nonce} ${purpose.kind} ${purpose.reference} ${purpose.ordinal}`);

export const blockedByFloat = new PayoutBlocked('float', 'the float is short: add some');

const withoutAmount = { chainId: 1, token: ethereumUsdc.token, receiverMemo: null, amount: 0n } as const;

export async function signingWorld({ store = processes().store, payments = [first] } = {}) {
  const { start, typesIn, clock, time } = processes({ store, now: minute(1) });
  const memory = numberingMemory();
  const around: Surroundings = {
    minedNonce: 7n,
    accounts: null,
    float: 10n ** 15n,
    blocked: null,
    cancelBlocked: null,
    refusing: null,
    left: null,
    feeLevel: 100,
    signatures: 0,
    orders: [],
    cancelled: [],
    freed: [],
    unsettled: 0n,
    dropsCancels: false,
    atNode: () => {},
    atChain: () => {},
    shown: 0,
    canLand: true,
    fate: () => ({ kind: 'unknown' }),
  };

  const transfers = {
    async prepare(order: TransferOrder, nonce: bigint | null, _?: SignedAttempt, account = treasuryAccount) {
      around.orders.push(order);
      const { float } = around;
      await around.atChain();
      if (around.blocked) throw around.blocked;
      checkFloat(float, account, order);
      around.feeLevel += 20;
      return {
        chainId: 1 as const,
        account,
        nonce,
        order,
        validUntil: null,
        fee: feeCaps(around.feeLevel),
        payload: null,
      };
    },
    async prepareCancel(nonce: bigint, account = treasuryAccount, outbid?: Pick<SignedAttempt, 'fee'>) {
      if (around.cancelBlocked) throw around.cancelBlocked;
      const order = { ...withoutAmount, receiver: treasuryAccount };
      const fee = feeCaps(outbid ? Number(outbid.fee['maxFeePerGas']) * 2 : 100);
      return { chainId: 1 as const, account, nonce, order, validUntil: null, fee, payload: 'cancel' };
    },
  };

  const rail = {
    chainId: 1,
    account: treasuryAccount,
    get numbering() {
      const { accounts } = around;
      const minedNonce = () => {
        around.atNode();
        return around.minedNonce;
      };
      const provenNonce = () => (around.provenNonce === undefined ? around.minedNonce : around.provenNonce);
      return fakeNumbering({ minedNonce, provenNonce, accounts }, transfers);
    },
    fate: async (sent: readonly Sent[]) => around.fate(sent),
    canLand: async () => around.canLand,
    async broadcast(bytes: string) {
      if (around.dropsCancels) return;
      around.freed.push(bytes.split(' ').slice(0, 2).join(' '));
      around.cancelled.push(BigInt(bytes.split(' ')[1] ?? ''));
    },
  } as Partial<PayoutRail> as PayoutRail;

  const signer: Signer = {
    account: treasuryAccount,
    check() {
      if (around.refusing) throw around.refusing;
    },
    async sign({ account, nonce, order, fee, payload }) {
      if (payload === 'cancel')
        return {
          bytes: `${account} ${nonce} ${fee['maxFeePerGas']}`,
          hash: hashOf('cancel', account, String(nonce), fee),
        };
      around.signatures += 1;
      return { bytes: '0x02', hash: hashOf(account, String(nonce), order.receiver, String(order.amount), fee) };
    },
  };

  const record = (paymentId: string, events: readonly PaymentEvent[]) =>
    accepted(start()(paymentDecider, paymentId, () => events, { cause: 'worker:test', appId: null }));
  for (const paymentId of payments)
    await record(
      paymentId,
      ordered.map((event) => withId(event, paymentId)),
    );

  const ownerOf = (handle: Handle) => payoutOwner({ handle, clock, proveFunding: async () => nothingToProve });
  const owners = () => ({ payout: ownerOf(start()) });
  const outgoing = (paymentId = first) => outgoingOf(ownerOf(start()), paymentId);

  const inTurn = <T>(work: () => Promise<T>) => around.inTurn?.(work) ?? work();

  /** One worker's attempt to sign; `known` is the state that it loaded earlier, possibly long before. */
  async function sign({ paymentId = first, handle = start(), crash = () => {}, known }: Worker = {}) {
    const owner = ownerOf(handle);
    const outgoing = known ?? (await outgoingOf(owner, paymentId));
    const stillFunded = async () => {
      around.shown += 1;
      if (around.left) throw around.left;
    };
    const unsettled = async () => around.unsettled;
    const deps = {
      handle,
      clock,
      rail,
      signer,
      crash,
      memory,
      unsettled,
      stillFunded,
      inTurn,
      look_ms,
      recorded: () => around.recorded?.(),
    };
    return await signTransfer(deps, owner, outgoing, new AbortController().signal);
  }

  /** One round over the outstanding nonces. @returns the nonces that need an operator */
  async function tend({ handle = start() }: Pick<Worker, 'handle'> = {}) {
    const failed = (_: unknown, error: unknown) => {
      throw error;
    };
    const trouble = await tendNonces(
      { handle, clock, rail, signer, memory, inTurn, failed, owners: { payout: ownerOf(handle) } },
      new AbortController().signal,
    );
    return trouble.map(({ account, nonce, reason }) => `${reason} ${account} ${nonce}`);
  }

  const pass = (duration_ms: number) => {
    time.now = plus(time.now, duration_ms);
  };

  const load = (paymentId = first) => loaded(start(), paymentId);
  return {
    around,
    start,
    sign,
    tend,
    pass,
    clock,
    memory,
    rail,
    signer,
    owners,
    outgoing,
    load,
    record,
    typesIn,
    store,
  };
}

interface Worker {
  readonly paymentId?: string;
  readonly handle?: Handle;
  readonly crash?: CrashPoint;
  readonly known?: Outgoing;
}

async function outgoingOf(owner: TransferOwner, id: string): Promise<Outgoing> {
  const outgoing = await owner.load({ kind: 'payout', id, part: 1 });
  if (!outgoing) throw new Error(`payment ${id} owes nothing`);
  return outgoing;
}

async function loaded(handle: Handle, paymentId: string): Promise<Payment> {
  const payment = await currentState(handle, paymentDecider, paymentId);
  if (!payment) throw new Error(`no payment ${paymentId}`);
  return payment;
}

const withId = (event: PaymentEvent, paymentId: string): PaymentEvent =>
  event.type === 'PaymentCreated' ? { ...event, data: { ...event.data, paymentId } } : event;
