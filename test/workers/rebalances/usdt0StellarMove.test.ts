/** Money moves between Polygon and Stellar by USDT0, on local chains, with an executor with weather. */
import assert from 'node:assert/strict';
import { Keypair, StrKey, scValToNative, xdr } from '@stellar/stellar-sdk';
import { type Address, erc20Abi, parseEther } from 'viem';
import { currentState } from '../../../commands/handle.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { address32 } from '../../../domain/rebalance/burnMessage.ts';
import type { RebalanceOrdered } from '../../../domain/rebalance/events.ts';
import { arrivingFrom, transitOf } from '../../../domain/rebalance/inTransit.ts';
import {
  burnPart,
  nextRebalanceStep,
  orderRebalance,
  type Rebalance,
  type RebalanceState,
  rebalance,
  rebalanceLegs,
  rebalanceStanding,
} from '../../../domain/rebalance/rebalance.ts';
import { endpointIdOf, oftOn, sendableOn, stellarUsdt0, usdt0Route } from '../../../domain/rebalance/usdt0.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { messagePrice_stroops } from '../../../sandbox/stellar/contracts/usdt0.ts';
import { fundAccount, openTrustline, usdt } from '../../../sandbox/stellar/controls.ts';
import { fund } from '../../../sandbox/tokens.ts';
import { createMessages, type Messages, plantUsdt0 } from '../../../sandbox/usdt0.ts';
import { createOftMessages } from '../../../src/chains/evm/oftMessages.ts';
import { createEvmPayoutRail } from '../../../src/chains/evm/payouts/rail.ts';
import { createEvmRpc } from '../../../src/chains/evm/rpc.ts';
import { createEvmSigner } from '../../../src/chains/evm/signer/signer.ts';
import { createCanReceive } from '../../../src/chains/money/receiverCheck.ts';
import type { OftMessages } from '../../../src/chains/oftMessages.ts';
import { PayoutBlocked, type Signer, type TransferOrder } from '../../../src/chains/ports.ts';
import { createStellarHistory } from '../../../src/chains/stellar/history.ts';
import { createStellarOftMessages } from '../../../src/chains/stellar/oftMessages.ts';
import { obstacle } from '../../../src/chains/stellar/payouts/preflight.ts';
import { createStellarPayoutRail } from '../../../src/chains/stellar/payouts/rail.ts';
import { createStellarRpc } from '../../../src/chains/stellar/rpc.ts';
import { createStellarSigner } from '../../../src/chains/stellar/signer/signer.ts';
import { describeUsdt0 } from '../../../src/chains/stellar/usdt0.ts';
import { rebalanceOwner } from '../../../src/workers/payouts/owners.ts';
import { attend } from '../../../src/workers/rebalances/attend.ts';
import { orderMove } from '../../../src/workers/rebalances/order.ts';
import { evmConfig } from '../../chains/evm/world.ts';
import { type StellarWorld, scanned, stellarWorld } from '../../chains/stellar/world.ts';
import { type ChainClient, chainClient, isolatedAnvil, treasury, treasuryKey } from '../../support/anvil.ts';
import { createWorld, type World } from '../../support/histories.ts';
import { addressArg, i128Arg } from '../../support/stellar.ts';

const { signal } = new AbortController();
const hundred = 100_000_000n;
/** 100 USDT on Stellar. */
const hundredThere = 10n * hundred;
const depths = { final: 1, finalLarge: 2, payout: 1 };
type Side = 137 | 1500;

describe('a rebalance by USDT0 with Stellar', () => {
  let polygon: ChainClient;
  let stellar: StellarWorld;
  let layerZero: Messages;
  let rails: { 137: ReturnType<typeof createEvmPayoutRail>; 1500: ReturnType<typeof createStellarPayoutRail> };
  let signers: Readonly<Record<Side, Signer>>;
  let readers: Readonly<Record<Side, OftMessages>>;
  let account: string;
  let world = createWorld() as World;
  let moves = 0;

  before(async () => {
    const { rpcUrl } = await isolatedAnvil(137);
    polygon = chainClient(rpcUrl);
    const base = evmConfig(137, [rpcUrl]);
    const config = { ...base, depths: { ...base.depths, ...depths } };
    stellar = await stellarWorld({ now_s: () => Math.floor(Date.now() / 1_000) });
    account = stellar.treasury.publicKey();
    await plantUsdt0(rpcUrl, 137);
    await plantUsdt0(stellar.stellar.rpcUrl, 1500);
    const own = stellar.config();
    const [evmRpc, stellarRpc] = [createEvmRpc(config), createStellarRpc(own)];
    rails = { 137: createEvmPayoutRail(config, treasury, evmRpc), 1500: createStellarPayoutRail(own, stellarRpc) };
    readers = { 137: createOftMessages(config, evmRpc), 1500: createStellarOftMessages(own, stellarRpc) };
    const spending = () => () => {};
    const clock = { now: () => new Date().toISOString() as never };
    const secret = stellar.treasury.secret();
    signers = {
      137: createEvmSigner({ privateKey: treasuryKey, spending, stellarAccount: account }),
      1500: createStellarSigner({ secret, config: own, clock, spending, evmAccount: treasury }),
    };
    layerZero = createMessages(
      new Map<Side, string>([
        [137, rpcUrl],
        [1500, stellar.stellar.rpcUrl],
      ]),
    );
    await fund(rpcUrl, 137, treasury, { gas: parseEther('10'), tokens: { USDT: 100n * hundred } });
  });
  beforeEach(() => {
    world = createWorld();
    moves += 1;
    Object.assign(layerZero.weather, { unverified: false, undelivered: false, forge: null });
  });

  const tokenOn = (chainId: Side) => {
    const { symbol, address, decimals } = sendableOn(chainId) ?? assert.fail();
    return { symbol, address, decimals };
  };
  const endOn = (chainId: Side) =>
    ({ chainId, account: chainId === 137 ? treasury : account, token: tokenOn(chainId) }) as const;
  const orderOf = (from: Side, change: Partial<RebalanceOrdered> = {}): RebalanceOrdered => {
    const to = from === 137 ? 1500 : 137;
    return {
      ...{ from: endOn(from), to: endOn(to), amount: String(from === 137 ? hundred : hundredThere) },
      route: usdt0Route(from, to, from === 137 ? 10n ** 15n : 8_000_000n),
      ...{ value_microUsd: hundred.toString(), approvals: 0, reason: 'a test', by: 'ada' },
      orderedAt: world.clock.now(),
      ...change,
    };
  };
  const heldThere = async (holder = account): Promise<bigint> => {
    const { balanceEntry } = await stellar.lab.server.getAssetBalance(holder, usdt, stellar.lab.passphrase);
    return BigInt(balanceEntry?.amount ?? 0);
  };
  const heldOn = async (chainId: Side): Promise<bigint> => {
    if (chainId === 1500) return heldThere();
    const call = { address: tokenOn(137).address as Address, abi: erc20Abi, functionName: 'balanceOf' } as const;
    return polygon.readContract({ ...call, args: [treasury] });
  };
  const lumens = async () => BigInt((await stellar.lab.server.getAccountEntry(account)).balance().toString());
  const id = () => `send-${moves}`;
  const facts = { cause: 'worker:rebalances', appId: null } as const;
  const load = async (): Promise<Rebalance> => (await currentState(world.handle, rebalance, id())) ?? assert.fail();
  const deps = () => ({
    ...{ handle: world.handle, clock: world.clock, attestations: null, mintsOn: () => undefined },
    oftOn: (chainId: number) => readers[chainId as Side],
  });

  async function record(decide: (state: RebalanceState) => unknown): Promise<void> {
    const outcome = await world.handle(rebalance, id(), decide as never, facts);
    assert.ok(!isRefusal(outcome), isRefusal(outcome) ? outcome.message : '');
  }
  const order = (from: Side, change?: Partial<RebalanceOrdered>) =>
    record((state) => orderRebalance(state, orderOf(from, change)));

  async function signed(asked: TransferOrder, attempt = 1): Promise<SignedAttempt> {
    const chainId = asked.chainId as Side;
    const { numbering } = rails[chainId];
    const unsigned = await numbering.prepare(asked, await numbering.minedNonce(signal));
    const { bytes, hash } = await signers[chainId].sign(unsigned, { kind: 'burn', reference: 'a test' });
    const { nonce, validUntil, fee } = unsigned;
    const { token, receiver, receiverMemo, amount } = asked;
    return {
      ...{ attempt, chainId, account: unsigned.account, nonce: String(nonce), hash, bytes, validUntil, fee, token },
      ...{ receiver, receiverMemo, amount: amount.toString(), signedAt: world.clock.now() },
    } as SignedAttempt;
  }
  const settle = async () => void (await polygon.mine({ blocks: 4 }));

  /** Does one step in a newly started process, which knows only the log. */
  async function one(): Promise<string> {
    const state = await load();
    const step = nextRebalanceStep(state);
    if (step.do !== 'transfer') {
      const attended = await attend(deps(), id(), signal);
      return `${step.do}: ${attended.kind === 'waits' ? attended.why : attended.kind}`;
    }
    const { order: asked, attempts: before } = state.burn;
    if (step.step.do === 'sign') {
      const attempt = await signed(asked, before.length + 1);
      await record((current) => rebalanceLegs.sign(current, burnPart, attempt));
      return 'signed';
    }
    assert.ok(step.step.do === 'broadcast');
    const rail = rails[asked.chainId as Side];
    const attempts = step.step.attempts.map((each) => ({ ...each, form: asked.form }));
    for (const { bytes } of attempts) await rail.broadcast(bytes);
    if (asked.chainId === 137) await settle();
    const fate = await rail.fate(attempts as never, signal);
    assert.ok(fate.kind !== 'pending');
    await record((current) => rebalanceLegs.conclude(current, burnPart, fate as never, world.clock.now()));
    return fate.kind;
  }
  async function until(last: string): Promise<readonly string[]> {
    const did: string[] = [];
    while (did.at(-1) !== last) {
      did.push(await one());
      assert.ok(did.length < 20, did.join('; '));
    }
    return did;
  }

  const receiverChecks = () => ({ stellar: createCanReceive(createStellarRpc(stellar.config()), obstacle) });
  const moveDeps = () => ({
    ...{ ...deps(), receiverChecks: receiverChecks() },
    accountOn: (chainId: number) => endOn(chainId as Side).account,
    ...{ approval_microUsd: 1_000_000_000n, perTransfer_microUsd: 200_000_000n },
  });
  /** Checks before the signature of the move's burn. @throws PayoutBlocked */
  async function proveBurn(): Promise<void> {
    const owedOn = async () => ({ tokens: new Map(), coin: 0n, payouts: 0 });
    const railOf = (chainId: number) => rails[chainId as Side];
    const { handle, clock } = world;
    const owner = rebalanceOwner({ handle, clock, railOf, owedOn, receiverChecks: receiverChecks() });
    await owner.proveFunding?.({ kind: 'rebalance', id: id(), part: burnPart }, signal);
  }

  it('is refused before anything is burned while the treasury has no trustline', async () => {
    const asked = { chain: '137', asset: 'USDT', amount: '100', towards: 'stellar', reason: 'a test' };
    const refused = await orderMove(moveDeps(), asked, { cause: 'operator:ada' }, signal);
    assert.ok(isRefusal(refused));
    assert.match(
      refused.message,
      new RegExp(`^the account ${account} has no trustline for USDT of ${usdt.getIssuer()}`),
    );
    // The trustline was removed since the order, or the policy ordered the move.
    await order(137);
    const isMissing = (error: unknown) =>
      error instanceof PayoutBlocked && /has no trustline.*burned/.test(error.message);
    await assert.rejects(proveBurn(), isMissing);
    assert.deepEqual((await load()).burn.attempts, []);
  });

  it('waits with a reason if the trustline is missing behind the burn, and arrives by any account once there is one', async () => {
    await order(137);
    assert.deepEqual(await until('final'), ['signed', 'final']);
    assert.match(await one(), /^receive: message 0x[0-9a-f]{64} is unverified$/);
    assert.equal(await layerZero.deliver(), 0);
    assert.match(await one(), /is verified$/);
    await openTrustline(stellar.stellar.rpcUrl, account, usdt);
    await proveBurn();
    // Any account delivers it: the executor stays away.
    layerZero.weather.undelivered = true;
    const packet = await sentPacket();
    const stranger = await stellar.lab.person();
    const got = await stellar.lab.call(stranger, oftOn(1500), 'lz_receive', ...deliveryOf(packet, stranger));
    assert.equal(got.status, 'SUCCESS');
    assert.deepEqual(await until('receive: recorded'), ['receive: recorded']);
    const state = await load();
    assert.deepEqual([state.minted?.hash, state.minted?.received], [got.txHash, hundredThere]);
    assert.equal(await heldThere(), hundredThere);
    await assert.rejects(
      stellar.lab.call(stranger, oftOn(1500), 'lz_receive', ...deliveryOf(packet, stranger)),
      /wrongPayload/,
    );
    // The executor finds it delivered.
    layerZero.weather.undelivered = false;
    assert.equal(await layerZero.deliver(), 1);
    assert.equal(await heldThere(), hundredThere);
  });

  /** Last packet that Polygon sent, as its log has it. */
  async function sentPacket(): Promise<string> {
    const logs = await polygon.getLogs({ address: '0x1a44076050125825900e736c501f859c50fE728c', fromBlock: 0n });
    const data = logs.map((each) => each.data).findLast((each) => each.includes(address32(oftOn(1500))));
    const at = data?.indexOf(`${'0'.repeat(8)}`) ?? -1;
    assert.ok(data !== undefined && at >= 0);
    // The head is three words; the packet's length follows, then its bytes.
    const length = Number(BigInt(`0x${data.slice(2 + 3 * 64, 2 + 4 * 64)}`));
    return data.slice(2 + 4 * 64, 2 + 4 * 64 + 2 * length);
  }
  function deliveryOf(packet: string, executor: Keypair): xdr.ScVal[] {
    const bytes = (hex: string) => xdr.ScVal.scvBytes(Buffer.from(hex, 'hex'));
    const entry = (name: string, val: xdr.ScVal) => new xdr.ScMapEntry({ key: xdr.ScVal.scvSymbol(name), val });
    const origin = xdr.ScVal.scvMap([
      entry('nonce', xdr.ScVal.scvU64(xdr.Uint64.fromString(BigInt(`0x${packet.slice(2, 18)}`).toString()))),
      entry('sender', bytes(address32(oftOn(137)))),
      entry('src_eid', xdr.ScVal.scvU32(endpointIdOf(137))),
    ]);
    const [guid, message] = [packet.slice(162, 226), packet.slice(226)];
    return [addressArg(executor.publicKey()), origin, bytes(guid), bytes(message), bytes(''), i128Arg(0n)];
  }

  it('burns on Polygon and arrives on Stellar with a seventh decimal of 0, and is no payin', async () => {
    const [before, there, from] = [await heldOn(137), await heldOn(1500), stellar.here()];
    await order(137);
    await until('final');
    assert.equal(await layerZero.deliver(), 1);
    assert.deepEqual(await until('receive: recorded'), ['receive: recorded']);
    assert.equal(before - (await heldOn(137)), hundred);
    assert.equal((await heldOn(1500)) - there, hundredThere);
    assert.deepEqual(transitOf(await load()), { burned: hundred, minted: hundred, fee: 0n, inTransit: 0n });
    assert.deepEqual((await scanned(stellar.config(), from)).logs, []);
  });

  it('burns on Stellar, arrives on Polygon, and books the lumens that the message cost', async () => {
    const [before, there, coin] = [await heldOn(1500), await heldOn(137), await lumens()];
    await order(1500);
    await until('final');
    assert.equal(arrivingFrom(await load())?.amount, hundred);
    assert.equal(await layerZero.deliver(), 1);
    await settle();
    assert.deepEqual(await until('receive: recorded'), ['receive: recorded']);
    assert.equal(before - (await heldOn(1500)), hundredThere);
    assert.equal((await heldOn(137)) - there, hundred);
    const state = await load();
    assert.deepEqual(transitOf(state), { burned: hundredThere, minted: hundredThere, fee: 0n, inTransit: 0n });
    const cost = state.burn.settled?.cost;
    assert.equal(cost?.rent, messagePrice_stroops.toString());
    // The Endpoint returned the excess of the ordered fee in the same transaction.
    assert.equal(coin - (await lumens()), BigInt(cost?.fee ?? 0) + messagePrice_stroops);
    const config = stellar.config();
    const history = createStellarHistory(config, createStellarRpc(config));
    const block = BigInt(state.burn.settled?.blockNumber ?? 0);
    const range = { from: block, to: block, order: 'oldestFirst', max: 10, after: null } as const;
    const page = await history.transactions({ account, ...range }, signal);
    const own = page.transactions.find(({ txHash }) => txHash === state.burn.settled?.hash);
    const sum = (asset: string) =>
      (own?.changes ?? []).filter((each) => each.asset === asset).reduce((all, { amount }) => all + amount, 0n);
    assert.deepEqual([sum('coin'), sum(tokenOn(1500).address)], [-messagePrice_stroops, -hundredThere]);
  });

  it('records no arrival of an altered message, though the verifiers signed it', async () => {
    const thief = Keypair.random().publicKey();
    await openTrustline(stellar.stellar.rpcUrl, thief, usdt);
    await order(137);
    await until('final');
    const key = StrKey.decodeEd25519PublicKey(thief).toString('hex');
    layerZero.weather.forge = (message) => `0x${key}${message.slice(66)}`;
    assert.equal(await layerZero.deliver(), 1);
    assert.equal(await heldThere(thief), hundredThere);
    assert.match(await one(), /delivered, and no final block has its arrival at our account$/);
    assert.equal(rebalanceStanding(await load()), 'sent');
  });

  it('records no arrival of less than the whole amount', async () => {
    await order(137);
    await until('final');
    layerZero.weather.forge = (message) =>
      `${message.slice(0, 66)}${(hundred - 1n).toString(16).padStart(16, '0')}` as never;
    assert.equal(await layerZero.deliver(), 1);
    assert.match(await one(), /999999990 arrived of 1000000000 sent/);
  });

  it('takes an event of another contract with the same id for no arrival', async () => {
    layerZero.weather.unverified = true;
    await order(137);
    await until('final');
    await layerZero.deliver();
    const asked = {
      hash: (await load()).burn.settled?.hash ?? '',
      account: treasury,
      to: 1500,
      recipient: account,
    } as const;
    const sent = await readers[137].sentBy({ ...asked, amount: hundred }, signal);
    assert.ok(sent);
    const arrival = { ...sent, from: 137, account, token: tokenOn(1500).address } as const;
    assert.equal(await readers[1500].arrivalOf(arrival, signal), null);
    assert.equal(await readers[1500].stateOf(arrival, signal), 'unverified');
    // The reader accepts no other recipient of the send.
    assert.equal(
      await readers[137].sentBy({ ...asked, recipient: Keypair.random().publicKey(), amount: hundred }, signal),
      null,
    );
    layerZero.weather.unverified = false;
    assert.equal(await layerZero.deliver(), 1);
    assert.equal((await readers[1500].arrivalOf(arrival, signal))?.received, hundredThere);
    assert.equal(await readers[1500].arrivalOf({ ...arrival, guid: `0x${'9d'.repeat(32)}` }, signal), null);
    assert.equal(await readers[1500].arrivalOf({ ...arrival, account: Keypair.random().publicKey() }, signal), null);
  });

  it('signs nothing while the message costs more than ordered, the float is short, or the order has a seventh decimal', async () => {
    await order(1500, { route: usdt0Route(1500, 137, messagePrice_stroops - 1n) });
    const blocked = (why: RegExp) =>
      assert.rejects(one(), (error) => error instanceof PayoutBlocked && why.test(error.message));
    await blocked(/costs 5000000 stroops now, and 4999999 were ordered/);
    moves += 1;
    const tooMuch = (await heldOn(1500)) + 10n;
    await order(1500, { amount: tooMuch.toString() });
    await blocked(/USDT/);
    moves += 1;
    const refused = await world.handle(
      rebalance,
      id(),
      (state) => orderRebalance(state, orderOf(1500, { amount: (hundredThere + 1n).toString() })),
      facts,
    );
    assert.ok(isRefusal(refused) && /seventh decimal/.test(refused.message));
  });

  it('asks the treasury for the amount and the fee alone', async () => {
    await fundAccount(stellar.stellar.rpcUrl, account, { usdt: hundredThere });
    await order(1500);
    const { order: asked } = (await load()).burn;
    const { numbering } = rails[1500];
    const unsigned = await numbering.prepare(asked, await numbering.minedNonce(signal));
    const { envelope } = unsigned.payload as { readonly envelope: string };
    const [operation] = xdr.TransactionEnvelope.fromXDR(envelope, 'base64').v1().tx().operations();
    const auth = operation?.body().invokeHostFunctionOp().auth() ?? [];
    const calls = auth
      .flatMap((entry) => entry.rootInvocation().subInvocations())
      .map((each) => {
        const call = each.function().contractFn();
        return [call.functionName().toString(), call.args().map(scValToNative)];
      });
    assert.deepEqual(calls, [
      ['burn', [account, hundredThere]],
      ['transfer', [account, stellarUsdt0.endpoint, 8_000_000n]],
    ]);
  });

  it('is ordered by hand in whole tokens', async () => {
    const asked = { chain: 'stellar', asset: 'USDT', amount: '12.5', towards: '137', reason: 'a test' };
    const limited = { ...moveDeps(), perTransfer_microUsd: 20_000_000n };
    const ordering = (change: Partial<typeof asked> = {}) =>
      orderMove(limited, { ...asked, ...change }, { cause: 'operator:ada' }, signal);
    const outcome = await ordering();
    assert.ok(!isRefusal(outcome), isRefusal(outcome) ? outcome.message : '');
    const { amount, value_microUsd, route } = outcome.state.ordered;
    assert.deepEqual([amount, value_microUsd, route.messenger], ['125000000', '12500000', oftOn(1500)]);
    assert.ok(route.kind === 'oft');
    assert.equal(route.messageFee, '6250000');
    const why = async (change: Partial<typeof asked>) => {
      const result = await ordering(change);
      return isRefusal(result) ? result.message : 'ordered';
    };
    assert.match(await why({ amount: '1.0000001' }), /seventh decimal/);
    assert.match(await why({ amount: '20.000001' }), /split it/);
  });

  it('is described to an operator before the first send', async () => {
    const own = createStellarRpc(stellar.config());
    const told = (holder: string) => own.answer((node) => describeUsdt0(node, stellar.lab.passphrase, holder));
    assert.match(await told(account), /^the contracts of this release; a message costs 5000000 stroops to [^;]*$/);
    const holder = (await stellar.lab.person()).publicKey();
    assert.match(await told(holder), /to Polygon; no move to Stellar is burned: .* has no trustline for USDT of GATIS/);
    const bare = await stellarWorld();
    const without = createStellarRpc(bare.config());
    assert.match(
      await without.answer((node) => describeUsdt0(node, bare.lab.passphrase, bare.treasury.publicKey())),
      /^no contract at .*: send nothing/,
    );
  });
});
