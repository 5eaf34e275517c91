/**
 * Periodically anchors the newest head's hash on a chain, which proves the head's age without our clock: a treasury operation that moves no
 * money, with the hash as its memo. The engine of outgoing transfers signs and sends it.
 *
 * Crash before the operation's first event: nothing happened. After it, the restarted process finds the operation by its name and waits for
 * its fate. Crash between its finality and the record: the restarted process records it before it orders another. Of two processes, one
 * begins the operation's stream and one records; the other finds it done.
 */
import type { ChainId } from '../../domain/chains.ts';
import { assert, isRefusal } from '../../domain/decider.ts';
import { type Anchor, type HeadsEvent, tellAnchor } from '../../domain/heads/heads.ts';
import { coinOf } from '../../domain/money.ts';
import { epochMs, hour_ms, type Instant } from '../../domain/time.ts';
import { type Operation, type OperationOrdered, operation } from '../../domain/treasury/operation.ts';
import { currentState, type Handle } from '../handle.ts';
import type { Clock } from '../ports.ts';
import { begin, lookAfter, newestNumber } from '../sweeps/numbered.ts';
import { hashOfHead } from './chain.ts';
import { appendEntry, entriesBack, followKey, type HeadKeys, type HeadsReading, newestHead } from './sign.ts';

export interface AnchorDeps extends HeadsReading {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly keys: () => Promise<HeadKeys>;
  readonly chainId: ChainId;
  /** The treasury's account on the chain. */
  readonly account: string;
  /** Interval between anchors. */
  readonly every_ms: number;
}

export interface Anchoring {
  /** Records final anchors and orders due ones. @returns time of the newest anchor; null if there is none */
  round(): Promise<Instant | null>;
}

const by = 'worker:anchors';
/** Interval after an anchor that was called off because its chain was unavailable or it failed there. */
const again_ms = hour_ms;
/** Maximum consecutive failed runs to search past for an older anchor. */
const lookBack = 100;

export function createAnchoring(deps: AnchorDeps): Anchoring {
  const { handle, clock, chainId, account, every_ms } = deps;
  const numbered = { handle, clock, by } as const;
  const nameOf = (run: number) => `anchor-${chainId}-${account}-${run}`;
  const find = (run: number) => currentState(handle, operation, nameOf(run));
  let newest = 0;
  let told = 0;

  async function order(hash: string): Promise<void> {
    // On a conflict, another process has ordered this one.
    await begin(numbered, nameOf(newest + 1), orderOf(hash, deps));
  }

  async function anchoredAt(): Promise<Instant | null> {
    for (let run = newest; run > Math.max(0, newest - lookBack); run -= 1) {
      const settled = (await find(run))?.leg.settled;
      if (settled) return settled.confirmedAt;
    }
    return null;
  }

  return {
    async round() {
      newest = await newestNumber(async (run) => (await find(run)) !== null, newest);
      const known = newest > 0 ? await lookAfter(numbered, nameOf(newest)) : undefined;
      if (known?.operation.leg.settled && told < newest) {
        await tell(deps, known.operation);
        told = newest;
      }
      if (!known || (known.over && isDue(known.operation, clock.now(), every_ms))) {
        const head = await newestHead(deps);
        const hash = head && hashOfHead({ type: 'HeadSigned', data: head });
        const isThere = known?.operation.leg.settled && hashOf(known.operation) === hash;
        if (hash && !isThere) await order(hash);
      }
      return anchoredAt();
    },
  };
}

function isDue({ ordered, leg }: Operation, now: Instant, every_ms: number): boolean {
  const wait_ms = leg.settled ? every_ms : Math.min(every_ms, again_ms);
  return epochMs(now) - epochMs(ordered.orderedAt) >= wait_ms;
}

const hashOf = ({ ordered: { form } }: Operation): string | undefined =>
  form?.kind === 'anchor' ? form.hash : undefined;

const orderOf = (hash: string, { chainId, account, clock }: AnchorDeps): OperationOrdered => ({
  kind: 'anchor',
  chainId,
  account,
  token: coinOf(chainId),
  form: { kind: 'anchor', hash },
  receiver: account,
  receiverMemo: null,
  amount: '0',
  value_microUsd: '0',
  approvals: 0,
  reason: 'the newest head of the log is put on a chain',
  by,
  orderedAt: clock.now(),
});

/** Records the anchor once: it is either recorded after the head already, or now. @throws HeadKeyMissing, Unavailable */
async function tell(deps: AnchorDeps, { ordered, leg }: Operation): Promise<void> {
  const { form, chainId, account } = ordered;
  assert(form?.kind === 'anchor' && leg.settled !== null, 'an anchor is told once it is on its chain');
  const { hash: transaction, blockNumber: ledger } = leg.settled;
  const keys = await deps.keys();
  await followKey(deps.handle, keys);
  const found = await lookFor(deps, { hash: form.hash, transaction });
  if (found === 'told') return;
  const anchor: Anchor = { head: found.head, headHash: form.hash, chainId, account, transaction, ledger };
  const { publicKey, sign } = keys.current;
  const how = { seen: found.seen, publicKey, hashOf: hashOfHead, sign };
  const decided = await appendEntry(deps.handle, (entry) => tellAnchor(entry, anchor, how));
  // On a conflict, the next round checks again.
  if (isRefusal(decided)) throw new Error(`anchor ${transaction}: ${decided.message}`);
}

/** Searches from the newest entry back to the head: the record of its anchor follows the head. */
async function lookFor(
  reading: HeadsReading,
  { hash, transaction }: { readonly hash: string; readonly transaction: string },
): Promise<'told' | { readonly head: number; readonly seen: number }> {
  let seen: number | null = null;
  for await (const entry of entriesBack(reading)) {
    seen ??= entry.data.number;
    if (tells(entry, transaction)) return 'told';
    if (hashOfHead(entry) === hash) return { head: entry.data.number, seen };
  }
  throw new Error(`no head of this log has the hash ${hash}, which transaction ${transaction} has put on its chain`);
}

const tells = ({ type, data }: HeadsEvent, transaction: string): boolean =>
  type === 'HeadAnchored' && data.transaction === transaction;
