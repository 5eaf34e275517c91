/**
 * Chains, the attestation service and LayerZero under the moves of `floatDays.ts`, with faults: a block leaves its chain, messages expire, others
 * mint or deliver, and the attestation service or the executor is away for two hours. The product's worker attends to each move.
 */
import assert from 'node:assert/strict';
import { currentState, type Handle } from '../../commands/handle.ts';
import type { Clock } from '../../commands/ports.ts';
import type { ChainId } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { parseBurnMessage } from '../../domain/rebalance/burnMessage.ts';
import { type CctpChainId, fast, travelTime_ms } from '../../domain/rebalance/cctp.ts';
import { isCctp } from '../../domain/rebalance/events.ts';
import { type FloatSymbol, protocolOf } from '../../domain/rebalance/protocols.ts';
import {
  burnPart,
  mintPart,
  nextRebalanceStep,
  orphanMintByOther,
  type Rebalance,
  type RebalanceState,
  rebalance,
  rebalanceLegs,
} from '../../domain/rebalance/rebalance.ts';
import { day_ms, epochMs, hour_ms, type Instant } from '../../domain/time.ts';
import { AttestationsUnavailable } from '../../src/chains/attestations.ts';
import type { MintFound } from '../../src/chains/mints.ts';
import { attend } from '../../src/workers/rebalances/attend.ts';
import { hashOf } from './payments.ts';
import { attestation, burnAttempt, messageOf, mintAttempt, proof } from './rebalances.ts';
import { guid, messageFee_wei } from './usdt0.ts';

const facts = { cause: 'worker:test', appId: null } as const;
const { signal } = new AbortController();
const block_ms = 12_000;
const expiresAfter_blocks = 25n;
const stepsMax = 20;
const outage_ms = 2 * hour_ms;
const outagePause_ms = day_ms;

/** Facts of a move that only its chains and the attestation service know. */
interface Fate {
  readonly isReordered: boolean;
  readonly expires: boolean;
  readonly minter: 'treasury' | 'strangerFirst' | 'strangerRaces';
  burnedAt: Instant | null;
  burnBlock: number;
  mintBlock: number;
  /** Parts whose block has left its chain. */
  readonly gone: Set<number>;
  minted: (MintFound & { readonly byOther: boolean }) | null;
  isRenewed: boolean;
  /** The executor was away when the message could be delivered. */
  isLate: boolean;
  expirationBlock: bigint | null;
}

/** The world of days around the moves. */
export interface MovesWorld {
  readonly symbol: FloatSymbol;
  readonly clock: Clock;
  readonly start_ms: number;
  /** Handle of the process that lives now. */
  readonly handle: () => Handle;
  readonly below: (max: number) => number;
  /** True while the attestation service is away. */
  readonly isAway: () => boolean;
  /** Changes what the treasury holds on a chain. */
  readonly add: (chainId: ChainId, amount: bigint) => void;
  /** Called after a burn. @throws AssertionError if payments needed that money */
  readonly burned: (chainId: ChainId) => void;
}

export function createFloatMoves({ symbol, clock, start_ms, handle, below, isAway, add, burned }: MovesWorld) {
  const fates = new Map<string, Fate>();
  const seen = { reordered: 0, byStrangers: 0, lateDeliveries: 0, fees: 0n, inTransit: 0n };
  /** End of the executor's last outage. */
  let executorBack_ms = start_ms;
  let outages = 0;
  const now_ms = () => epochMs(clock.now());
  const block = () => BigInt(Math.floor((now_ms() - start_ms) / block_ms));

  function fateOf(id: string): Fate {
    const known = fates.get(id);
    if (known) return known;
    const minters = ['treasury', 'treasury', 'strangerFirst', 'strangerRaces'] as const;
    const fate: Fate = {
      ...{
        isReordered: below(symbol === 'USDC' ? 4 : 2) === 0,
        expires: below(2) === 0,
        minter: minters[below(4)] ?? 'treasury',
      },
      ...{ burnedAt: null, burnBlock: 1, mintBlock: 1, gone: new Set(), minted: null },
      ...{ isRenewed: false, isLate: false, expirationBlock: null },
    };
    fates.set(id, fate);
    return fate;
  }

  const write = async (id: string, decide: (state: RebalanceState) => unknown): Promise<void> => {
    const outcome = await handle()(rebalance, id, decide as never, facts);
    assert.ok(!isRefusal(outcome), isRefusal(outcome) ? outcome.message : '');
  };
  const burnHash = (id: string) => hashOf('burn', id);
  const nonceOf = (id: string) => hashOf('nonce', id).slice(2);
  const place = (hash: string, blockNumber: number) => {
    const blockHash = hashOf('block', hash, blockNumber);
    return { attempt: 1, hash, blockNumber: BigInt(blockNumber), blockHash };
  };

  /** The attestation service and the destination chain, as the worker of one move reads them. */
  function partsOf(id: string, state: Rebalance) {
    const fate = fateOf(id);
    const { ordered: stated } = state;
    if (!isCctp(stated)) return messagesOf(fate);
    const order = stated;
    const isFast = order.route.finality === fast;
    function message(): string {
      const isExpiring = isFast && fate.expires && !fate.isRenewed;
      fate.expirationBlock ??= block() + expiresAfter_blocks;
      const feeExecuted = isFast && !fate.isRenewed ? (BigInt(order.amount) + 9_999n) / 10_000n : 0n;
      const expirationBlock = isExpiring ? fate.expirationBlock : 0n;
      return messageOf(order, { feeExecuted, expirationBlock, nonce: nonceOf(id) });
    }
    const attestations = {
      fees: async () => [],
      async messagesOf(_: number, hash: string) {
        if (isAway()) throw new AttestationsUnavailable('weather');
        assert.equal(hash, burnHash(id));
        const time_ms = travelTime_ms(order.from.chainId as CctpChainId, order.route.finality) ?? 0;
        const isReady = fate.burnedAt !== null && now_ms() >= epochMs(fate.burnedAt) + time_ms;
        return { attested: isReady ? [{ message: message(), attestation }] : [], delay: null };
      },
      async reattest(nonce: string) {
        if (isAway()) throw new AttestationsUnavailable('weather');
        assert.equal(nonce, `0x${nonceOf(id)}`);
        fate.isRenewed = true;
      },
    };
    const mints = { finalBlock: async () => block(), mintOf: async () => fate.minted };
    return { handle: handle(), clock, attestations, mintsOn: () => mints };
  }

  /** LayerZero and the destination chain, as the worker of one move reads them. */
  const messagesOf = ({ minted }: Fate) => ({
    ...{ handle: handle(), clock, attestations: null, mintsOn: () => undefined },
    oftOn: () => ({
      sentBy: async () => ({ guid, nonce: 1n }),
      arrivalOf: async () => minted,
      stateOf: async () => 'unverified' as const,
      quote: async () => messageFee_wei,
    }),
  });

  /** The executor delivers a message once, after the time of its source. In every second outage a stranger delivers instead. */
  function deliver(id: string, { ordered: { from, to, amount } }: Rebalance): void {
    const fate = fateOf(id);
    const time_ms = protocolOf[symbol].time_ms(from.chainId, 'message') ?? 0;
    if (fate.minted || !fate.burnedAt || now_ms() < epochMs(fate.burnedAt) + time_ms) return;
    const isExecutorAway = now_ms() < executorBack_ms;
    const byStranger = isExecutorAway && outages % 2 === 1;
    if (isExecutorAway && !byStranger) {
      fate.isLate = true;
      return;
    }
    if (fate.isLate) seen.lateDeliveries += 1;
    if (byStranger) seen.byStrangers += 1;
    const { hash, blockNumber, blockHash } = place(hashOf('delivery', id, fate.mintBlock), fate.mintBlock);
    fate.minted = { hash, blockNumber, blockHash, received: BigInt(amount), byOther: true };
    add(to.chainId, BigInt(amount));
    seen.inTransit -= BigInt(amount);
  }

  /** The destination chain mints a message once, and refuses an expired one. */
  function mint(id: string, state: Rebalance, hash: string, byOther: boolean): boolean {
    const fate = fateOf(id);
    const parsed = parseBurnMessage(state.attested?.message ?? '');
    assert.ok(parsed);
    const { expirationBlock, feeExecuted } = parsed;
    if (fate.minted || (expirationBlock !== 0n && block() >= expirationBlock)) return fate.minted?.hash === hash;
    const amount = BigInt(state.ordered.amount);
    const { blockNumber, blockHash } = place(hash, fate.mintBlock);
    fate.minted = { hash, blockNumber, blockHash, received: amount - feeExecuted, byOther };
    add(state.ordered.to.chainId, amount - feeExecuted);
    seen.inTransit -= amount;
    seen.fees += feeExecuted;
    assert.ok(feeExecuted <= BigInt(state.ordered.route.feeMax));
    return true;
  }

  function burn(id: string, { ordered: { from, amount } }: Rebalance): void {
    const fate = fateOf(id);
    if (fate.burnedAt) return;
    fate.burnedAt = clock.now();
    add(from.chainId, -BigInt(amount));
    seen.inTransit += BigInt(amount);
    burned(from.chainId);
    // Messages are rare: an outage begins with one, so that it delays something.
    if (symbol === 'USDC' || now_ms() < executorBack_ms + outagePause_ms) return;
    executorBack_ms = now_ms() + outage_ms;
    outages += 1;
  }

  /** The block of a recorded burn or mint leaves its chain, once each. @returns true if it was recorded now */
  async function reorder(id: string, state: Rebalance): Promise<boolean> {
    const fate = fateOf(id);
    const { ordered: order, burn: burnLeg, mint: mintLeg, attested, minted } = state;
    if (!fate.isReordered) return false;
    if (burnLeg.settled && !attested && !fate.minted && !fate.gone.has(burnPart)) {
      fate.gone.add(burnPart);
      fate.burnedAt = null;
      fate.burnBlock += 1;
      add(order.from.chainId, BigInt(order.amount));
      seen.inTransit -= BigInt(order.amount);
    }
    if ((mintLeg?.settled || !isCctp(order)) && minted && fate.minted && !fate.gone.has(mintPart)) {
      fate.gone.add(mintPart);
      add(order.to.chainId, -fate.minted.received);
      seen.inTransit += BigInt(order.amount);
      seen.fees -= BigInt(order.amount) - fate.minted.received;
      fate.minted = null;
      fate.mintBlock += 1;
    }
    if (!isCctp(order) && minted && !fate.minted) {
      await write(id, (each) => orphanMintByOther(each, { ...minted, now: clock.now() }));
      seen.reordered += 1;
      return true;
    }
    const isStale = (settled: { readonly blockNumber: string } | null | undefined, now: number) =>
      settled !== null && settled !== undefined && settled.blockNumber !== String(now);
    const part = isStale(burnLeg.settled, fate.burnBlock) ? burnPart : mintPart;
    const { settled } = part === burnPart ? burnLeg : { settled: mintLeg?.settled };
    if (!settled || !isStale(settled, part === burnPart ? fate.burnBlock : fate.mintBlock)) return false;
    await write(id, (each) => rebalanceLegs.orphan(each, part, settled));
    seen.reordered += 1;
    return true;
  }

  /** One step of a move. @returns false if it waits */
  async function step(id: string, state: Rebalance): Promise<boolean> {
    const fate = fateOf(id);
    const { ordered: order } = state;
    if (await reorder(id, state)) return true;
    const next = nextRebalanceStep(state);
    if (next.do === 'done') return false;
    if (next.do === 'receive') deliver(id, state);
    if (next.do !== 'transfer') return attended(id, state);
    if (next.part === burnPart) {
      if (next.step.do === 'sign') {
        await write(id, (each) => rebalanceLegs.sign(each, burnPart, { ...burnAttempt(order), hash: burnHash(id) }));
        return true;
      }
      burn(id, state);
      const landed = { kind: 'final', ...place(burnHash(id), fate.burnBlock) } as const;
      await write(id, (each) => rebalanceLegs.conclude(each, burnPart, landed, clock.now()));
      return true;
    }
    const own = hashOf('mint', id, state.mint?.attempts.length ?? 0);
    if (next.step.do === 'sign') {
      // The message expires while its mint waits for gas.
      const waits = state.attested !== null && state.attested.expirationBlock !== 0n;
      if (fate.minter === 'strangerFirst' && !waits) mint(id, state, hashOf('stranger', id), true);
      if (waits || fate.minted) return attended(id, state);
      const amount = String(state.mint?.order.amount);
      const attempt = (state.mint?.attempts.length ?? 0) + 1;
      const signed = { ...mintAttempt(order, attempt, amount), hash: hashOf('mint', id, attempt) };
      await write(id, (each) => rebalanceLegs.sign(each, mintPart, signed));
      return true;
    }
    if (fate.minter === 'strangerRaces') mint(id, state, hashOf('stranger', id), true);
    const attempt = state.mint?.attempts.length ?? 0;
    const outcome = mint(id, state, own, false)
      ? ({ kind: 'final', ...place(own, fate.mintBlock), attempt, arrived: state.mint?.order.amount ?? 0n } as const)
      : ({ kind: 'dead', attempts: [attempt], proof } as const);
    await write(id, (each) => rebalanceLegs.conclude(each, mintPart, outcome, clock.now()));
    return true;
  }

  async function attended(id: string, state: Rebalance): Promise<boolean> {
    const outcome = await attend(partsOf(id, state), id, signal).catch((error: unknown) => {
      if (error instanceof AttestationsUnavailable) return null;
      throw error;
    });
    return outcome?.kind === 'recorded';
  }

  /** Does what a move needs, step by step, until it waits. */
  async function travel(id: string): Promise<void> {
    for (let steps = 0, more = true; more; steps += 1) {
      assert.ok(steps < stepsMax, 'a move repeats its steps');
      const state = await currentState(handle(), rebalance, id);
      assert.ok(state);
      more = await step(id, state);
    }
  }

  return {
    travel,
    fateOf,
    /** Sums of the chains, in smallest units, and counts of faults. */
    seen,
  };
}
