/**
 * Record of a separate signer: a log in its own event store, which the service cannot write to. Appended before a signature is returned.
 */
import type { Handle } from '../../commands/handle.ts';
import { currentState } from '../../commands/handle.ts';
import type { Clock } from '../../commands/ports.ts';
import { SigningRefused } from '../../commands/transferPorts.ts';
import { type Decision, type DomainEvent, isRefusal } from '../../domain/decider.ts';
import { fundingUse, moneyUse, otherUses, useFunding, useMoney } from '../../domain/signing/moneyUse.ts';
import { noteSignature, type Signature, signature } from '../../domain/signing/signature.ts';
import {
  type Counted,
  countSpending,
  lastHour,
  signingHour,
  signingMinuteOf,
} from '../../domain/signing/signingHour.ts';
import { epochMs } from '../../domain/time.ts';
import type { Spent } from '../chains/money/spending.ts';
import type { ProvenFunding } from './orders.ts';

export interface SigningRecord {
  /** Signatures for a transfer, oldest first. */
  signaturesFor(reference: string): Promise<readonly Signature[]>;
  /** Other transfers signed from the same money. */
  othersOf(reference: string, funding: Pick<ProvenFunding, 'paymentId' | 'asset'>): Promise<readonly string[]>;
  /**
   * Records a signature before it is returned. Crash anywhere: nothing was returned, and a repeated request continues.
   * @throws SigningRefused if another payment has the money, or an earlier signature could land in addition
   */
  note(noted: SignatureRecord): Promise<void>;
  /** Amounts that count towards the hourly limits. */
  spentLately(): Promise<readonly Spent[]>;
}

export interface SignatureRecord {
  readonly reference: string;
  /** Payment and incoming transfers that fund it; none for a transfer that moves no money out. */
  readonly funding: ProvenFunding | null;
  /** Null for a transfer that moves no money out: any number of such may land. */
  readonly signature: Signature | null;
  readonly counted: Counted;
  /** Earlier hashes that can never land. */
  readonly proven: ReadonlySet<string>;
  /** Other transfers of the same payment whose signatures can never land. */
  readonly deadBesides: ReadonlySet<string>;
}

/** @param handle decides in the signer's own store */
export function createSigningRecord(handle: Handle, clock: Pick<Clock, 'now'>): SigningRecord {
  const facts = { cause: 'worker:signer', appId: null } as const;

  async function append<S, E extends DomainEvent>(
    decider: Parameters<typeof handle<S, E>>[0],
    instance: string,
    decide: (state: S) => Decision<E>,
  ): Promise<void> {
    const outcome = await handle(decider, instance, decide, facts);
    if (isRefusal(outcome)) throw new SigningRefused('signedBefore', outcome.message);
  }

  return {
    signaturesFor: (reference) => currentState(handle, signature, reference),

    async othersOf(reference, { paymentId, asset }) {
      const uses = await currentState(handle, moneyUse, paymentId);
      return otherUses(uses, { reference, asset }).map((use) => use.reference);
    },

    async note({ reference, funding, signature: next, counted, proven, deadBesides }) {
      const now = clock.now();
      if (funding) {
        const { paymentId, asset, amount } = funding;
        for (const { transferId } of funding.came)
          await append(fundingUse, transferId, (used) => useFunding(used, paymentId, now));
        const came = funding.came.map((each) => ({ ...each, amount: each.amount.toString() }));
        const use = { reference, asset, amount: amount.toString(), came, usedAt: now };
        await append(moneyUse, paymentId, (state) => useMoney(state, use, deadBesides));
      }
      await append(signingHour, signingMinuteOf(counted.at), (state) => countSpending(state, counted));
      if (next) await append(signature, reference, (state) => noteSignature(state, next, proven));
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
