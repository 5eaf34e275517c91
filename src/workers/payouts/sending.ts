/** Recorded bytes are sent until their fate is known, now and then, and it is remembered how long every node refuses them. */

import type { Outgoing } from '../../../commands/outgoing.ts';
import type { Clock, CrashPoint } from '../../../commands/ports.ts';
import { BroadcastRefused, type PayoutRail } from '../../../commands/transferPorts.ts';
import { epochMs } from '../../../domain/time.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { boundedTimes } from '../../lib/boundedMap.ts';
import { stuckAfter_ms } from './fate.ts';

export interface SendingDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly crash: CrashPoint;
  readonly rail: Pick<PayoutRail, 'broadcast' | 'refusalKind'>;
  /** Told each time that every node that answers refuses bytes. @param kind what they mean, in one word */
  readonly refused?: (kind: string, detail: string) => void;
}

/** Bytes that the chain does not show are sent again so often. */
export const rebroadcast_ms = 4_000;

export function createSending({ clock, crash, rail, refused }: SendingDeps) {
  const sentAt = boundedTimes();
  /** Since when every node that answers refuses what a transfer sends. */
  const refusedSince = boundedTimes();
  const now_ms = () => epochMs(clock.now());

  return {
    /** Whether this process has sent it. */
    hasSent: ({ hash }: SignedAttempt): boolean => sentAt.get(hash) !== undefined,

    isRefusedForLong: ({ purpose }: Outgoing): boolean =>
      now_ms() - (refusedSince.get(purpose.reference) ?? Number.POSITIVE_INFINITY) >= stuckAfter_ms,

    /** Sends the latest attempt alone: it has outbid the others, and a node's refusal of those must not stop it. @throws BroadcastRefused, ChainUnavailable */
    async send({ purpose: { kind, reference } }: Outgoing, { hash, bytes }: SignedAttempt): Promise<void> {
      if (now_ms() - (sentAt.get(hash) ?? 0) < rebroadcast_ms) return;
      sentAt.set(hash, now_ms());
      await crash(`${kind}.beforeBroadcast`);
      await rail.broadcast(bytes).catch((error) => {
        // Nodes that do not answer refuse nothing.
        if (error instanceof BroadcastRefused) noteRefused(reference, error);
        else refusedSince.delete(reference);
        throw error;
      });
      refusedSince.delete(reference);
      await crash(`${kind}.afterBroadcast`);
    },
  };

  function noteRefused(reference: string, { refusals }: BroadcastRefused): void {
    if (refusedSince.get(reference) === undefined) refusedSince.set(reference, now_ms());
    for (const detail of refusals) refused?.(rail.refusalKind?.(detail) ?? 'other', detail);
  }
}
