/** Heads of the log: signed and anchored by one instance, watched by each, with an alarm if recent events are not signed. */
import { eventCodec } from '../../../commands/codec.ts';
import { createAnchoring } from '../../../commands/heads/anchor.ts';
import { coveredCategories, HeadKeyMissing, newestHead } from '../../../commands/heads/sign.ts';
import { assert } from '../../../domain/decider.ts';
import { epochMs, hour_ms, type Instant, minute_ms } from '../../../domain/time.ts';
import { brokenChains, type Core } from '../../core.ts';
import { throttle } from '../../lib/cache.ts';
import { createHeadTree } from '../../postgres/headTree.ts';
import { followForAnchors, followForHeads } from './heads.ts';

const told_ms = 30 * minute_ms;
const look_ms = minute_ms;
/** Allowed delay: a restart, a takeover by another instance, a short outage of the store. */
const patience_ms = 10 * minute_ms;
const prefixes = coveredCategories.map((category) => `${category}-`);

/** Resolves when the signal has aborted. */
export async function runHeads(core: Core, signal: AbortSignal): Promise<void> {
  await Promise.all([signHeadsHere(core, signal), watchHeads(core, signal)]);
}

function signHeadsHere(core: Core, signal: AbortSignal): Promise<void> {
  const { store, clock, config, database, leases, telemetry, workHandle, headKeys } = core;
  const alarm = throttle(told_ms, clock, String, (message: string) => telemetry.alarm('headDiffers', {}, message));
  const keyMissing = throttle(told_ms, clock, String, (message: string) =>
    telemetry.alarm('headKeyMissing', {}, message),
  );
  const deps = {
    store: store.workers,
    codec: eventCodec,
    handle: workHandle,
    tree: createHeadTree(database),
    clock,
    keys: headKeys,
    every: { events: config.heads.events, duration_ms: config.heads.every_min * minute_ms },
    tellBroken: brokenChains(telemetry),
    alarm,
    failed(error: unknown) {
      if (error instanceof HeadKeyMissing) keyMissing(error.message);
      telemetry.logger.warn({ error: String(error) }, 'heads wait: tried again');
    },
  };
  return leases.hold('heads', signal, async (held) => {
    telemetry.active.set({ role: 'heads' }, 1);
    await Promise.all([followForHeads(deps, held), anchorHeads(core, held)]);
    telemetry.active.set({ role: 'heads' }, 0);
  });
}

/** Runs in the background: no other task waits for it. */
async function anchorHeads(core: Core, signal: AbortSignal): Promise<void> {
  const { store, clock, config, chains, telemetry, workHandle: handle, headKeys: keys } = core;
  if (config.heads.anchor === null) return;
  const { chainId, every_hours } = config.heads.anchor;
  const account = chains.get(chainId)?.rail.account;
  assert(account !== undefined, 'configuration names a chain that is served');
  const every_ms = every_hours * hour_ms;
  const reading = { store: store.workers, codec: eventCodec };
  const alarm = throttle(told_ms, clock, String, (message: string) =>
    telemetry.alarm('headNotAnchored', { chainId }, message),
  );
  await followForAnchors(
    {
      anchoring: createAnchoring({ ...reading, handle, clock, keys, chainId, account, every_ms }),
      clock,
      every_ms,
      alarm,
      observe: (age_ms) => telemetry.anchorAge.set(age_ms / 1_000),
      failed: (error) => telemetry.logger.warn({ error: String(error) }, 'anchors of heads wait: tried again'),
    },
    signal,
  );
}

/** On every instance: the signing one may hang. */
async function watchHeads(core: Core, signal: AbortSignal): Promise<void> {
  const { clock, config, telemetry } = core;
  const most_ms = 2 * config.heads.every_min * minute_ms + patience_ms;
  const tell = throttle(
    told_ms,
    clock,
    () => 'stale',
    (lag_ms: number) =>
      telemetry.alarm(
        'headStale',
        { minutes: Math.round(lag_ms / minute_ms) },
        'no signed log head covers the newest events',
      ),
  );
  const began_ms = epochMs(clock.now());
  while (!signal.aborted) {
    await clock.sleep(look_ms, signal);
    const first = await firstUncovered(core, signal).catch(() => undefined);
    if (first !== undefined) {
      const lag_ms = first === null ? 0 : Math.max(0, epochMs(clock.now()) - epochMs(first));
      telemetry.headLag.set(lag_ms / 1_000);
      // Events during downtime are signed soon.
      if (Math.min(lag_ms, epochMs(clock.now()) - began_ms) > most_ms) tell(lag_ms);
    }
  }
}

/** Time of the oldest event that no head covers; null if there is none. */
async function firstUncovered({ store }: Pick<Core, 'store'>, signal: AbortSignal): Promise<Instant | null> {
  const newest = await newestHead({ store: store.workers, codec: eventCodec });
  const after = newest ? BigInt(newest.position) : null;
  for await (const { events, live } of store.workers.all({ after, prefixes, signal })) {
    const [first] = events;
    if (first) return first.metadata.at;
    if (live) return null;
  }
  return null;
}
