/** Which of the things that nodes push are a reason to look at their chain at once. Nothing but that follows from them. */
import { Observable, share } from 'rxjs';
import type { Clock } from '../../commands/ports.ts';
import { epochMs } from '../../domain/time.ts';
import type { Push } from '../chains/family.ts';

export interface PushedDeps {
  readonly pushes: Observable<Push>;
  readonly clock: Clock;
  /** Between blocks, as far as is known. */
  readonly block_ms: number;
  /** Whether one of the accounts belongs to a payment. */
  readonly isOurs: (accounts: readonly string[]) => Promise<boolean>;
}

export interface Pushed {
  /** Connections are held while it is subscribed to. */
  readonly wakes: Observable<void>;
  /** Whether anything was pushed of late: then polls may be far between. */
  isLive(): boolean;
}

/** Of a chain with blocks closer than this, only transfers to us are a reason: each block would cost as many calls as polling. */
const headsFrom_ms = 1_500;
const gather_ms = 75;
const accountsMax = 2_000;
const quietMin_ms = 5_000;
const quiet_blocks = 3;

export function createPushed({ pushes, clock, block_ms, isOurs }: PushedDeps): Pushed {
  const quietMax_ms = Math.max(quietMin_ms, quiet_blocks * block_ms);
  let heardAt_ms = Number.NEGATIVE_INFINITY;

  const wakes = new Observable<void>((out) => {
    const waiting = new Set<string>();
    let isAsking = false;
    const stop = new AbortController();

    /** Asks once for all that come close together, or while the last question is open. What cannot be told may be ours. */
    async function gather(): Promise<void> {
      while (waiting.size > 0 && !stop.signal.aborted) {
        await clock.sleep(gather_ms, stop.signal);
        const accounts = [...waiting];
        waiting.clear();
        const ours = await isOurs(accounts).catch(() => true);
        if (ours && !stop.signal.aborted) out.next();
      }
      isAsking = false;
    }

    const listening = pushes.subscribe((push) => {
      heardAt_ms = epochMs(clock.now());
      if (push.kind === 'head') {
        if (block_ms >= headsFrom_ms) out.next();
        return;
      }
      if (waiting.size < accountsMax) waiting.add(push.to);
      if (isAsking) return;
      isAsking = true;
      void gather();
    });
    return () => {
      listening.unsubscribe();
      stop.abort();
    };
  });

  return { wakes: wakes.pipe(share()), isLive: () => epochMs(clock.now()) - heardAt_ms <= quietMax_ms };
}
