/** What a signer of its own remembers: a log in its own event store, which the service cannot write to. Appended before a signature leaves. */
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
import type { Funding } from './orders.ts';

export interface SigningRecord {
  /** What was signed for a transfer, oldest first. */
  signaturesFor(reference: string): Promise<readonly Signature[]>;
  /** Other transfers that were signed from the same money. */
  othersOf(reference: string, funding: Pick<Funding, 'paymentId' | 'asset'>): Promise<readonly string[]>;
  /**
   * Notes all about a signature that is about to leave. Crash anywhere: nothing has left, and the same asked again goes on where it was.
   * @throws SigningRefused when another payment has the money, or an earlier signature could land besides
   */
  note(noted: Noted): Promise<void>;
  /** What counts towards the limits of an hour. */
  spentLately(): Promise<readonly Spent[]>;
}

export interface Noted {
  readonly reference: string;
  /** The payment that pays for it, and by which transfers; none for what moves nothing away. */
  readonly funding: Funding | null;
  /** Null for what moves nothing away: any number of such may land. */
  readonly signature: Signature | null;
  readonly counted: Counted;
  /** Earlier hashes that can never land. */
  readonly proven: ReadonlySet<string>;
  /** Other transfers of the same payment, of which all that was signed can never land. */
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
