/**
 * Checks of a separate signer before each signature. It trusts no caller: it reads orders from the log, money from the chain, and earlier
 * signatures from its own record.
 */

import { currentState, type Handle } from '../../commands/handle.ts';
import type { Clock } from '../../commands/ports.ts';
import {
  type PayoutRail,
  type Sent,
  type Signed,
  type Signer,
  SigningRefused,
  type Unsigned,
} from '../../commands/transferPorts.ts';
import { type ChainFamily, type ChainId, chainOf } from '../../domain/chains.ts';
import { type Decision, type DomainEvent, isRefusal } from '../../domain/decider.ts';
import { fundingUse, moneyUse, otherUses, useFunding, useMoney } from '../../domain/signing/moneyUse.ts';
import {
  besides,
  type Counted,
  countSpending,
  lastHour,
  noteSignature,
  type Signature,
  signature,
  signingHour,
  signingMinuteOf,
} from '../../domain/signing/signature.ts';
import { epochMs, type Instant } from '../../domain/time.ts';
import { keyOf } from '../../domain/transfer/shapes.ts';
import { type Spent, spenderOf } from '../chains/money/spending.ts';
import { serializeByKey } from '../lib/concurrency.ts';
import type { Orders, ProvenFunding } from './orders.ts';
import type { SigningRequest } from './protocol.ts';

export interface NotaryDeps {
  readonly signers: ReadonlyMap<ChainFamily, Signer>;
  readonly rails: ReadonlyMap<ChainId, Pick<PayoutRail, 'fate'>>;
  /** Orders in the service's log. */
  readonly orders: Orders;
  readonly record: SigningRecord;
  /** Amounts that the signers' limits counted for a purpose at the last signature. */
  readonly spent: (unsigned: Unsigned, reference: string) => Spent | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

export interface Notary {
  /** @throws SigningRefused, PayoutBlocked, Unavailable */
  check(asked: SigningRequest, signal: AbortSignal): Promise<void>;
  sign(asked: SigningRequest, signal: AbortSignal): Promise<Signed>;
}

/** Maximum earlier signatures searched on the chain; a transfer with more waits for an operator. */
const earlierMax = 100;

/** A key only uses its input, and nothing that could be unavailable, so any error means a bad request. */
async function readable<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SigningRefused) throw error;
    throw new SigningRefused('mismatch', 'the transaction is none that this key can read', { cause: error });
  }
}

export function createNotary({ signers, rails, orders, record, spent, clock }: NotaryDeps): Notary {
  const turn = serializeByKey();

  function signerFor({ chainId }: Unsigned): Signer {
    const signer = signers.get(chainOf(chainId).family);
    if (signer) return signer;
    throw new SigningRefused('chain', `this signer holds no key for ${chainOf(chainId).name}`);
  }

  /** One signature per payment at a time: between the check of earlier signatures and the record, nobody else signs its money. */
  async function sign(asked: SigningRequest, signal: AbortSignal): Promise<Signed> {
    const { unsigned, purpose } = asked;
    const signer = signerFor(unsigned);
    const ordered = await orders.of(asked, 'sign');
    await readable(() => signer.check(unsigned, purpose));
    const stillThere = await ordered.prove(signal);
    const proven = ordered.movesAway ? await provenDead(asked, signal) : new Set<string>();
    const deadBesides = await endedBesides(purpose.reference, ordered.funding, signal);
    await stillThere();
    const signed = await readable(() => signer.sign(unsigned, purpose));
    const counted = spent(unsigned, purpose.reference);
    await record.note({
      reference: purpose.reference,
      funding: ordered.funding,
      signature: ordered.movesAway ? signatureOf(unsigned, signed, clock.now()) : null,
      counted: {
        hash: signed.hash,
        chainId: unsigned.chainId,
        reference: purpose.reference,
        appId: spenderOf(purpose.kind, purpose.appId ?? null),
        amount_microUsd: (counted?.amount ?? 0n).toString(),
        coin: (counted?.coin ?? 0n).toString(),
        at: clock.now(),
      },
      proven,
      deadBesides,
    });
    return signed;
  }

  /** Earlier signatures that could land in addition and that this signer's own nodes prove dead. */
  async function provenDead({ unsigned, purpose }: SigningRequest, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const earlier = await record.signaturesFor(purpose.reference);
    const others = besides(earlier, signatureOf(unsigned, { hash: '', bytes: '' }, clock.now()));
    if (others.length > earlierMax)
      throw new SigningRefused(
        'signedBefore',
        `${others.length} signatures were made for ${purpose.reference}: an operator must look`,
      );
    const dead = new Set<string>();
    for (const [index, known] of others.entries()) {
      const fate = await rails.get(known.chainId)?.fate([sentOf(known, index + 1)], signal);
      if (fate?.kind === 'dead') dead.add(known.hash);
      else if (fate?.kind === 'final' || fate?.kind === 'short')
        throw new SigningRefused(
          'signedBefore',
          `${known.hash} has landed for ${purpose.reference}: it is paid, whatever the log says`,
        );
    }
    return dead;
  }

  /** Other transfers signed from the same money that its own nodes prove dead. */
  async function endedBesides(reference: string, funding: ProvenFunding | null, signal: AbortSignal) {
    const ended = new Set<string>();
    for (const other of funding ? await record.othersOf(reference, funding) : []) {
      const known = await record.signaturesFor(other);
      const fates = known.map((each) => rails.get(each.chainId)?.fate([sentOf(each, 1)], signal));
      if ((await Promise.all(fates)).every((fate) => fate?.kind === 'dead')) ended.add(other);
    }
    return ended;
  }

  return {
    async check({ unsigned, purpose }, signal) {
      const ordered = await orders.of({ unsigned, purpose }, 'check');
      await readable(() => signerFor(unsigned).check(unsigned, purpose));
      await ordered.prove(signal);
      const { reference } = purpose;
      const deadBesides = await endedBesides(reference, ordered.funding, signal);
      await record.checkMoney({ reference, funding: ordered.funding, deadBesides });
    },
    sign: (asked, signal) => turn(keyOf(asked.purpose.reference).id, () => sign(asked, signal)),
  };
}

const signatureOf = (
  { chainId, account, nonce, order, validUntil }: Unsigned,
  { hash, bytes }: Signed,
  signedAt: Instant,
): Signature => ({
  chainId,
  account,
  nonce: nonce === null ? null : nonce.toString(),
  hash,
  bytes,
  validUntil,
  token: order.token,
  receiver: order.receiver,
  receiverMemo: order.receiverMemo,
  amount: order.amount.toString(),
  signedAt,
});

const sentOf = (known: Signature, attempt: number): Sent => ({ ...known, attempt });

// Record of a separate signer: a log in its own event store, which the service cannot write to. Appended before a
// signature is returned.

interface SigningRecord {
  /** Signatures for a transfer, oldest first. */
  signaturesFor(reference: string): Promise<readonly Signature[]>;
  /** Other transfers signed from the same money. */
  othersOf(reference: string, funding: Pick<ProvenFunding, 'paymentId' | 'asset'>): Promise<readonly string[]>;
  /**
   * Records a signature before it is returned. Crash anywhere: nothing was returned, and a repeated request continues.
   * @throws SigningRefused if another payment has the money, or an earlier signature could land in addition
   */
  note(noted: SignatureRecord): Promise<void>;
  /**
   * Decides like `note` whether the money is free, and records nothing. A refusal after the transfer has a nonce would leave that nonce
   * unused, and the signatures that the money waits for could need it.
   * @throws SigningRefused
   */
  checkMoney(taken: TakenMoney): Promise<void>;
  /** Amounts that count towards the hourly limits. */
  spentLately(): Promise<readonly Spent[]>;
}

/** Money that a transfer takes from a payment. */
interface TakenMoney {
  readonly reference: string;
  /** Payment and incoming transfers that fund it; none for a transfer that moves no money out. */
  readonly funding: ProvenFunding | null;
  /** Other transfers of the same payment whose signatures can never land. */
  readonly deadBesides: ReadonlySet<string>;
}

export interface SignatureRecord extends TakenMoney {
  /** Null for a transfer that moves no money out: any number of such may land. */
  readonly signature: Signature | null;
  readonly counted: Counted;
  /** Earlier hashes that can never land. */
  readonly proven: ReadonlySet<string>;
}

/** @throws SigningRefused for a refusal */
function accepted(outcome: object): void {
  if (isRefusal(outcome)) throw new SigningRefused('signedBefore', outcome.message);
}

/** @param handle decides in the signer's own store */
export function createSigningRecord(handle: Handle, clock: Pick<Clock, 'now'>): SigningRecord {
  const facts = { cause: 'worker:signer', appId: null } as const;

  async function append<S, E extends DomainEvent>(
    decider: Parameters<typeof handle<S, E>>[0],
    instance: string,
    decide: (state: S) => Decision<E>,
  ): Promise<void> {
    accepted(await handle(decider, instance, decide, facts));
  }

  /** Uses of the transfers that came in and of their sum, in the order in which they are recorded. */
  function usesOf({ reference, funding, deadBesides }: TakenMoney) {
    if (!funding) return null;
    const usedAt = clock.now();
    const { paymentId, asset, amount } = funding;
    const came = funding.came.map((each) => ({ ...each, amount: each.amount.toString() }));
    const use = { reference, asset, amount: amount.toString(), came, usedAt };
    return {
      paymentId,
      transferIds: came.map(({ transferId }) => transferId),
      funding: (used: Parameters<typeof useFunding>[0]) => useFunding(used, paymentId, usedAt),
      money: (state: Parameters<typeof useMoney>[0]) => useMoney(state, use, deadBesides),
    };
  }

  return {
    signaturesFor: (reference) => currentState(handle, signature, reference),

    async othersOf(reference, { paymentId, asset }) {
      const uses = await currentState(handle, moneyUse, paymentId);
      return otherUses(uses, { reference, asset }).map((use) => use.reference);
    },

    async checkMoney(taken) {
      const uses = usesOf(taken);
      if (!uses) return;
      for (const transferId of uses.transferIds)
        accepted(uses.funding(await currentState(handle, fundingUse, transferId)));
      accepted(uses.money(await currentState(handle, moneyUse, uses.paymentId)));
    },

    async note({ signature: next, counted, proven, ...taken }) {
      const uses = usesOf(taken);
      if (uses) {
        for (const transferId of uses.transferIds) await append(fundingUse, transferId, uses.funding);
        await append(moneyUse, uses.paymentId, uses.money);
      }
      await append(signingHour, signingMinuteOf(counted.at), (state) => countSpending(state, counted));
      if (next) await append(signature, taken.reference, (state) => noteSignature(state, next, proven));
    },

    async spentLately() {
      const parts = await Promise.all(lastHour(clock.now()).map((part) => currentState(handle, signingHour, part)));
      return parts.flat().map(({ chainId, reference, appId, amount_microUsd, coin, at }) => ({
        chainId,
        reference,
        appId,
        amount: BigInt(amount_microUsd),
        coin: BigInt(coin),
        at_ms: epochMs(at),
      }));
    },
  };
}
