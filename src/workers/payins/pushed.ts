/** Which of the things that nodes push are a reason to look at their chain at once. Nothing but that follows from them. */
import { Observable, share } from 'rxjs';
import type { Clock } from '../../../commands/ports.ts';
import { epochMs } from '../../../domain/time.ts';
import type { Push } from '../../chains/family.ts';
import { boundedMap } from '../../lib/cache.ts';

export interface PushedDeps {
  readonly pushes: Observable<Push>;
  readonly clock: Clock;
  /** Between blocks, as far as is known. */
  readonly block_ms: number;
  /** Whether some payment waits for this chain: nobody is looked up while none does. */
  readonly isAwaited: () => Promise<boolean>;
  /** Those of the accounts that belong to payments. */
  readonly oursAmong: (accounts: readonly string[]) => Promise<readonly string[]>;
  /** Told of ours before the chain is looked at; left out where a look finds all that is new without it. */
  readonly lookFirst?: ((accounts: readonly string[]) => void) | undefined;
  /** How many of the pushed transfers were to us, to others, or were too many to be looked up. */
  readonly count?: (what: PushedTo, transfers: number) => void;
}

export type PushedTo = 'ours' | 'others' | 'dropped';

export interface Pushed {
  /** Connections are held while it is subscribed to. */
  readonly wakes: Observable<void>;
  /** Whether anything was pushed of late: then polls, where each finds all that is new, may be far between. */
  isLive(): boolean;
}

/** Of a chain with blocks closer than this, only transfers to us are a reason: each block would cost as many calls as polling. */
const headsFrom_ms = 1_500;
const gather_ms = 75;
/** So many wait to be asked about; what comes beyond is found by polling. */
export const accountsMax = 2_000;
/** Who is none of ours is not asked about again for so long: exchanges and pools are paid all the time. */
export const strangersMax = 50_000;
const strangerFor_ms = 60_000;
const quietMin_ms = 5_000;
const quiet_blocks = 3;

export function createPushed(deps: PushedDeps): Pushed {
  const { pushes, clock, block_ms, isAwaited, oursAmong, lookFirst, count = () => {} } = deps;
  const quietMax_ms = Math.max(quietMin_ms, quiet_blocks * block_ms);
  const strangers = boundedMap<number>(strangersMax);
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
        if (!(await isAwaited())) continue;
        const ours = await oursAmong(accounts).catch(() => null);
        if (stop.signal.aborted) break;
        if (ours) sort(accounts, ours);
        if (ours === null || ours.length > 0) out.next();
      }
      isAsking = false;
    }

    function listen(to: string, now_ms: number): void {
      const askedAt_ms = strangers.get(to) ?? Number.NEGATIVE_INFINITY;
      if (now_ms - askedAt_ms < strangerFor_ms) count('others', 1);
      else if (waiting.size >= accountsMax && !waiting.has(to)) count('dropped', 1);
      else waiting.add(to);
      if (isAsking || waiting.size === 0) return;
      isAsking = true;
      void gather();
    }

    const listening = pushes.subscribe((push) => {
      heardAt_ms = epochMs(clock.now());
      if (push.kind === 'transfer') listen(push.to, heardAt_ms);
      else if (block_ms >= headsFrom_ms) out.next();
    });
    return () => {
      listening.unsubscribe();
      stop.abort();
    };
  });

  function sort(accounts: readonly string[], ours: readonly string[]): void {
    const own = new Set(ours);
    const others = accounts.filter((account) => !own.has(account));
    for (const account of others) strangers.set(account, epochMs(clock.now()));
    count('ours', ours.length);
    count('others', others.length);
    if (ours.length > 0) lookFirst?.(ours);
  }

  return {
    wakes: wakes.pipe(share()),
    isLive: () => lookFirst === undefined && epochMs(clock.now()) - heardAt_ms <= quietMax_ms,
  };
}
