/** Polls the head of each node of a chain, so that passes run only after it moves. While no payment waits for the chain, polls are rare. */
import { Observable, Subject, share } from 'rxjs';
import type { Ingester, NodeHead } from '../../../commands/chainPorts.ts';
import type { Clock } from '../../../commands/ports.ts';
import { epochMs } from '../../../domain/time.ts';

export interface HeadWatchDeps {
  readonly nodeHeads: Ingester['nodeHeads'];
  readonly clock: Clock;
  /** Maximum pause between two polls of a node while a payment waits. */
  readonly poll_ms: number;
  /** True if a payment waits for this chain, according to the read models. */
  readonly isAwaited: () => Promise<boolean>;
  /** Changes whenever the result of `isAwaited` may have changed. */
  readonly changes: () => number;
  /** Emits when `changes` has changed. */
  readonly changed: Observable<unknown>;
  /** For nodes with notifications: emits when one is a reason to read. */
  readonly pushed?: { readonly wakes: Observable<unknown>; readonly isLive: () => boolean } | undefined;
}

/** Pause between two polls while no payment waits: far below the lag at which a chain counts as not ready. */
export const relaxed_ms = 5_000;
/** Delay of a second poll after a notification. */
const again_ms = 300;
/** Minimum pause before a poll, however many notifications arrive: a flooded socket must not use up the node's rate. */
const pushedLeast_ms = 200;
/** Maximum share of a pause that a notification skips, if polling stays dense. */
const forwardMost = 0.5;
/** Life of the result that no payment waits: a notification of a change may be lost. */
const unchangedMax_ms = 30_000;

export interface HeadWatch {
  /** Emits when a node returns something new. Polls the nodes while subscribed. */
  readonly moved: Observable<void>;
  /** Number of emissions. */
  moves(): number;
  /** True if a payment waits, as of the last query. */
  isAwaited(): Promise<boolean>;
}

export function watchHeads(deps: HeadWatchDeps): HeadWatch {
  const { nodeHeads, clock, poll_ms, changed, pushed } = deps;
  const isAwaited = rememberAwaited(deps);
  const wakes = new Subject<void>();
  let moves = 0;
  const moved = new Observable<void>((out) => {
    const stop = new AbortController();
    const listening = pushed?.wakes.subscribe(() => wakes.next());
    const ended = nodeHeads.map((read) =>
      poll(read, stop.signal, () => {
        moves += 1;
        out.next();
      }),
    );
    Promise.all(ended).catch((error: unknown) => out.error(error));
    return () => {
      listening?.unsubscribe();
      stop.abort();
    };
  });
  return { isAwaited, moved: moved.pipe(share()), moves: () => moves };

  async function poll(read: HeadWatchDeps['nodeHeads'][number], signal: AbortSignal, tell: () => void) {
    let rhythm = createRhythm(poll_ms);
    let known: NodeHead | null | undefined;
    let woken = false;
    // A notification during a query is a reason for another one: its answer may be older.
    let unheard = false;
    const listening = wakes.subscribe(() => {
      unheard = true;
    });
    signal.addEventListener('abort', () => listening.unsubscribe(), { once: true });
    while (!signal.aborted) {
      unheard = false;
      // A node that starts or stops answering counts as a change too: the passes report it, or read on.
      const head = await read(signal).catch(() => null);
      if (signal.aborted) return;
      const now_ms = epochMs(clock.now());
      if (head?.mark === known?.mark && known !== undefined) rhythm.stood(now_ms);
      else {
        rhythm.moved(now_ms, known && head ? Number(head.blockNumber - known.blockNumber) : 0);
        known = head;
        tell();
      }
      const live = pushed?.isLive() ?? false;
      // A node may have a block a moment after another has announced it.
      const usual_ms: number = live ? (woken ? again_ms : relaxed_ms) : rhythm.pause_ms(now_ms);
      woken = unheard || (await pause(usual_ms, signal));
      const early_ms = now_ms + (live ? pushedLeast_ms : poll_ms * forwardMost) - epochMs(clock.now());
      if (woken && early_ms > 0) await clock.sleep(early_ms, signal);
      // Rare polls cannot reveal when blocks arrive.
      if (!live && !woken && (await rested(now_ms, signal))) rhythm = createRhythm(poll_ms);
    }
  }

  /** @returns true if a notification ended it */
  async function pause(duration_ms: number, signal: AbortSignal): Promise<boolean> {
    const wake = new AbortController();
    const listening = wakes.subscribe(() => wake.abort());
    try {
      await clock.sleep(duration_ms, AbortSignal.any([signal, wake.signal]));
    } finally {
      listening.unsubscribe();
    }
    return wake.signal.aborted;
  }

  /** Continues to pause, after a poll, while no payment waits. @returns true if it did */
  async function rested(polledAt_ms: number, signal: AbortSignal): Promise<boolean> {
    for (let paused = false; !signal.aborted; paused = true) {
      const left_ms = polledAt_ms + relaxed_ms - epochMs(clock.now());
      if (left_ms <= 0) return paused;
      const change = new AbortController();
      const listening = changed.subscribe(() => change.abort());
      try {
        if (await isAwaited()) return paused;
        // Payments of other chains may change the read models constantly: each usual pause allows one query.
        await clock.sleep(Math.min(poll_ms, left_ms), signal);
        if (left_ms > poll_ms) await clock.sleep(left_ms - poll_ms, AbortSignal.any([signal, change.signal]));
      } finally {
        listening.unsubscribe();
      }
    }
    return true;
  }
}

/**
 * A positive result is kept for a while, so a busy service rarely queries; so is a failure, which counts as positive. Lagging read models
 * hide a payment without harm: no payin of it can be recorded before they know its address, and then they have changed.
 */
function rememberAwaited({ isAwaited, changes, clock }: HeadWatchDeps): () => Promise<boolean> {
  let asked = { at_ms: Number.NEGATIVE_INFINITY, changes: 0, awaited: true };
  return async () => {
    const now = { at_ms: epochMs(clock.now()), changes: changes() };
    const age_ms = now.at_ms - asked.at_ms;
    const stands = asked.awaited ? age_ms < relaxed_ms : asked.changes === now.changes && age_ms < unchangedMax_ms;
    if (!stands) asked = { ...now, awaited: await isAwaited().catch(() => true) };
    return asked.awaited;
  };
}

/** Minimum pause as a fraction of the maximum. */
const finest = 20;
/** A pause this many times the usual one says nothing about the next block. */
const unusual = 3;

/**
 * Decides when to poll next. If blocks arrive regularly, and less often than `poll_ms`, the polls are aimed: a block is expected one period
 * after the last; shortly before it, polls begin with growing distances until it has arrived. Otherwise: every `poll_ms`.
 */
export function createRhythm(poll_ms: number) {
  const finest_ms = poll_ms / finest;
  let movedAt_ms: number | null = null;
  let polledAt_ms = 0;
  let period_ms: number | null = null;
  /** Time before an expected block at which the aimed polls begin. */
  let lead_ms = poll_ms;
  let step_ms = finest_ms;
  /** True if an aimed poll preceded the block. */
  let early = false;

  const aim_ms = () =>
    movedAt_ms !== null && period_ms !== null && period_ms > poll_ms ? movedAt_ms + period_ms - lead_ms : null;

  return {
    stood(now_ms: number): void {
      polledAt_ms = now_ms;
      const aim = aim_ms();
      if (aim === null || now_ms < aim) return;
      if (early) step_ms = Math.min(poll_ms, step_ms * 2);
      early = true;
    },

    /** @param blocks number of new blocks; 0 or less if unknown, or after a fork */
    moved(now_ms: number, blocks: number): void {
      if (movedAt_ms !== null && blocks > 0) {
        const passed_ms = (now_ms - movedAt_ms) / blocks;
        if (period_ms === null) period_ms = passed_ms;
        else if (passed_ms < period_ms * unusual) period_ms += (passed_ms - period_ms) / 4;
        // It arrived between the last two polls. If the first aimed poll found it, it may have arrived much earlier.
        lead_ms = early ? Math.max(finest_ms, now_ms - polledAt_ms) : Math.min(poll_ms, lead_ms * 2);
      }
      [movedAt_ms, polledAt_ms, step_ms, early] = [now_ms, now_ms, finest_ms, false];
    },

    pause_ms(now_ms: number): number {
      const aim = aim_ms();
      if (aim === null) return poll_ms;
      return now_ms < aim ? Math.min(poll_ms, aim - now_ms) : step_ms;
    },
  };
}
