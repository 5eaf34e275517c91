/**
 * Polls the head of each node of a chain, so that the passes are woken when it moves and ask nothing while it stands. Where no payment
 * waits for the chain, the polls are far between.
 */
import { Observable, Subject, share } from 'rxjs';
import type { Ingester, NodeHead } from '../../../commands/chainPorts.ts';
import type { Clock } from '../../../commands/ports.ts';
import { epochMs } from '../../../domain/time.ts';

export interface HeadWatchDeps {
  readonly nodeHeads: Ingester['nodeHeads'];
  readonly clock: Clock;
  /** The longest pause between two polls of a node while a payment waits. */
  readonly poll_ms: number;
  /** Whether some payment waits for what happens on this chain, as far as the read models know. */
  readonly isAwaited: () => Promise<boolean>;
  /** Changes when what `isAwaited` answers may have. */
  readonly changes: () => number;
  /** Emits when `changes` has changed. */
  readonly changed: Observable<unknown>;
  /** Where nodes push what is new: emits when that is a reason to look. */
  readonly pushed?: { readonly wakes: Observable<unknown>; readonly isLive: () => boolean } | undefined;
}

/** The pause between two polls while no payment waits: far below the lag at which a chain counts as not ready. */
export const relaxed_ms = 5_000;
/** After a push, the node is asked once more so soon. */
const again_ms = 300;
/** However much is pushed, a node is asked no sooner after the last poll: who floods a socket must not use up what nodes take. */
const pushedLeast_ms = 200;
/** Where the polls stay as close as they are, a push brings the next one forward by so much of its pause at most. */
const forwardMost = 0.5;
/** That no payment waits stands until the read models change; a notification of that may be lost, so no longer than this. */
const unchangedMax_ms = 30_000;

export interface HeadWatch {
  /** Emits when some node shows something new. The nodes are polled while it is subscribed to. */
  readonly moved: Observable<void>;
  /** How often it has emitted. */
  moves(): number;
  /** Whether some payment waits, as it was asked lately. */
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
    // A push that comes while the node is asked is a reason to look again: its answer may be from before.
    let unheard = false;
    const listening = wakes.subscribe(() => {
      unheard = true;
    });
    signal.addEventListener('abort', () => listening.unsubscribe(), { once: true });
    while (!signal.aborted) {
      unheard = false;
      // A node that begins or ceases to answer is news as well: the passes say what is wrong, or read on.
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
      // A node may come to a block a moment after another has pushed it.
      const usual_ms: number = live ? (woken ? again_ms : relaxed_ms) : rhythm.pause_ms(now_ms);
      woken = unheard || (await pause(usual_ms, signal));
      const early_ms = now_ms + (live ? pushedLeast_ms : poll_ms * forwardMost) - epochMs(clock.now());
      if (woken && early_ms > 0) await clock.sleep(early_ms, signal);
      // When blocks come, nobody can tell from polls that are far between.
      if (!live && !woken && (await rested(now_ms, signal))) rhythm = createRhythm(poll_ms);
    }
  }

  /** @returns whether it was ended by a push */
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

  /** Goes on pausing, after a poll, for as long as no payment waits. @returns whether it did */
  async function rested(polledAt_ms: number, signal: AbortSignal): Promise<boolean> {
    for (let paused = false; !signal.aborted; paused = true) {
      const left_ms = polledAt_ms + relaxed_ms - epochMs(clock.now());
      if (left_ms <= 0) return paused;
      const change = new AbortController();
      const listening = changed.subscribe(() => change.abort());
      try {
        if (await isAwaited()) return paused;
        // Payments of other chains may change the read models all the time: each usual pause brings one question at most.
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
 * That a payment waits stands for a while, so that a busy service seldom asks; so does what cannot be told, which counts as waiting. Read
 * models that lag hide a payment without harm: no payin of it could be recorded before they know its address, and then they have changed.
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

/** The shortest pause is this part of the longest. */
const finest = 20;
/** A pause so many times as long as usual says nothing about when the next block comes. */
const unusual = 3;

/**
 * When to poll next. Where blocks come regularly, and more seldom than `poll_ms`, the polls are aimed: a block is expected one period
 * after the last; shortly before, polls begin that follow each other at growing distances until it is there. Otherwise: every `poll_ms`.
 */
export function createRhythm(poll_ms: number) {
  const finest_ms = poll_ms / finest;
  let movedAt_ms: number | null = null;
  let polledAt_ms = 0;
  let period_ms: number | null = null;
  /** How long before a block is expected the aimed polls begin. */
  let lead_ms = poll_ms;
  let step_ms = finest_ms;
  /** Whether an aimed poll came before the block. */
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

    /** @param blocks how many have come; 0 or less when it is not known, or a fork took some away */
    moved(now_ms: number, blocks: number): void {
      if (movedAt_ms !== null && blocks > 0) {
        const passed_ms = (now_ms - movedAt_ms) / blocks;
        if (period_ms === null) period_ms = passed_ms;
        else if (passed_ms < period_ms * unusual) period_ms += (passed_ms - period_ms) / 4;
        // It came between the last two polls. Where the first aimed poll found it, it may have come long before.
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
