/** Money moves between Ethereum and Arbitrum by LayerZero's own contracts on two local chains, with an executor with weather. */
import assert from 'node:assert/strict';
import { type Address, encodeFunctionData, erc20Abi, type Hex, keccak256, parseEther, toEventSelector } from 'viem';
import { currentState } from '../../../commands/handle.ts';
import { isRefusal } from '../../../domain/decider.ts';
import type { RebalanceOrdered } from '../../../domain/rebalance/events.ts';
import { arrivingFrom, transitOf } from '../../../domain/rebalance/inTransit.ts';
import {
  burnPart,
  callOffRebalance,
  nextRebalanceStep,
  orderRebalance,
  type Rebalance,
  type RebalanceState,
  rebalance,
  rebalanceLegs,
  rebalanceStanding,
} from '../../../domain/rebalance/rebalance.ts';
import {
  endpointIdOf,
  layerZeroEndpoint,
  oftOn,
  sendableOn,
  type Usdt0ChainId,
} from '../../../domain/rebalance/usdt0.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { sandboxEndpoint } from '../../../sandbox/contracts/artifacts/SandboxEndpoint.ts';
import { fund, sandboxTokenAbi } from '../../../sandbox/tokens.ts';
import { createMessages, type Messages, messagePrice_wei, plantUsdt0 } from '../../../sandbox/usdt0.ts';
import { createOftMessages } from '../../../src/chains/evm/oftMessages.ts';
import { createEvmPayoutRail } from '../../../src/chains/evm/payouts/rail.ts';
import { createEvmRpc } from '../../../src/chains/evm/rpc.ts';
import { describeUsdt0 } from '../../../src/chains/evm/usdt0.ts';
import type { OftMessages } from '../../../src/chains/oftMessages.ts';
import { PayoutBlocked } from '../../../src/chains/ports.ts';
import { arrivalsWorker, attend } from '../../../src/workers/rebalances/attend.ts';
import { type AskedMove, type MoveDeps, orderMove } from '../../../src/workers/rebalances/order.ts';
import { signedBy } from '../../chains/evm/payouts/signing.ts';
import { evmConfig } from '../../chains/evm/world.ts';
import { accountOf, type ChainClient, chainClient, isolatedAnvil, treasury } from '../../support/anvil.ts';
import { createWorld, type World } from '../../support/histories.ts';
import { messageFee_wei, sendOrder } from '../../support/usdt0.ts';

const { signal } = new AbortController();
const hundred = 100_000_000n;
const alertSignature =
  'LzReceiveAlert(address,address,(uint32,bytes32,uint64),bytes32,uint256,uint256,bytes,bytes,bytes)';
const depths = { final: 1, finalLarge: 2, payout: 1 };

interface Side {
  readonly rpcUrl: string;
  readonly client: ChainClient;
  readonly rail: ReturnType<typeof createEvmPayoutRail>;
  readonly messages: OftMessages;
  readonly describe: () => Promise<string>;
  readonly token: Address;
}

async function sideOf(chainId: Usdt0ChainId): Promise<Side> {
  const { rpcUrl } = await isolatedAnvil(chainId);
  await plantUsdt0(rpcUrl, chainId);
  const config = { ...evmConfig(chainId, [rpcUrl]), depths: { ...evmConfig(chainId, [rpcUrl]).depths, ...depths } };
  const rpc = createEvmRpc(config);
  return {
    ...{ rpcUrl, client: chainClient(rpcUrl), rail: createEvmPayoutRail(config, treasury, rpc) },
    messages: createOftMessages(config, rpc),
    describe: () => rpc.answer((node) => describeUsdt0(node, chainId), signal),
    token: sendableOn(chainId)?.address as Address,
  };
}

describe('a rebalance by USDT0 on two chains', () => {
  let sides: Record<1 | 42161, Side>;
  let layerZero: Messages;
  let world: World;
  let moves = 0;

  before(async () => {
    const [ethereum, arbitrum] = await Promise.all([sideOf(1), sideOf(42161)]);
    sides = { 1: ethereum, 42161: arbitrum };
    layerZero = createMessages(
      new Map<Usdt0ChainId, string>([
        [1, ethereum.rpcUrl],
        [42161, arbitrum.rpcUrl],
      ]),
    );
    for (const [chainId, side] of [
      [1, ethereum],
      [42161, arbitrum],
    ] as const)
      await fund(side.rpcUrl, chainId, treasury, { gas: parseEther('1'), tokens: { USDT: 100n * hundred } });
    await allow(50n * hundred);
  });
  beforeEach(() => {
    world = createWorld();
    moves += 1;
    Object.assign(layerZero.weather, { unverified: false, undelivered: false, forge: null });
  });

  async function allow(most: bigint): Promise<void> {
    const { rail, client, token } = sides[1];
    const form = { kind: 'allow', contract: 'usdt0Adapter', most: most.toString() } as const;
    const asset = { symbol: 'USDT', address: token, decimals: 6 } as const;
    const order = { chainId: 1, token: asset, receiver: oftOn(1), receiverMemo: null, amount: 0n, form } as const;
    const sent = await signedBy(
      await rail.numbering.prepare(order, await rail.numbering.minedNonce(signal)),
      1,
      'deployment',
    );
    await rail.broadcast(sent.bytes);
    await client.mine({ blocks: 3 });
  }

  const held = ({ client, token }: Side, account: string = treasury) =>
    client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [account as Address] });
  const coin = ({ client }: Side) => client.getBalance({ address: treasury });
  const id = () => `send-${moves}`;
  const facts = { cause: 'worker:rebalances', appId: null } as const;
  const load = async (): Promise<Rebalance> => {
    const state = await currentState(world.handle, rebalance, id());
    assert.ok(state);
    return state;
  };
  const deps = () => ({
    ...{ handle: world.handle, clock: world.clock, attestations: null, mintsOn: () => undefined },
    oftOn: (chainId: number) => (chainId === 1 || chainId === 42161 ? sides[chainId].messages : undefined),
  });

  async function record(decide: (state: RebalanceState) => unknown): Promise<void> {
    const outcome = await world.handle(rebalance, id(), decide as never, facts);
    assert.ok(!isRefusal(outcome), isRefusal(outcome) ? outcome.message : '');
  }

  const order = (from: 1 | 42161 = 42161, change: Partial<RebalanceOrdered> = {}) =>
    record((state) =>
      orderRebalance(state, { ...sendOrder({ from, to: from === 1 ? 42161 : 1, account: treasury }), ...change }),
    );

  /** Does one step in a newly started process, which knows only the log. */
  async function one(): Promise<string> {
    const state = await load();
    const step = nextRebalanceStep(state);
    if (step.do !== 'transfer') {
      const attended = await attend(deps(), id(), signal);
      return attended.kind === 'waits' ? `${step.do}: ${attended.why}` : `${step.do}: ${attended.kind}`;
    }
    const { rail, client } = sides[state.ordered.from.chainId as 1 | 42161];
    const leg = state.burn;
    if (step.step.do === 'sign') {
      const unsigned = await rail.numbering.prepare(leg.order, await rail.numbering.minedNonce(signal));
      const attempt = await signedBy(unsigned, leg.attempts.length + 1, 'burn');
      await record((current) => rebalanceLegs.sign(current, burnPart, attempt));
      return 'signed';
    }
    assert.ok(step.step.do === 'broadcast');
    const attempts = step.step.attempts.map((each: SignedAttempt) => ({ ...each, form: leg.order.form }));
    for (const { bytes } of attempts) await rail.broadcast(bytes);
    await client.mine({ blocks: 3 });
    const fate = await rail.fate(attempts as never, signal);
    await record((current) => rebalanceLegs.conclude(current, burnPart, fate as never, world.clock.now()));
    return fate.kind;
  }

  const steps = async (count: number): Promise<readonly string[]> => {
    const did: string[] = [];
    while (did.length < count) did.push(await one());
    return did;
  };
  const finalize = (chainId: 1 | 42161) => sides[chainId].client.mine({ blocks: 3 });

  it('finds the contracts of this release on both chains', async () => {
    for (const { describe: told } of Object.values(sides)) {
      const words = await told();
      assert.match(words, /^the contracts of this release; a message costs 200000000000000 wei to /);
      assert.match(words, /to Polygon/);
    }
  });

  it('burns on Arbitrum, and the executor unlocks the whole amount on Ethereum', async () => {
    const [before, there, locked] = [await held(sides[42161]), await held(sides[1]), await held(sides[1], oftOn(1))];
    // The contract of Ethereum pays out what others have locked there.
    if (locked < hundred) await fund(sides[1].rpcUrl, 1, oftOn(1) as Address, { tokens: { USDT: hundred } });
    const coinBefore = await coin(sides[42161]);
    await order();
    assert.deepEqual(await steps(2), ['signed', 'final']);
    assert.equal(before - (await held(sides[42161])), hundred);
    const { burn } = await load();
    const cost = burn.settled?.cost;
    assert.equal(cost?.rent, messageFee_wei.toString());
    assert.equal(
      coinBefore - (await coin(sides[42161])),
      BigInt(cost?.fee ?? 0) + messagePrice_wei,
      'the excess returned',
    );
    assert.equal(rebalanceStanding(await load()), 'sent');
    assert.equal(arrivingFrom(await load())?.amount, hundred);
    assert.match(await one(), /^receive: message 0x[0-9a-f]{64} is unverified$/);
    assert.equal(await layerZero.deliver(), 1);
    assert.match(await one(), /is delivered, and no final block has its arrival/);
    await finalize(1);
    assert.equal(await one(), 'receive: recorded');
    assert.equal((await held(sides[1])) - there, hundred);
    assert.deepEqual(transitOf(await load()), { burned: hundred, minted: hundred, fee: 0n, inTransit: 0n });
    assert.equal(rebalanceStanding(await load()), 'done');
    assert.equal(nextRebalanceStep(await load()).do, 'done');
  });

  it('locks on Ethereum with an allowance, and mints on Arbitrum', async () => {
    const [locked, there] = [await held(sides[1], oftOn(1)), await held(sides[42161])];
    await order(1);
    assert.deepEqual(await steps(2), ['signed', 'final']);
    assert.equal((await held(sides[1], oftOn(1))) - locked, hundred);
    await layerZero.deliver();
    await finalize(42161);
    assert.equal(await one(), 'receive: recorded');
    assert.equal((await held(sides[42161])) - there, hundred);
  });

  it('locks nothing without an allowance', async () => {
    await allow(0n);
    await order(1);
    const isMissing = (error: unknown) =>
      error instanceof PayoutBlocked && /may take 0(\.0+)? USDT/.test(error.message);
    await assert.rejects(one(), isMissing);
    await allow(50n * hundred);
    assert.deepEqual(await steps(2), ['signed', 'final']);
    await layerZero.deliver();
  });

  it('stays sent through an outage of the executor, and any account can deliver the message', async () => {
    layerZero.weather.undelivered = true;
    const there = await held(sides[42161]);
    await order(1);
    await steps(2);
    assert.equal(await layerZero.deliver(), 0);
    await finalize(42161);
    assert.match(await one(), /^receive: message 0x[0-9a-f]{64} is verified$/);
    assert.equal(rebalanceStanding(await load()), 'sent');
    assert.equal(transitOf(await load()).inTransit, hundred);
    const refusal = callOffRebalance(await load(), { reason: 'a test', by: 'ada', now: world.clock.now() });
    assert.ok(isRefusal(refusal));
    await deliverAsStranger(await load());
    await finalize(42161);
    assert.equal(await one(), 'receive: recorded');
    assert.equal((await held(sides[42161])) - there, hundred);
    layerZero.weather.undelivered = false;
    await layerZero.deliver();
    assert.equal((await held(sides[42161])) - there, hundred, 'one message arrives once');
  });

  it('is in transit again when its arrival leaves the chain in spite of its depth, and arrives once', async () => {
    const there = await held(sides[42161]);
    await order(1);
    await steps(2);
    await layerZero.deliver();
    await finalize(42161);
    assert.equal(await one(), 'receive: recorded');
    const first = (await load()).minted;
    const alarms: string[] = [];
    const worker = arrivalsWorker({
      ...{ handle: world.handle, clock: world.clock },
      railOn: (chainId) => (chainId === 42161 ? sides[42161].rail : undefined),
      arrivedSince: async () => [id()],
      alarm: ({ hash }) => void alarms.push(hash),
    });
    await worker.act(id(), signal);
    assert.equal(rebalanceStanding(await load()), 'done');
    // The delivery was in the block before the last three.
    await sides[42161].client.request({ method: 'anvil_reorg', params: [4, []] } as never);
    assert.equal(await held(sides[42161]), there);
    await worker.act(id(), signal);
    assert.deepEqual([rebalanceStanding(await load()), alarms], ['sent', [first?.hash]]);
    assert.match(await one(), /^receive: message 0x[0-9a-f]{64} is verified$/);
    await deliverAsStranger(await load());
    await finalize(42161);
    assert.equal(await one(), 'receive: recorded');
    assert.notEqual((await load()).minted?.hash, first?.hash);
    assert.equal((await held(sides[42161])) - there, hundred);
  });

  it('stays sent while its delivery fails, and arrives once it succeeds', async () => {
    const { client, token } = sides[42161];
    const freeze = async (value: boolean) => {
      const account = accountOf(41);
      await client.setBalance({ address: account, value: parseEther('1') });
      await client.impersonateAccount({ address: account });
      const data = encodeFunctionData({ abi: sandboxTokenAbi, functionName: 'setFrozen', args: [treasury, value] });
      await client.sendTransaction({ account, chain: null, to: token, data });
      await client.mine({ blocks: 1 });
    };
    const there = await held(sides[42161]);
    await order(1);
    await steps(2);
    await freeze(true);
    const { number: before } = await client.getBlock();
    assert.equal(await layerZero.deliver(), 0);
    const alert = toEventSelector(alertSignature);
    const asked = { address: layerZeroEndpoint as Address, fromBlock: before } as const;
    const logs = await client.getLogs(asked);
    assert.ok(logs.some(({ topics }) => topics[0] === alert));
    assert.match(await one(), /^receive: message 0x[0-9a-f]{64} is verified$/);
    await freeze(false);
    assert.equal(await layerZero.deliver(), 1);
    await finalize(42161);
    assert.equal(await one(), 'receive: recorded');
    assert.equal((await held(sides[42161])) - there, hundred);
  });

  it('arrives by an executor that starts after a later message was delivered', async () => {
    layerZero.weather.undelivered = true;
    const there = await held(sides[42161]);
    await order(1);
    await steps(2);
    const earlier = id();
    moves += 1;
    await order(1);
    await steps(2);
    await layerZero.deliver();
    await deliverAsStranger(await load());
    assert.equal((await held(sides[42161])) - there, hundred);
    const restarted = createMessages(
      new Map([
        [1, sides[1].rpcUrl],
        [42161, sides[42161].rpcUrl],
      ]),
    );
    await restarted.deliver();
    assert.equal((await held(sides[42161])) - there, 2n * hundred);
    await finalize(42161);
    assert.equal(await one(), 'receive: recorded');
    await attend(deps(), earlier, signal);
    const state = await currentState(world.handle, rebalance, earlier);
    assert.ok(state && rebalanceStanding(state) === 'done');
  });

  /** As the recovery by hand: `lzReceive` with the fields of the packet that the send's log has. */
  async function deliverAsStranger({ ordered, burn }: Rebalance): Promise<void> {
    const { client } = sides[42161];
    const stranger = accountOf(41);
    await client.setBalance({ address: stranger, value: parseEther('1') });
    await client.impersonateAccount({ address: stranger });
    const asked = {
      hash: burn.settled?.hash ?? '',
      account: treasury,
      to: 42161,
      recipient: treasury,
      amount: hundred,
    } as const;
    const sent = await sides[1].messages.sentBy(asked, signal);
    assert.ok(sent);
    const sender = `0x${oftOn(1).slice(2).toLowerCase().padStart(64, '0')}` as Hex;
    const origin = { srcEid: endpointIdOf(1), sender, nonce: sent.nonce };
    const to = ordered.to.account.slice(2).toLowerCase().padStart(64, '0');
    const message = `0x${to}${hundred.toString(16).padStart(16, '0')}` as Hex;
    const args = [origin, oftOn(42161) as Address, sent.guid as Hex, message, '0x'] as const;
    const data = encodeFunctionData({ abi: sandboxEndpoint.abi, functionName: 'lzReceive', args });
    const call = { to: layerZeroEndpoint as Address, data, gas: 1_000_000n };
    const hash = await client.sendTransaction({ account: stranger, chain: null, ...call });
    await client.mine({ blocks: 1 });
    assert.equal((await client.getTransactionReceipt({ hash })).status, 'success');
  }

  it('records no arrival of a message that the verifiers forged', async () => {
    const thief = accountOf(3);
    layerZero.weather.forge = (message) => `0x${thief.slice(2).toLowerCase().padStart(64, '0')}${message.slice(66)}`;
    await order(1);
    await steps(2);
    const stolen = await held(sides[42161], thief);
    await layerZero.deliver();
    await finalize(42161);
    assert.equal((await held(sides[42161], thief)) - stolen, hundred, 'the destination believes its verifiers');
    assert.match(await one(), /no final block has its arrival at our account/);
    assert.equal(rebalanceStanding(await load()), 'sent');
    assert.equal(transitOf(await load()).inTransit, hundred);
  });

  it('records no arrival of another amount', async () => {
    layerZero.weather.forge = (message) =>
      `${message.slice(0, 66)}${(hundred - 1n).toString(16).padStart(16, '0')}` as Hex;
    await order(1);
    await steps(2);
    await layerZero.deliver();
    await finalize(42161);
    assert.match(await one(), /99999999 arrived of 100000000 sent: an operator must check it/);
    assert.equal(rebalanceStanding(await load()), 'sent');
  });

  it('waits for a lower fee instead of sending more coin than ordered', async () => {
    const { client } = sides[42161];
    const price = async (wei: bigint) => {
      const data = encodeFunctionData({ abi: sandboxEndpoint.abi, functionName: 'setPrice', args: [wei] });
      const account = accountOf(41);
      await client.setBalance({ address: account, value: parseEther('1') });
      await client.impersonateAccount({ address: account });
      await client.sendTransaction({ account, chain: null, to: layerZeroEndpoint as Address, data });
      await client.mine({ blocks: 1 });
    };
    await order();
    await price(messagePrice_wei * 2n);
    const isDear = (error: unknown) =>
      error instanceof PayoutBlocked && error.reason === 'gas' && /400000000000000 wei now/.test(error.message);
    await assert.rejects(one(), isDear);
    await price(0n);
    assert.deepEqual(await steps(2), ['signed', 'final']);
  });

  it('accepts no message of another send for its own', async () => {
    await order();
    await steps(2);
    const hash = (await load()).burn.settled?.hash ?? '';
    const asked = { hash, account: treasury, to: 1, recipient: treasury, amount: hundred } as const;
    const { messages } = sides[42161];
    assert.ok(await messages.sentBy(asked, signal));
    const other = accountOf(3);
    for (const change of [{ recipient: other }, { amount: hundred - 1n }, { to: 137 as const }, { account: other }])
      assert.equal(await messages.sentBy({ ...asked, ...change }, signal), null, Object.keys(change).join());
    assert.equal(await messages.sentBy({ ...asked, hash: keccak256('0x01') }, signal), null);
  });

  describe('on an operator’s order', () => {
    const ordering = (change: Partial<MoveDeps> = {}, asked: Partial<AskedMove> = {}) =>
      orderMove(
        {
          ...{ handle: world.handle, clock: world.clock, attestations: null, oftOn: deps().oftOn },
          accountOn: (chainId) => ([1, 42161, 8453].includes(chainId) ? treasury : undefined),
          ...{ approval_microUsd: 1_000_000_000n, perTransfer_microUsd: 5_000_000_000n },
          ...change,
        },
        { chain: '42161', asset: 'usdt', amount: '100', towards: '1', reason: 'a test', ...asked },
        { cause: 'operator:ada' },
        signal,
      );

    it('sends the present fee and a quarter more along, once until it is over', async () => {
      const first = await ordering();
      assert.ok(!isRefusal(first) && first.isNew);
      assert.deepEqual(first.state.ordered.route, sendOrder().route);
      const again = await ordering();
      assert.ok(!isRefusal(again) && !again.isNew);
      assert.equal(again.id, first.id);
      const large = await ordering({ approval_microUsd: 1n }, { amount: '101' });
      assert.ok(!isRefusal(large));
      assert.equal(rebalanceStanding(large.state), 'waitsForApproval');
    });

    it('is refused without a route or an amount within the signer’s limit', async () => {
      const refused = async (why: RegExp, asked: Partial<AskedMove>) => {
        const outcome = await ordering({}, asked);
        assert.match(isRefusal(outcome) ? outcome.message : 'ordered', why);
      };
      await refused(/USDT0 has no route to or from Base/, { towards: '8453' });
      await refused(/137 is no chain that is configured here/, { towards: '137' });
      await refused(/from one chain to another/, { towards: '42161' });
      await refused(/is no amount of USDT/, { amount: '0' });
      await refused(/split it/, { amount: '5000.01' });
      await refused(/one speed/, { fast: true });
    });
  });
});
