/** A treasury's day on a local chain, step by step through the real rail, signer and streams, and what its books say of it. */
import assert from 'node:assert/strict';
import type { AccountHistory, AccountTransaction } from '../../commands/accountHistory.ts';
import { type BooksAccount, loadBooks, openBooksOf, recordLookAt } from '../../commands/books.ts';
import {
  isNumbered,
  landedAt,
  type NumberedRail,
  type PayoutRail,
  type Sent,
  type Unsigned,
} from '../../commands/transferPorts.ts';
import type { Decision } from '../../domain/decider.ts';
import type { Transfer } from '../../domain/payment/events.ts';
import { minute_ms, plus } from '../../domain/time.ts';
import type { AssetRef, PurposeKind, SignedAttempt } from '../../domain/transfer/shapes.ts';
import { adoptTransaction } from '../../domain/treasury/adopting.ts';
import { isNothing, openIn } from '../../domain/treasury/booksState.ts';
import type { Purpose } from '../../domain/treasury/events.ts';
import { cancelNonce, nonceOf, openAndAssign, openTreasury, useUpNonce } from '../../domain/treasury/nonces.ts';
import type { OperationEvent } from '../../domain/treasury/operation.ts';
import * as operations from '../../domain/treasury/operation.ts';
import { treasury, treasuryInstance } from '../../domain/treasury/state.ts';
import { see, unmatched } from '../../domain/unmatched.ts';
import { reportsSet, workSet } from '../../projections/sets.ts';
import { movementSums } from '../../queries/treasury.ts';
import type { OpenChain } from '../../src/chains/family.ts';
import { cancelsOf } from '../../src/workers/payouts/fate.ts';
import { booksDeps, recordedMovements } from '../../src/workers/treasury/index.ts';
import { compareBooks } from '../../tools/treasury/books.ts';
import { withdrawal } from './operations.ts';
import { freshDatabase } from './postgres.ts';
import { accepted, processes } from './processes.ts';
import { fill, wholeLog } from './readModels.ts';

const { signal } = new AbortController();

/** A chain in the day's scenario. */
export interface Ground {
  readonly rail: PayoutRail;
  readonly history: AccountHistory;
  readonly token: AssetRef;
  readonly payinAddresses: readonly string[];
  sign(unsigned: Unsigned, kind: PurposeKind): Promise<SignedAttempt>;
  /** An account that can receive a payment. @param holds true if it has an account for the token already, where one is needed */
  receiver(holds: boolean): Promise<string>;
  /** Makes the receiver refuse everything: a transfer signed for it fails on the chain. */
  refuse(receiver: string): Promise<void>;
  /** Sends bytes that no node would accept. */
  force(bytes: string): Promise<void>;
  /** Everything that was sent lands and becomes final. */
  settle(): Promise<void>;
  /** A gift of a stranger. @returns the ingester's transfer, if the treasury itself receives payins */
  give(asset: 'token' | 'coin', units: bigint): Promise<Transfer | undefined>;
  /** Another program uses the treasury's key. */
  byHand(): Promise<void>;
}

/** Numbers of all days: no chain sees one twice. */
const numbers = Array.from({ length: 10_000 }).keys();
const next = (): number => numbers.next().value ?? assert.fail('too many steps');

export type Day = Awaited<ReturnType<typeof beginDay>>;

export async function beginDay(ground: Ground) {
  const { rail, history, token, payinAddresses } = ground;
  const { chainId, account } = rail;
  const of: BooksAccount = { chainId, account, payinAddresses };
  const { store, clock, time, start } = processes();
  const handle = start();
  const database = await freshDatabase();
  const by = { cause: 'operator:ada', appId: null } as const;
  const instance = treasuryInstance(chainId, account);
  const deps = booksDeps({ workHandle: handle, clock, database }, { history } as OpenChain);
  const project = async () => void (await fill(database, store, reportsSet, [await wholeLog(store)]));
  /** The chain's time is separate: only due times depend on this one. */
  const pass = () => {
    time.now = plus(time.now, 2 * 60 * minute_ms);
  };

  const minedNonce = isNumbered(rail) ? await rail.numbering.minedNonce(signal) : 0n;
  const opening = { chainId, account, minedNonce, now: clock.now() };
  await accepted(handle(treasury, instance, (state) => openTreasury(state, opening), by));
  await fill(database, store, workSet, []);
  await project();
  await ground.settle();
  const first = await history.standing(account, signal);
  await accepted(openBooksOf(deps, of, { standing: first, networksClosed: 0 }));

  /** Next nonce, as for a signature. */
  async function number({ numbering }: NumberedRail, purpose: Purpose, units: bigint): Promise<bigint> {
    const minedNonce = await numbering.minedNonce(signal);
    const moves = { token: token.address, amount: units.toString() };
    const at = { chainId, account, purpose, moves, minedNonce, now: clock.now() };
    const { state } = await accepted(handle(treasury, instance, (now) => openAndAssign(now, at), by));
    return nonceOf(state, purpose) ?? assert.fail('it has a nonce');
  }

  async function transfer(units: bigint, { dies = false } = {}): Promise<void> {
    const id = `day-${next()}`;
    const receiver = await ground.receiver(dies);
    const order = withdrawal({ chainId, account, token, receiver, amount: units.toString(), orderedAt: clock.now() });
    await operate(id, (state) => operations.orderOperation(state, order));
    const purpose: Purpose = { kind: 'withdrawal', reference: `operation-${id}`, ordinal: 1 };
    const reference = { reference: `operation-${id}`, referenceOrdinal: 1 };
    const asked = { chainId, token, receiver, receiverMemo: null, amount: units, opensAccount: !dies, ...reference };
    const unsigned = isNumbered(rail)
      ? await rail.numbering.prepare(asked, await number(rail, purpose, units))
      : await rail.numbering.prepare(asked);
    const signed = await ground.sign(unsigned, 'withdrawal');
    await operate(id, (state) => operations.operationLeg.sign(state, 1, signed));
    if (dies) await ground.refuse(receiver);
    if (dies) await ground.force(signed.bytes);
    else await rail.broadcast(signed.bytes);
    await ground.settle();
    const fate = await rail.fate([signed], signal);
    assert.ok(fate.kind === (dies ? 'dead' : 'final'), fate.kind);
    await operate(id, (state) => operations.operationLeg.conclude(state, 1, fate, clock.now()));
  }

  type Step = (state: operations.OperationState) => Decision<OperationEvent>;
  const operate = (id: string, decide: Step) => accepted(handle(operations.operation, id, decide, by));

  async function cancel(): Promise<void> {
    const purpose: Purpose = { kind: 'payout', reference: `cancelled-${next()}`, ordinal: 1 };
    if (!isNumbered(rail)) return;
    const nonce = await number(rail, purpose, 1n);
    const unsigned = await rail.numbering.prepareCancel(nonce);
    const { hash, bytes } = await ground.sign(unsigned, 'cancel');
    const now = clock.now();
    await accepted(
      handle(treasury, instance, (state) => cancelNonce(state, { nonce, hash, bytes, fee: unsigned.fee, now }), by),
    );
    await rail.broadcast(bytes);
    await ground.settle();
    const signed = [{ hash, bytes, fee: { ...unsigned.fee }, signedAt: now }];
    const sent: readonly Sent[] = cancelsOf({ nonce, purpose, signed, usedUp: false }, chainId, account);
    const fate = await rail.fate(sent, signal);
    assert.ok(fate.kind === 'final');
    const used = { nonce, detail: 'a cancel', landed: landedAt(fate), now };
    await accepted(handle(treasury, instance, (state) => useUpNonce(state, used), by));
  }

  async function give(asset: 'token' | 'coin', units: bigint): Promise<void> {
    const transfer = await ground.give(asset, units);
    await ground.settle();
    if (!transfer) return;
    const id = `${transfer.chainId}:${transfer.txHash}:${transfer.index}`;
    await accepted(handle(unmatched, id, (state) => see(state, transfer, clock.now()), by));
  }

  /** Difference of the books at a check; an event records it only after it has lasted. */
  async function look(patienceOver = false) {
    await project();
    pass();
    const [standing, state] = [await history.standing(account, signal), openIn(await loadBooks(deps, of))];
    assert.ok(state);
    assert.equal(await history.finality(standing, signal), 'final');
    const how = { search: true, patienceOver, closingDue: true };
    return recordLookAt(deps, of, { state, standing, ...how }, signal);
  }

  async function byHand(): Promise<void> {
    const before = await history.standing(account, signal);
    await ground.byHand();
    await ground.settle();
    const { rest, open } = await look(true);
    assert.ok(!isNothing(rest) && open, 'money that left by hand keeps the books open');
    const to = (await history.standing(account, signal)).blockNumber;
    const range = { account, from: before.blockNumber + 1n, to, order: 'oldestFirst', max: 10, after: null } as const;
    const { transactions } = await history.transactions(range, signal);
    for (const each of transactions.filter(({ outgoing }) => outgoing)) await adopt(each);
  }

  const adopt = ({ txHash: hash, ...shown }: AccountTransaction) =>
    accepted(
      handle(
        treasury,
        instance,
        (state) => adoptTransaction(state, { hash, ...shown }, { reason: 'sent by hand', now: clock.now() }),
        by,
      ),
    );

  return { transfer, cancel, give, byHand, look, closes };

  /** To the last unit, by the events, by the rows and by the chain. */
  async function closes(): Promise<void> {
    const { rest } = await look();
    assert.deepEqual(rest, {});
    await project();
    const state = openIn(await loadBooks(deps, of));
    assert.ok(state?.closed && state.open === null);
    const compared = await compareBooks(deps, of, async () => new Set(), signal);
    assert.deepEqual(compared?.difference, {});
    const range = { networksClosed: 0, after: state.opened.blockNumber, upTo: compared?.blockNumber ?? 0n };
    const sums: Record<string, bigint> = { ...state.opened.balances };
    for (const { asset, units } of await movementSums(database, recordedMovements(of, range)))
      sums[asset] = (sums[asset] ?? 0n) + units;
    assert.deepEqual(sums, compared?.chain);
  }
}
