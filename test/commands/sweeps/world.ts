/** A chain that only knows the balances of deposits, processes that sweep it, and an engine that carries out orders while somebody waits. */
import { currentState } from '../../../commands/handle.ts';
import type { CrashPoint } from '../../../commands/ports.ts';
import type { DepositSweep, HeldDeposit, PaidDeposit } from '../../../commands/sweeps/ports.ts';
import { type SweepDeps, type SweepLimits, type SweepNews, sweepAll } from '../../../commands/sweeps/sweep.ts';
import { type ChainId, chainOf, type Token } from '../../../domain/chains.ts';
import { minute_ms, plus } from '../../../domain/time.ts';
import { type Operation, operation, operationLeg, operationStatus } from '../../../domain/treasury/operation.ts';
import { attemptOf } from '../../support/operations.ts';
import { hashOf, treasuryAccount } from '../../support/payments.ts';
import { accepted, processes } from '../../support/processes.ts';

export const chainId: ChainId = 1;
export const [usdc, usdt] = chainOf(chainId).tokens as [Token, Token];
export const usd = (whole: number): bigint => BigInt(Math.round(whole * 1_000_000));
export const nameOf = (run: number, part: number) => `sweep-${chainId}-${treasuryAccount}-${run}-${part}`;
/** The coin costs one dollar. */
export const coin = { decimals: 6, price_microUsd: 1_000_000n };
export const all: SweepLimits = { least_microUsd: 0n, gasPriceMax: null, evenAtALoss: false };

/** The engine's result for each order. */
export type Engine = 'does it' | 'sees it die' | 'cannot sign' | 'is away';

export function sweptWorld({ depositsMax = 3, partsMax = 2 } = {}) {
  const { store, clock, time, start } = processes();
  const balances = new Map<string, Map<Token, bigint>>();
  /** Cost per deposit of a transaction, in the coin. */
  const cost = { perDeposit: usd(0.5) };
  const refused = new Set<string>();
  const unrecorded = new Set<string>();
  const read: string[] = [];
  const engine = { is: 'does it' as Engine };
  const seen: string[] = [];

  const held = (deposits: readonly PaidDeposit[]): HeldDeposit[] =>
    deposits.flatMap(({ address, paymentId }) =>
      [...(balances.get(address) ?? [])].flatMap(([token, amount]) =>
        amount > 0n ? [{ address, paymentId, token, amount, salt: `salt of ${address}` }] : [],
      ),
    );

  const sweep: Writable<DepositSweep> = {
    chainId,
    account: treasuryAccount,
    heldMax: 4,
    partsMax,
    depositsMax,
    ready: async () => {},
    held: async (deposits) => held(deposits),
    async plan(wanted, most) {
      const good = wanted.filter(({ address }) => !refused.has(address));
      const left = wanted
        .filter(({ address }) => refused.has(address))
        .map((each) => ({
          ...{ ...each, why: 'refused' },
          ...(unrecorded.has(each.address) && { unrecorded: true as const }),
        }));
      const count = Math.min(most, Math.ceil(good.length / depositsMax));
      const parts = Array.from({ length: count }, (_, at) => {
        const deposits = good.slice(at * depositsMax, (at + 1) * depositsMax);
        return { token: deposits[0]!.token, deposits, gas: 1n, cost: cost.perDeposit * BigInt(deposits.length) };
      });
      return { parts, left };
    },
  };

  /** All runs of the log, in order. */
  async function operations(): Promise<readonly Operation[]> {
    const found: Operation[] = [];
    const handle = start();
    for (let run = 1; ; run += 1) {
      const before = found.length;
      for (let part = 1; ; part += 1) {
        const state = await currentState(handle, operation, nameOf(run, part));
        if (!state) break;
        found.push(state);
      }
      if (found.length === before) return found;
    }
  }

  /** One round of the engine over the orders. */
  async function work(): Promise<void> {
    const handle = start();
    const facts = { cause: 'worker:test', appId: null } as const;
    time.now = plus(time.now, minute_ms);
    for (let run = 1; engine.is !== 'is away'; run += 1) {
      for (let part = 1; ; part += 1) {
        const id = nameOf(run, part);
        const state = await currentState(handle, operation, id);
        if (!state && part === 1) return;
        if (!state) break;
        if (operationStatus(state) === 'ordered' && engine.is !== 'cannot sign')
          await accepted(
            handle(
              operation,
              id,
              (now) => operationLeg.sign(now, 1, { ...attemptOf(state.ordered), hash: hashOf(id) }),
              facts,
            ),
          );
        else if (operationStatus(state) === 'signed') await accepted(finish(handle, id, state));
      }
    }
  }

  function finish(handle: ReturnType<typeof start>, id: string, { ordered: { form, token } }: Operation) {
    const proof = { reason: 'reverted', detail: 'reverted' } as const;
    const landed = { kind: 'final', attempt: 1, hash: hashOf(id), blockNumber: 9n, blockHash: hashOf('9') } as const;
    const dead = { kind: 'dead', attempts: [1], proof } as const;
    if (engine.is === 'does it' && form?.kind === 'flush')
      for (const { address } of form.deposits) {
        const of = [...(balances.get(address) ?? [])].find(([{ address: contract }]) => contract === token.address);
        if (of) balances.get(address)?.set(of[0], 0n);
      }
    seen.push(id);
    const decide = (state: Operation | null) =>
      operationLeg.conclude(state, 1, engine.is === 'does it' ? landed : dead, time.now);
    return handle(operation, id, decide, { cause: 'worker:test', appId: null });
  }

  /** A new process. */
  const depsOf = (crash: CrashPoint = () => {}): SweepDeps => ({
    handle: start(),
    clock: { now: clock.now, sleep: work },
    crash: async (point) => crash(point),
    by: 'operator:ada',
    sweep,
    coin,
    paid: async (after, max) => {
      const paid = [...balances.keys()]
        .map((address) => ({ address, paymentId: `payment of ${address}` }))
        .sort(byName);
      return paid.filter(({ address }) => address > (after?.address ?? '')).slice(0, max);
    },
    readUnrecorded: async (address) => void read.push(address),
  });

  return {
    store,
    balances,
    cost,
    refused,
    unrecorded,
    /** Deposits whose whole history a sweep has read. */
    read,
    engine,
    sweep,
    operations,
    work,
    depsOf,
    /** Gives the deposits `a`, `b` and so on these balances in dollars of a token. */
    given(token: Token, ...dollars: readonly number[]) {
      for (const each of dollars) balances.set(String.fromCharCode(97 + balances.size), new Map([[token, usd(each)]]));
    },
    async swept(deps = depsOf(), limits: SweepLimits = all): Promise<readonly SweepNews[]> {
      const news: SweepNews[] = [];
      for await (const each of sweepAll(deps, limits, new AbortController().signal)) news.push(each);
      return news;
    },
  };
}

const byName = (a: PaidDeposit, b: PaidDeposit) => (a.address < b.address ? -1 : 1);

export const amountsOf = (found: readonly Operation[]) => found.map(({ ordered }) => BigInt(ordered.amount));
export const leftOf = (news: readonly SweepNews[]) =>
  news.flatMap((each) => (each.kind === 'left' ? [[each.deposit.address, each.deposit.why]] : []));

type Writable<T> = { -readonly [K in keyof T]: T[K] };
