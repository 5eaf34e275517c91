/** Payments for one batch, a chain of one account that the spec controls, and processes that die anywhere. */
import assert from 'node:assert/strict';
import { ChainBroken } from '../../../commands/codec.ts';
import { currentState } from '../../../commands/handle.ts';
import {
  type Batching,
  type Fate,
  type NonceNumbering,
  nothingToProve,
  PayoutBlocked,
  type PayoutRail,
  type Sent,
  type Signer,
  type TransferOrder,
  type Unsigned,
} from '../../../commands/transferPorts.ts';
import { type Batch, payoutBatch } from '../../../domain/batch/batch.ts';
import { bounceImpossible } from '../../../domain/payment/close.ts';
import { createPayment } from '../../../domain/payment/create.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { payoutLeg } from '../../../domain/payment/payout.ts';
import { type Payment, paymentDecider } from '../../../domain/payment/state.ts';
import { plus } from '../../../domain/time.ts';
import type { TransferKey } from '../../../domain/transfer/shapes.ts';
import { auditWorker } from '../../../src/workers/payouts/audit.ts';
import { putTogether } from '../../../src/workers/payouts/batches.ts';
import { buryBatch, holdPayout } from '../../../src/workers/payouts/byHand.ts';
import { tendNonces } from '../../../src/workers/payouts/cancels.ts';
import { batchOwner, payoutOwner } from '../../../src/workers/payouts/owners.ts';
import { StepRefused, transfersWorker } from '../../../src/workers/payouts/worker.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import {
  confirmed,
  detected,
  feeCaps,
  funded,
  hashOf,
  minute,
  payin,
  terms,
  treasuryAccount,
} from '../../support/payments.ts';
import { sharedBySigners } from '../../support/payouts.ts';
import { accepted, Crashed, processes } from '../../support/processes.ts';

const [chainId, account] = [1, treasuryAccount] as const;
const contract = '0xFE27c6dbA7e2cc39b1AB2bE72FA20E9aC2bFb2aC';
const { signal } = new AbortController();
const facts = { cause: 'worker:test', appId: null } as const;

export const paymentIdOf = (n: number): string => `0198f3c2-0000-8000-8000-00000000000${n}`;
const receiverOf = (n: number): string => `0x${String(n).repeat(40)}`;

function historyOf(n: number): readonly PaymentEvent[] {
  const sketch = terms();
  const transfer = payin({ tx: `payin ${n}` });
  const destination = { ...sketch.destination, receiverAddress: receiverOf(n) };
  const created = createPayment(null, { ...sketch, paymentId: paymentIdOf(n), destination });
  assert.ok(Array.isArray(created));
  return [...created, detected(transfer), confirmed(transfer), funded([transfer])];
}

interface Sending {
  readonly nonce: bigint;
  readonly hash: string;
  /** Receivers; empty for a cancel. */
  readonly pays: readonly string[];
}

/** One account's transactions: known to all nodes, mined in order, and removed while they succeeded. */
export function fakeChain() {
  const signed = new Map<string, Sending>();
  const pool = new Set<string>();
  const mined: { readonly sending: Sending; readonly succeeded: boolean; readonly block: string }[] = [];
  let blocks = 0;
  let remembered = 0n;
  const next = () => 7n + BigInt(mined.length);
  return {
    signed,
    pool,
    mined,
    next,
    /** Mines the newest transaction under the account's next nonce. @returns whether there was one */
    mine(succeeds: boolean): boolean {
      const sending = [...signed.values()].findLast(({ nonce, hash }) => nonce === next() && pool.has(hash));
      if (!sending) return false;
      blocks += 1;
      mined.push({ sending, succeeded: succeeds || sending.pays.length === 0, block: hashOf('block', blocks) });
      return true;
    },
    /** Removes the newest block. Reverted transactions, and those that used another one's nonce, are too deep to be removed. */
    unmine(): void {
      const last = mined.at(-1);
      const isAlone = [...signed.values()].filter(({ nonce }) => nonce === last?.sending.nonce).length === 1;
      if (last?.succeeded && last.sending.pays.length > 0 && isAlone) mined.pop();
    },
    /** From now on nodes have no record of it. */
    forget(): void {
      remembered = next();
    },
    /** A foreign transaction uses the next nonce. */
    useUp(): void {
      mined.push({
        sending: { nonce: next(), hash: hashOf('other', String(next())), pays: [] },
        succeeded: true,
        block: '',
      });
    },
    paidTo: (receiver: string): number =>
      mined
        .filter(({ succeeded }) => succeeded)
        .flatMap(({ sending }) => sending.pays)
        .filter((to) => to === receiver).length,
    fate(sent: readonly Sent[]): Fate {
      const [{ nonce }] = sent as [Sent];
      if (BigInt(nonce ?? -1) < remembered) return { kind: 'unknown' };
      const used = mined.find(({ sending }) => sending.nonce === BigInt(nonce ?? -1));
      const own = sent.find(({ hash }) => hash === used?.sending.hash);
      const attempts = sent.map(({ attempt }) => attempt);
      if (used && own) {
        const landed = { hash: own.hash, blockNumber: 9n, blockHash: used.block, attempt: own.attempt };
        if (used.succeeded) return { kind: 'final', ...landed };
        return { kind: 'dead', attempts, proof: { reason: 'reverted', detail: `${own.hash} was reverted` } };
      }
      if (used)
        return {
          kind: 'dead',
          attempts,
          proof: { reason: 'nonceUsed', detail: `${used.sending.hash} used nonce ${nonce}` },
        };
      return sent.some(({ hash }) => pool.has(hash)) ? { kind: 'pending', mined: false } : { kind: 'unknown' };
    },
  };
}

/** @param pause runs before and after each read of store and chain: other actors act in it */
export async function batchWorld(count: number, pause: () => Promise<void> = async () => {}) {
  const memory = memoryEventStore();
  /** Streams with events of other writers. */
  const broken = new Set<string>();
  const read: typeof memory.read = async (stream, options) => {
    if (broken.has(stream)) throw new ChainBroken({ stream, revision: 1n, expected: 'one link', found: 'another' });
    return between(() => memory.read(stream, options));
  };
  const append: typeof memory.append = (...asked) => between(() => memory.append(...asked));
  const between = async <T>(work: () => T | Promise<T>): Promise<T> => {
    await pause();
    const answer = await work();
    await pause();
    return answer;
  };
  const { start, clock, time, store, typesIn } = processes({ store: { ...memory, read, append } });
  const chain = fakeChain();
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  const around = {
    refuses: null as number | null,
    crashIn: null as number | null,
    fees: 100,
    passed: [] as string[],
    alarms: [] as string[],
  };
  const crash = (point: string): void => {
    around.passed.push(point);
    if (around.crashIn === null) return;
    around.crashIn -= 1;
    if (around.crashIn >= 0) return;
    around.crashIn = null;
    throw new Crashed(point);
  };

  const transfers = {
    async prepare(order: TransferOrder, nonce: bigint) {
      const to = receiversOf(order);
      if (around.refuses !== null && to.includes(receiverOf(around.refuses)))
        throw new PayoutBlocked('refusedByToken', `${receiverOf(around.refuses)} is refused`);
      around.fees += 20;
      return {
        chainId,
        account,
        nonce,
        order,
        validUntil: null,
        fee: { gas: '100', ...feeCaps(around.fees) },
        payload: to,
      };
    },
    numbered: (unsigned: Unsigned, nonce: bigint) => ({ ...unsigned, nonce }),
    async prepareCancel(nonce: bigint) {
      around.fees += 20;
      const order = { chainId, token: terms().destination.token, receiver: account, receiverMemo: null, amount: 0n };
      return { chainId, account, nonce, order, validUntil: null, fee: feeCaps(around.fees), payload: [] };
    },
  };
  const rail = {
    chainId,
    account,
    numbering: {
      kind: 'nonce',
      minedNonce: () => between(chain.next),
      provenNonce: async () => chain.next(),
      ...transfers,
    },
    async broadcast(bytes: string) {
      await pause();
      await checkRecorded(bytes);
      chain.pool.add(bytes);
    },
    fate: (sent: readonly Sent[]) => between(() => chain.fate(sent)),
    canLand: async ({ nonce }: Sent) => BigInt(nonce ?? 0) >= chain.next(),
    stillFinal: async ({ hash, blockHash }: { hash: string; blockHash: string }) =>
      chain.mined.some(({ sending, block }) => sending.hash === hash && block === blockHash),
  } as Partial<PayoutRail<NonceNumbering>> as PayoutRail<NonceNumbering>;

  const signer: Signer = {
    account,
    check: () => {},
    async sign({ nonce, fee, payload }) {
      await pause();
      const hash = hashOf(String(nonce), fee, payload);
      chain.signed.set(hash, { nonce: nonce ?? 0n, hash, pays: payload as readonly string[] });
      return { bytes: hash, hash };
    },
  };
  const batching: Batching = {
    contract,
    choose: async (_, orders) => ({ together: orders.map(({ paymentId }) => paymentId) }),
  };

  const outside = start();
  for (const n of numbers) await accepted(outside(paymentDecider, paymentIdOf(n), () => [...historyOf(n)], facts));
  time.now = minute(6);

  /** Checks that the own stream of each paid payment contains the transaction before any other process can see it. */
  async function checkRecorded(bytes: string): Promise<void> {
    const pays: readonly string[] = chain.signed.get(bytes)?.pays ?? [];
    for (const n of numbers.filter((each) => pays.includes(receiverOf(each)))) {
      const events = await store.read(`payment-${paymentIdOf(n)}`);
      const isThere = events.some(
        ({ type, data }) => type === 'PayoutSigned' && (data as { hash: string }).hash === bytes,
      );
      assert.ok(isThere, `payment ${n} has ${bytes} before it is sent`);
    }
  }

  /** A process with its own memory. */
  function boot() {
    const handle = start({ crash });
    const ofPayments = { handle, clock, proveFunding: async () => nothingToProve };
    const owners = { payout: payoutOwner(ofPayments), batch: batchOwner(ofPayments) };
    const shared = sharedBySigners(clock);
    const signing = { ...shared, owners, handle, clock, rail, signer };
    const alarm = (_: TransferKey, reason: string): void => {
      around.alarms.push(reason);
    };
    const worker = transfersWorker({ ...signing, poll_ms: 1_000, crash, due: async () => [], alarm });
    const audit = auditWorker({ owners, rail, settledSince: async () => [], alarm });
    return { handle, signing, worker, audit };
  }
  let process = boot();

  /** Does the work, and starts a new process if this one dies. Refused or waiting steps are tried again later. */
  async function surviving(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof Crashed) process = boot();
      else if (!(error instanceof StepRefused)) throw error;
    }
  }

  const batchIds = async (): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (let n = 1; (await currentState(outside, payoutBatch, `${chainId}-${account}-${n}`)) !== null; n += 1)
      ids.push(`${chainId}-${account}-${n}`);
    return ids;
  };
  const keys = async (): Promise<readonly TransferKey[]> => [
    ...numbers.map((n) => ({ kind: 'payout', id: paymentIdOf(n), part: 1 }) as const),
    ...(await batchIds()).map((id) => ({ kind: 'batch', id, part: 1 }) as const),
  ];
  const act = (key: TransferKey) => surviving(() => process.worker.act({ key, appId: null }, signal));

  return {
    /** One more concurrent process. */
    instance() {
      const own = boot();
      return {
        open: () => putTogether({ ...own, clock, crash, rail, batching }, numbers.map(paymentIdOf), signal),
        act: (key: TransferKey) => own.worker.act({ key, appId: null }, signal),
        audit: (key: TransferKey) => own.audit.act({ key }, signal),
        tend: () => tendNonces({ ...own.signing, failed: () => {} }, signal),
      };
    },
    bounce: (n: number) =>
      outside(paymentDecider, paymentIdOf(n), (p) => bounceImpossible(p, 'by hand', clock.now()), facts),
    numbers,
    chain,
    around,
    typesIn,
    batchIds,
    open: (ns: readonly number[] = numbers) =>
      surviving(() => putTogether({ ...process, clock, crash, rail, batching }, ns.map(paymentIdOf), signal)),
    act,
    keys,
    async actAll() {
      for (const key of await keys()) await act(key);
    },
    async audit() {
      for (const key of await keys()) await surviving(() => process.audit.act({ key }, signal));
    },
    tend: () => surviving(() => tendNonces({ ...process.signing, failed: () => {} }, signal)),
    hold: (n: number) =>
      holdPayout({ handle: outside, clock }, { paymentId: paymentIdOf(n), reason: 'by hand' }, { cause: facts.cause }),
    /** Acts in a separate process, which dies where `around` says. */
    bury: async () => {
      const [id = ''] = await batchIds();
      const deps = { handle: start({ crash }), clock, rail };
      return buryBatch(deps, { id, reason: 'no explorer has it' }, { cause: facts.cause }, signal);
    },
    surviving,
    letGo: (n: number) =>
      outside(paymentDecider, paymentIdOf(n), (p) => payoutLeg.retry(p, 1, 'by hand', clock.now()), facts),
    /** Writes foreign events to its stream; processes that start later see them. */
    breakStream(n: number) {
      broken.add(`payment-${paymentIdOf(n)}`);
      process = boot();
    },
    pass(duration_ms: number) {
      time.now = plus(time.now, duration_ms);
    },
    restart() {
      process = boot();
    },
    async payment(n: number): Promise<Payment> {
      const found = await currentState(outside, paymentDecider, paymentIdOf(n));
      assert.ok(found);
      return found;
    },
    async batch(n = 1): Promise<Batch> {
      const found = await currentState(outside, payoutBatch, `${chainId}-${account}-${n}`);
      assert.ok(found);
      return found;
    },
    paid: (n: number): number => chain.paidTo(receiverOf(n)),
  };
}

export type BatchWorld = Awaited<ReturnType<typeof batchWorld>>;

const receiversOf = ({ form, receiver }: TransferOrder): readonly string[] =>
  form?.kind === 'payMany' ? form.payments.map((each) => each.receiver) : [receiver];
