/**
 * A transfer's stream is read before anything is done for it. To know it as this process last did is enough where nothing is done: what has
 * just been seen to owe nothing stays in the list until the read models know of it, and many wait for the same account. And what was just
 * ordered is as it was appended.
 */

import { loadFrom, type Outgoing, type TransferOwners } from '../../../commands/outgoing.ts';
import type { Clock } from '../../../commands/ports.ts';
import { epochMs } from '../../../domain/time.ts';
import { referenceOf, type TransferKey } from '../../../domain/transfer/key.ts';
import { boundedTimes } from '../../lib/boundedMap.ts';

/** After so long somebody else's word is heard. */
const heardAfter_ms = 2_000;

export interface LoadingDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly owners: TransferOwners;
}

export interface Loading {
  /** As an action on it begins. Undefined where nothing is to be done. @param mustWait whether it is left alone as it was last known */
  first(key: TransferKey, mustWait: (known: Outgoing) => boolean): Promise<Outgoing | undefined>;
  /** After a step was taken. */
  next(key: TransferKey, taken: Pick<Outgoing, 'step'>): Promise<Outgoing | undefined>;
}

export function createLoading({ clock, owners }: LoadingDeps): Loading {
  const readAt = boundedTimes();
  const asKnown = (key: TransferKey) => loadFrom(owners, key, { asKnown: true });

  function read(key: TransferKey): Promise<Outgoing | undefined> {
    readAt.set(referenceOf(key), epochMs(clock.now()));
    return loadFrom(owners, key);
  }

  return {
    async first(key, mustWait) {
      const age_ms = epochMs(clock.now()) - (readAt.get(referenceOf(key)) ?? Number.NEGATIVE_INFINITY);
      if (age_ms >= heardAfter_ms) return read(key);
      const known = await asKnown(key);
      return known === undefined || isIdle(known) || mustWait(known) ? undefined : read(key);
    },
    async next(key, { step }) {
      const known = await asKnown(key);
      return known === undefined || isIdle(known) || step.do === 'order' ? known : read(key);
    },
  };
}

const isIdle = ({ step }: Outgoing): boolean => step.do === 'done' || step.do === 'hold';
