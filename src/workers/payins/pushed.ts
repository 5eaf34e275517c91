/** Decides which notifications of nodes are a reason to read their chain at once. They have no other effect. */
import { Observable, share } from 'rxjs';
import type { Clock } from '../../../commands/ports.ts';
import { epochMs } from '../../../domain/time.ts';
import type { Push } from '../../chains/family.ts';
import { boundedMap } from '../../lib/cache.ts';

export interface PushedDeps {
  readonly pushes: Observable<Push>;
  readonly clock: Clock;
  /** Time between blocks, as far as is known. */
  readonly block_ms: number;
  /** True if a payment waits for this chain: otherwise no account is looked up. */
  readonly isAwaited: () => Promise<boolean>;
  /** Returns the accounts that belong to payments. */
  readonly oursAmong: (accounts: readonly string[]) => Promise<readonly string[]>;
  /** Receives our accounts before the chain is read; omitted if each read finds everything new. */
  readonly lookFirst?: ((accounts: readonly string[]) => void) | undefined;
  /** Number of notified transfers to us, to others, or beyond the look-up limit. */
  readonly count?: (what: PushedTo, transfers: number) => void;
}

export type PushedTo = 'ours' | 'others' | 'dropped';

export interface Pushed {
  /** Keeps connections while subscribed. */
  readonly wakes: Observable<void>;
  /** True if notifications arrived recently: then polls, each of which finds everything new, may be rare. */
  isLive(): boolean;
}

/** On a chain with faster blocks, only transfers to us are a reason: each block would cost as many calls as polling. */
const headsFrom_ms = 1_500;
const gather_ms = 75;
/** Maximum accounts waiting for a look-up; polling finds the others. */
export const accountsMax = 2_000;
/** Foreign accounts are not looked up again for this time: exchanges and pools are paid constantly. */
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

    /** One query for all notifications that arrive together, or during a query. If it fails, the accounts may be ours. */
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
