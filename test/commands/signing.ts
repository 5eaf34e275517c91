/** A treasury on a chain that only counts nonces, a signer that counts signatures, and payments to pay out. */
import {
  type NumberingAccount,
  PayoutBlocked,
  type PayoutRail,
  type Signer,
  type SigningRefused,
  type TransferOrder,
  type Unsigned,
} from '../../commands/chainPorts.ts';
import { currentState, type Handle } from '../../commands/handle.ts';
import { signPayout } from '../../commands/makePayout.ts';
import type { CrashPoint } from '../../commands/ports.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { type Payment, paymentDecider } from '../../domain/payment/state.ts';
import { treasuryInstance } from '../../domain/treasury.ts';
import { ethereumUsdc, feeCaps, hashOf, ordered, treasuryAccount } from '../support/payments.ts';
import { accepted, processes } from '../support/processes.ts';

export const treasuryStream = `treasury-${treasuryInstance(1, treasuryAccount)}`;
export const first = 'first';

/** What the chain and the signer do, for tests to set. */
export interface Surroundings {
  minedNonce: bigint | null;
  /** Accounts that number transfers, the treasury's own among them; null: the rail knows of no such thing. */
  accounts: readonly NumberingAccount[] | null;
  blocked: PayoutBlocked | null;
  refusing: SigningRefused | null;
  /** Fees differ each time they are asked for, so that no two preparations are alike. */
  feeLevel: number;
  signatures: number;
  /** What the chain has: nonces of cancels, as often as they were sent. */
  cancelled: bigint[];
  /** The same with the account in front. */
  freed: string[];
}

export const blockedByFloat = new PayoutBlocked('float', 'the float is short: add some');

const withoutAmount = { chainId: 1, token: ethereumUsdc.token, receiverMemo: null, amount: 0n } as const;

export async function signingWorld({ store = processes().store, payments = [first] } = {}) {
  const { start, typesIn, clock } = processes({ store });
  const around: Surroundings = {
    minedNonce: 7n,
    accounts: null,
    blocked: null,
    refusing: null,
    feeLevel: 100,
    signatures: 0,
    cancelled: [],
    freed: [],
  };

  const rail = {
    chainId: 1,
    account: treasuryAccount,
    minedNonce: async () => around.minedNonce,
    get numberingAccounts() {
      const { accounts } = around;
      return accounts === null ? undefined : async () => accounts;
    },
    async prepare(order: TransferOrder, nonce: bigint | null, _: unknown, account: string) {
      if (around.blocked) throw around.blocked;
      around.feeLevel += 20;
      return { chainId: 1, account, nonce, order, validUntil: null, fee: feeCaps(around.feeLevel), payload: null };
    },
    numbered: (unsigned: Unsigned, nonce: bigint) => ({ ...unsigned, nonce }),
    async prepareCancel(nonce: bigint, account: string) {
      const order = { ...withoutAmount, receiver: treasuryAccount };
      return { chainId: 1, account, nonce, order, validUntil: null, fee: {}, payload: 'cancel' };
    },
    async broadcast(bytes: string) {
      around.freed.push(bytes);
      around.cancelled.push(BigInt(bytes.split(' ')[1] ?? ''));
    },
  } as Partial<PayoutRail> as PayoutRail;

  const signer: Signer = {
    account: treasuryAccount,
    check() {
      if (around.refusing) throw around.refusing;
    },
    async sign({ account, nonce, order, fee, payload }) {
      if (payload === 'cancel') return { bytes: `${account} ${nonce}`, hash: hashOf('cancel', account, String(nonce)) };
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

  /** One worker's attempt to sign; `known` is what it loaded before, maybe long before. */
  async function sign({ paymentId = first, handle = start(), crash = () => {}, known }: Worker = {}) {
    const payment = known ?? (await loaded(handle, paymentId));
    return await signPayout({ handle, clock, rail, signer, crash }, payment, new AbortController().signal);
  }

  const load = (paymentId = first) => loaded(start(), paymentId);
  return { around, start, sign, load, record, typesIn, store };
}

interface Worker {
  readonly paymentId?: string;
  readonly handle?: Handle;
  readonly crash?: CrashPoint;
  readonly known?: Payment;
}

async function loaded(handle: Handle, paymentId: string): Promise<Payment> {
  const payment = await currentState(handle, paymentDecider, paymentId);
  if (!payment) throw new Error(`no payment ${paymentId}`);
  return payment;
}

const withId = (event: PaymentEvent, paymentId: string): PaymentEvent =>
  event.type === 'PaymentCreated' ? { ...event, data: { ...event.data, paymentId } } : event;
