/** The engine of transfers moves money on local chains by CCTP and by USDT0, and dies at each point where a process can die. */
import assert from 'node:assert/strict';
import { type Address, erc20Abi, parseEther } from 'viem';
import { currentState } from '../../../commands/handle.ts';
import { type ChainId, chainOf, findToken, type Token } from '../../../domain/chains.ts';
import { type CctpChainId, domainOf, fast, routeContracts } from '../../../domain/rebalance/cctp.ts';
import type { RebalanceOrdered } from '../../../domain/rebalance/events.ts';
import { transitOf } from '../../../domain/rebalance/inTransit.ts';
import {
  burnPart,
  mintPart,
  orderRebalance,
  type Rebalance,
  rebalance,
  rebalanceStanding,
} from '../../../domain/rebalance/rebalance.ts';
import { isUsdt0Chain, oftOn, type Usdt0ChainId } from '../../../domain/rebalance/usdt0.ts';
import { instant, plus } from '../../../domain/time.ts';
import { type AttestationService, plantCctp, startAttestations } from '../../../sandbox/cctp.ts';
import { endowWallet } from '../../../sandbox/solana/endow.ts';
import { fund } from '../../../sandbox/tokens.ts';
import { createMessages, plantUsdt0 } from '../../../sandbox/usdt0.ts';
import { createAttestations } from '../../../src/chains/attestations.ts';
import { allowanceCall } from '../../../src/chains/evm/cctp.ts';
import { createMintReader } from '../../../src/chains/evm/mints.ts';
import { createOftMessages } from '../../../src/chains/evm/oftMessages.ts';
import { createEvmPayoutRail } from '../../../src/chains/evm/payouts/rail.ts';
import { createEvmRpc } from '../../../src/chains/evm/rpc.ts';
import { createEvmSigner } from '../../../src/chains/evm/signer/signer.ts';
import type { MintReader } from '../../../src/chains/mints.ts';
import { createSpending } from '../../../src/chains/money/spending.ts';
import type { PayoutRail, Signer } from '../../../src/chains/ports.ts';
import { solanaFees } from '../../../src/chains/solana/config.ts';
import { createSolanaMintReader } from '../../../src/chains/solana/mints.ts';
import { createSolanaPayoutRail } from '../../../src/chains/solana/payouts/rail.ts';
import { createSolanaRpc } from '../../../src/chains/solana/rpc.ts';
import { eventKey, referenceKey, solanaKey } from '../../../src/chains/solana/signer/keys.ts';
import { createSolanaSigner } from '../../../src/chains/solana/signer/signer.ts';
import { rebalanceOwner } from '../../../src/workers/payouts/owners.ts';
import { transfersWorker } from '../../../src/workers/payouts/worker.ts';
import { arrivalsWorker, attend } from '../../../src/workers/rebalances/attend.ts';
import { evmConfig } from '../../chains/evm/world.ts';
import { depositSeed, payoutReference, solanaWorld } from '../../chains/solana/world.ts';
import { chainClient, isolatedAnvil, treasury, treasuryKey } from '../../support/anvil.ts';
import { minute } from '../../support/payments.ts';
import { sharedBySigners } from '../../support/payouts.ts';
import { accepted, processes } from '../../support/processes.ts';
import { move } from '../../support/rebalances.ts';
import { isFull } from '../../support/suite.ts';
import { sendOrder } from '../../support/usdt0.ts';

const { signal } = new AbortController();
const hundred = 100_000_000n;
const usdcOn = ({ chainId }: Pick<Side, 'chainId'>): Token =>
  findToken(chainOf(chainId), 'USDC') ?? assert.fail(`no USDC on ${chainId}`);
const roundsMax = 40;
const pointsMax = 60;
const around = (...points: readonly string[]) => points.flatMap((point) => [`${point}.before`, `${point}.after`]);
const aroundAppends = (...types: readonly string[]) => around(...types).map((point) => `${point}Append`);
const ofTransfer = (kind: string) => [
  ...[`${kind}.beforeSign`, `${kind}.afterSign`, `${kind}.beforeBroadcast`, `${kind}.afterBroadcast`],
];

class Died extends Error {}

/** A local chain with the treasury's account. */
interface Side {
  readonly chainId: ChainId;
  readonly account: string;
  readonly rail: PayoutRail;
  readonly mints: MintReader;
  readonly messages?: ReturnType<typeof createOftMessages> | undefined;
  /** Returns the signer of a new process. */
  readonly openSigner: () => Signer;
  /** The treasury's balance of a token in smallest units. */
  readonly held: (symbol: string) => Promise<bigint>;
  /** Makes blocks until all that landed is final. */
  readonly settle: () => Promise<void>;
  /** Makes blocks until bytes that did not land can never land. */
  readonly expire?: () => Promise<void>;
}

const openSpending = () =>
  createSpending({ perTransfer_usd: 10_000n, perHour_usd: 10_000_000n }, { now: () => instant(0) });

async function evmSide(chainId: ChainId, solanaAccount?: string) {
  const { rpcUrl } = await isolatedAnvil(chainId);
  const usual = evmConfig(chainId, [rpcUrl]);
  const config = { ...usual, depths: { ...usual.depths, final: 1, finalLarge: 2, payout: 1 } };
  const client = chainClient(rpcUrl);
  const address = (symbol: string) => findToken(chainOf(chainId), symbol)?.address as Address;
  await fund(rpcUrl, chainId, treasury, { gas: parseEther('10') });
  return {
    ...{ chainId, account: treasury, rpcUrl, client },
    rail: createEvmPayoutRail(config, treasury),
    mints: createMintReader(config),
    messages: isUsdt0Chain(chainId) ? createOftMessages(config, createEvmRpc(config)) : undefined,
    openSigner: () =>
      createEvmSigner({ privateKey: treasuryKey, spending: openSpending(), ...(solanaAccount && { solanaAccount }) }),
    held: (symbol: string) =>
      client.readContract({
        ...{ address: address(symbol), abi: erc20Abi, functionName: 'balanceOf' },
        args: [treasury],
      }),
    settle: () => client.mine({ blocks: 3 }),
  } satisfies Side;
}

async function solanaSide() {
  const { solana, treasury: key, config, balance, settle } = await solanaWorld();
  const account = key.publicKey.toBase58();
  const rpc = createSolanaRpc(config());
  const eventAccountOf = (reference: string) => eventKey(referenceKey(depositSeed), reference).address;
  await endowWallet(solana.rpcUrl, account, { lamports: 0n, usdc: 100n * hundred });
  return {
    ...{ chainId: 501, account, rpcUrl: solana.rpcUrl },
    rail: createSolanaPayoutRail(config(), payoutReference, rpc, eventAccountOf),
    mints: createSolanaMintReader(rpc),
    openSigner: () =>
      createSolanaSigner({
        ...{ key: solanaKey(key.secretKey.slice(0, 32)), depositSeed, fees: solanaFees(), spending: openSpending() },
        accountOf: (family) => (family === 'evm' ? treasury : undefined),
      }),
    held: async () => (await balance(key.publicKey)) ?? 0n,
    // A transaction of Solana is final after 32 slots. Its bytes expire after 150.
    settle: async () => settle(40),
    expire: async () => settle(200),
  } satisfies Side;
}

/** One death of a process. */
interface Death {
  /** True at the crash point where the process dies. */
  readonly isAt: (point: string) => boolean;
  /** Point of the death; null before it. */
  at: string | null;
}

const noDeath = (): Death => ({ isAt: () => false, at: null });

/** A protocol with its two chains. */
interface Course {
  readonly symbol: string;
  readonly from: Side;
  readonly to: Side;
  readonly fee: bigint;
  readonly order: () => RebalanceOrdered;
  /** Acts of others between two rounds, such as the executor of USDT0. */
  readonly others: () => Promise<unknown>;
  /** Time of the chains between a death and the next process. Default: none. */
  readonly downtime?: () => Promise<void>;
}

describe('the engine of transfers, with a rebalance', function () {
  this.timeout(600_000);
  let base: Awaited<ReturnType<typeof evmSide>>;
  let ethereum: typeof base;
  let arbitrum: typeof base;
  let solana: Awaited<ReturnType<typeof solanaSide>>;
  let service: AttestationService;
  let moves = 0;
  let layerZero: ReturnType<typeof createMessages>;
  const world = processes({ now: minute(90) });
  const { clock } = world;

  before(async () => {
    solana = await solanaSide();
    [base, ethereum, arbitrum] = await Promise.all([evmSide(8453, solana.account), evmSide(1), evmSide(42161)]);
    const withCctp = [base, ethereum, solana] as const;
    await Promise.all(withCctp.map(({ rpcUrl, chainId }) => plantCctp(rpcUrl, chainId as CctpChainId)));
    await solana.settle();
    await Promise.all([plantUsdt0(arbitrum.rpcUrl, 42161), plantUsdt0(ethereum.rpcUrl, 1)]);
    service = await startAttestations(new Map(withCctp.map(({ chainId, rpcUrl }) => [chainId as CctpChainId, rpcUrl])));
    await fund(base.rpcUrl, 8453, treasury, { tokens: { USDC: 1_000n * hundred } });
    await fund(arbitrum.rpcUrl, 42161, treasury, { tokens: { USDT: 1_000n * hundred } });
    // The contract of Ethereum pays out what others have locked there.
    await fund(ethereum.rpcUrl, 1, oftOn(1) as Address, { tokens: { USDT: 1_000n * hundred } });
    await base.client.impersonateAccount({ address: treasury });
    const form = { kind: 'allow', contract: 'tokenMessenger', most: (1_000n * hundred).toString() } as const;
    const allow = { ...allowanceCall({ token: usdcOn(base), form }), account: treasury, chain: null } as const;
    await base.client.sendTransaction(allow);
    await base.client.mine({ blocks: 3 });
  });
  after(() => service?.close());
  beforeEach(restartExecutor);

  /** A new executor reads all messages again, and delivers those that are not delivered. */
  function restartExecutor(): void {
    layerZero = createMessages(
      new Map<Usdt0ChainId, string>([
        [1, ethereum.rpcUrl],
        [42161, arbitrum.rpcUrl],
      ]),
    );
  }

  const byCctp = (from: Side, to: Side): Course => ({
    ...{ symbol: 'USDC', from, to, fee: 10_000n, others: async () => {} },
    order: () => {
      const [source, destination] = [from.chainId as CctpChainId, to.chainId as CctpChainId];
      const domains = { sourceDomain: domainOf(source), destinationDomain: domainOf(destination) };
      const ends = {
        from: { chainId: source, account: from.account, token: usdcOn(from) },
        to: { chainId: destination, account: to.account, token: usdcOn(to) },
      };
      const route = { kind: 'cctp', ...domains, ...routeContracts(source, destination), finality: fast } as const;
      return move({ ...ends, amount: hundred.toString(), route: { ...route, feeMax: '20000' } });
    },
  });
  const byUsdt0 = (): Course => ({
    ...{ symbol: 'USDT', from: arbitrum, to: ethereum, fee: 0n, others: () => layerZero.deliver() },
    order: () => sendOrder({ account: treasury, amount: hundred }),
  });

  const crashOf = (death: Death) => (place: string) => {
    if (death.at !== null || !death.isAt(place)) return;
    death.at = place;
    throw new Died(place);
  };

  /** Dies before each call of a reader and after its answer, too. */
  function dyingAround<T extends object>(name: string, reader: T, crash: (place: string) => void): T {
    const get = (target: T, key: string) => async (asked: unknown, at: AbortSignal) => {
      crash(`${name}.${key}.before`);
      const answer = await (target as Record<string, (asked: unknown, at: AbortSignal) => unknown>)[key]?.(asked, at);
      crash(`${name}.${key}.after`);
      return answer;
    };
    return new Proxy(reader, { get: get as never });
  }

  /** A process with its own memory. */
  function boot({ from, to, others }: Course, id: string, death: Death) {
    const crash = crashOf(death);
    const handle = world.start({ crash });
    const railOf = (chainId: ChainId) => [from, to].find((side) => side.chainId === chainId)?.rail;
    const owedOn = async () => ({ tokens: new Map(), coin: 0n, payouts: 0 });
    const owners = { rebalance: rebalanceOwner({ handle, clock, railOf, owedOn, receiverChecks: {} }) };
    const workerOn = ({ rail, openSigner }: Side) =>
      transfersWorker({
        ...sharedBySigners(clock),
        ...{ owners, handle, clock, crash, rail, signer: openSigner() },
        ...{ poll_ms: 1_000, due: async () => [], alarm: () => {} },
      });
    const [burns, mints] = [workerOn(from), workerOn(to)];
    const attestations = createAttestations({ url: service.url, clock });
    const messages = [from, to].map((side) => side.messages && dyingAround('messages', side.messages, crash));
    const readers = {
      attestations,
      mintsOn: (chainId: ChainId) => [from, to].find((side) => side.chainId === chainId)?.mints,
      oftOn: (chainId: ChainId) => messages[chainId === from.chainId ? 0 : 1],
    };
    return async () => {
      await burns.act({ key: { kind: 'rebalance', id, part: burnPart }, appId: null }, signal);
      await from.settle();
      await others();
      await to.settle();
      await attend({ handle, clock, ...readers }, id, signal);
      await mints.act({ key: { kind: 'rebalance', id, part: mintPart }, appId: null }, signal);
      await to.settle();
    };
  }

  async function stateOf(id: string): Promise<Rebalance> {
    const state = await currentState(world.start(), rebalance, id);
    assert.ok(state);
    return state;
  }

  const heldBy = async ({ from, to, symbol }: Course) => [await from.held(symbol), await to.held(symbol)] as const;

  /** Runs new processes until the move is done. After each death the chains have at least what the log has. */
  async function finish(course: Course, id: string, death: Death, before: readonly [bigint, bigint]): Promise<void> {
    let process = boot(course, id, death);
    for (let round = 0; ; round += 1) {
      const state = await stateOf(id);
      const { burned, minted, fee, inTransit } = transitOf(state);
      const [left, there] = await heldBy(course);
      const died = `died at ${death.at}`;
      assert.equal(burned, minted + fee + inTransit, died);
      assert.ok(burned <= before[0] - left && before[0] - left <= hundred, `${died}: burned at most once`);
      assert.ok(minted <= there - before[1] && there - before[1] <= hundred, `${died}: arrived at most once`);
      if (rebalanceStanding(state) === 'done') {
        assert.deepEqual([burned, fee, inTransit], [hundred, course.fee, 0n], died);
        assert.deepEqual([before[0] - left, there - before[1]], [hundred, hundred - course.fee], `${died}: once each`);
        return;
      }
      assert.ok(round < roundsMax, `${died}, and the move does not end: ${rebalanceStanding(state)}`);
      try {
        await process();
      } catch (error) {
        if (!(error instanceof Died)) throw error;
        await course.downtime?.();
        process = boot(course, id, death);
      }
      world.time.now = plus(world.time.now, 6_000);
    }
  }

  /** @returns where the process died, null if it finished before; and the move at its end */
  async function moveDying(course: Course, isAt: Death['isAt']): Promise<readonly [string | null, Rebalance]> {
    const id = `dying-${++moves}`;
    const before = await heldBy(course);
    const facts = { cause: 'worker:rebalances', appId: null } as const;
    await accepted(world.start()(rebalance, id, (state) => orderRebalance(state, course.order()), facts));
    const death: Death = { isAt, at: null };
    await finish(course, id, death, before);
    return [death.at, await stateOf(id)];
  }

  /** @param isTried places of the deaths. Default: all */
  async function diesEverywhere(course: Course, expected: readonly string[], isTried = (_: string) => true) {
    const places: string[] = [];
    for (let n = 1; n <= pointsMax; n += 1) {
      let left = n;
      const [place] = await moveDying(course, (at) => isTried(at) && --left === 0);
      if (place === null) break;
      places.push(place);
    }
    for (const place of expected.filter(isTried))
      assert.ok(places.includes(place), `${place} is none of ${places.join(', ')}`);
    assert.ok(places.length < pointsMax, 'the last process lives to the end');
  }

  const stepsOfCctp = [
    ...[...ofTransfer('burn'), ...ofTransfer('mint')],
    ...aroundAppends('BurnSigned', 'BurnConfirmed', 'BurnAttested', 'MintSigned', 'MintConfirmed'),
  ];

  it('burns once and mints once by CCTP, wherever the process dies', () =>
    diesEverywhere(byCctp(base, ethereum), stepsOfCctp));

  // The move between EVM chains dies at each step there. In the gate the process dies only at the steps on Solana, and between them.
  const isStepOf = (side: RegExp) => (place: string) => isFull || side.test(place);

  it('burns once on Base and mints once on Solana, wherever the process dies', () =>
    diesEverywhere(byCctp(base, solana), stepsOfCctp, isStepOf(/^(mint|BurnAttested)/i)));

  it('burns once on Solana and mints once on Base, wherever the process dies', () =>
    diesEverywhere(byCctp(solana, base), stepsOfCctp, isStepOf(/^burn/i)));

  for (const kind of ['burn', 'mint'] as const)
    it(`signs a ${kind} on Solana again if its bytes expire before they are sent, and only then`, async () => {
      const cctp = kind === 'burn' ? byCctp(solana, base) : byCctp(base, solana);
      const event = kind === 'burn' ? 'Burn' : 'Mint';
      const unsent = [`${event}Signed.afterAppend`, `${kind}.beforeBroadcast`];
      for (const point of [...unsent, `${kind}.afterBroadcast`, `${event}Confirmed.beforeAppend`]) {
        const [died, move] = await moveDying({ ...cctp, downtime: solana.expire }, (place) => place === point);
        assert.equal(died, point);
        assert.equal(move[kind]?.attempts.length, unsent.includes(point) ? 2 : 1, point);
      }
    });

  it('sends once by USDT0 and records the arrival once, wherever the process dies', () =>
    diesEverywhere(byUsdt0(), [
      ...ofTransfer('burn'),
      ...aroundAppends('BurnSigned', 'BurnConfirmed', 'MintedByOther'),
      ...around('messages.sentBy', 'messages.arrivalOf'),
    ]));

  for (const point of aroundAppends('MintByOtherOrphaned'))
    it(`looks for the next delivery of USDT0 after its arrival left the chain, and after a death at ${point}`, async () => {
      const course = byUsdt0();
      const id = `orphaned-${point}`;
      const before = await heldBy(course);
      const facts = { cause: 'worker:rebalances', appId: null } as const;
      await accepted(world.start()(rebalance, id, (state) => orderRebalance(state, course.order()), facts));
      await finish(course, id, noDeath(), before);
      const first = (await stateOf(id)).minted;
      // The executor delivers in one block, and three rounds of three blocks follow at most.
      const head = await ethereum.client.getBlockNumber();
      const depth = Number(head - BigInt(first?.blockNumber ?? head)) + 1;
      await ethereum.client.request({ method: 'anvil_reorg', params: [depth, []] } as never);
      assert.equal(await ethereum.held('USDT'), before[1]);
      const alarms: string[] = [];
      const check = (crash: (place: string) => void) =>
        arrivalsWorker({
          ...{ handle: world.start({ crash }), clock, railOn: () => ethereum.rail, arrivedSince: async () => [id] },
          alarm: ({ hash }) => void alarms.push(hash),
        }).act(id, signal);
      const dies = (place: string) => {
        if (place === point) throw new Died(place);
      };
      await assert.rejects(check(dies), Died);
      await check(() => {});
      assert.equal(rebalanceStanding(await stateOf(id)), 'sent');
      assert.deepEqual(transitOf(await stateOf(id)), { burned: hundred, minted: 0n, fee: 0n, inTransit: hundred });
      // A death after the append loses the alarm, not the record.
      assert.deepEqual(alarms, point.startsWith('MintByOtherOrphaned.before') ? [first?.hash] : []);
      restartExecutor();
      await finish(course, id, noDeath(), before);
      assert.notEqual((await stateOf(id)).minted?.hash, first?.hash);
    });
});
