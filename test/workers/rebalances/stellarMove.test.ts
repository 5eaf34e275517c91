/** Money moves from Polygon to Stellar and back on two local chains, through the forwarder, with the protocol's bytes. */
import assert from 'node:assert/strict';
import { Keypair, Operation, xdr } from '@stellar/stellar-sdk';
import { type Address, erc20Abi, parseEther } from 'viem';
import { currentState } from '../../../commands/handle.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { parseBurnMessage } from '../../../domain/rebalance/burnMessage.ts';
import {
  type CctpChainId,
  domainOf,
  type Finality,
  fast,
  routeContracts,
  standard,
  stellarCctp,
} from '../../../domain/rebalance/cctp.ts';
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
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { type AttestationService, plantCctp, startAttestations } from '../../../sandbox/cctp.ts';
import { fund } from '../../../sandbox/tokens.ts';
import { createAttestations } from '../../../src/chains/attestations.ts';
import { mintCall } from '../../../src/chains/evm/cctp.ts';
import { createMintReader } from '../../../src/chains/evm/mints.ts';
import { createEvmPayoutRail } from '../../../src/chains/evm/payouts/rail.ts';
import { createEvmSigner } from '../../../src/chains/evm/signer/signer.ts';
import type { MintReader } from '../../../src/chains/mints.ts';
import { PayoutBlocked, type Signer, type TransferOrder } from '../../../src/chains/ports.ts';
import { describeContracts } from '../../../src/chains/stellar/cctp.ts';
import { createStellarMintReader } from '../../../src/chains/stellar/mints.ts';
import { createStellarPayoutRail } from '../../../src/chains/stellar/payouts/rail.ts';
import { createStellarRpc } from '../../../src/chains/stellar/rpc.ts';
import { createStellarSigner } from '../../../src/chains/stellar/signer/signer.ts';
import { attend } from '../../../src/workers/rebalances/attend.ts';
import { orderMove } from '../../../src/workers/rebalances/order.ts';
import { evmConfig } from '../../chains/evm/world.ts';
import { type StellarWorld, scanned, signal, stellarWorld } from '../../chains/stellar/world.ts';
import { type ChainClient, chainClient, isolatedAnvil, treasury, treasuryKey } from '../../support/anvil.ts';
import { createWorld, type World } from '../../support/histories.ts';

const hundred = 100_000_000n;
const depths = { final: 1, finalLarge: 2, payout: 1 };
const polygonUsdc = { symbol: 'USDC', address: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', decimals: 6 } as const;
const stellarUsdc = {
  symbol: 'USDC',
  address: 'USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
  decimals: 7,
} as const;
type Side = 137 | 1500;

describe('a rebalance with Stellar', () => {
  let polygon: ChainClient;
  let stellar: StellarWorld;
  let rails: { 137: ReturnType<typeof createEvmPayoutRail>; 1500: ReturnType<typeof createStellarPayoutRail> };
  let signers: Readonly<Record<Side, Signer>>;
  let mints: Readonly<Record<Side, MintReader>>;
  let service: AttestationService;
  let account: string;
  let world = createWorld() as World;
  let moves = 0;

  before(async () => {
    const { rpcUrl } = await isolatedAnvil(137);
    polygon = chainClient(rpcUrl);
    await plantCctp(rpcUrl, 137);
    const base = evmConfig(137, [rpcUrl]);
    const config = { ...base, depths: { ...base.depths, ...depths } };
    stellar = await stellarWorld({ now_s: () => Math.floor(Date.now() / 1_000) });
    await plantCctp(stellar.stellar.rpcUrl, 1500);
    account = stellar.treasury.publicKey();
    // Its payers need a memo (SEP-29), the forwarder does not.
    const memoRequired = Operation.manageData({ name: 'config.memo_required', value: '1' });
    assert.equal((await stellar.lab.go(stellar.treasury, [memoRequired])).status, 'SUCCESS');
    const own = stellar.config();
    const rpc = createStellarRpc(own);
    rails = { 137: createEvmPayoutRail(config, treasury), 1500: createStellarPayoutRail(own, rpc) };
    mints = { 137: createMintReader(config), 1500: createStellarMintReader(own, rpc) };
    const spending = () => () => {};
    const clock = { now: () => new Date().toISOString() as never };
    const secret = stellar.treasury.secret();
    signers = {
      137: createEvmSigner({ privateKey: treasuryKey, spending, stellarAccount: account }),
      1500: createStellarSigner({ secret, config: own, clock, spending, evmAccount: treasury }),
    };
    service = await startAttestations(
      new Map<CctpChainId, string>([
        [137, rpcUrl],
        [1500, stellar.stellar.rpcUrl],
      ]),
    );
    await fund(rpcUrl, 137, treasury, { gas: parseEther('10'), tokens: { USDC: 1_000n * hundred } });
    await allow(137, 100n * hundred);
    await allow(1500, 1_000n * hundred);
  });
  after(() => service?.close());
  beforeEach(() => {
    world = createWorld();
    moves += 1;
    service.weather.forge = null;
  });

  const ends = () =>
    ({
      137: { chainId: 137, account: treasury, token: polygonUsdc },
      1500: { chainId: 1500, account, token: stellarUsdc },
    }) as const;
  const orderOf = (from: Side, to: Side, finality: Finality = standard): RebalanceOrdered => ({
    ...{ from: ends()[from], to: ends()[to] },
    amount: String(from === 1500 ? hundred * 10n : hundred),
    route: {
      ...{ kind: 'cctp', sourceDomain: domainOf(from), destinationDomain: domainOf(to), ...routeContracts(from, to) },
      ...{ finality, feeMax: from === 1500 ? '200000' : '20000' },
    },
    ...{ value_microUsd: hundred.toString(), approvals: 0, reason: 'a test', by: 'ada' },
    orderedAt: world.clock.now(),
  });
  const heldOn = async (chainId: Side): Promise<bigint> => {
    if (chainId === 1500) return stellar.lab.balance(account);
    const call = { address: polygonUsdc.address as Address, abi: erc20Abi, functionName: 'balanceOf' } as const;
    return polygon.readContract({ ...call, args: [treasury] });
  };
  const id = () => `stellar-${moves}`;
  const facts = { cause: 'worker:rebalances', appId: null } as const;
  const load = async (): Promise<Rebalance> => {
    const state = await currentState(world.handle, rebalance, id());
    assert.ok(state);
    return state;
  };
  const deps = () => ({
    handle: world.handle,
    clock: world.clock,
    attestations: createAttestations({ url: service.url, clock: world.clock }),
    mintsOn: (chainId: number) => mints[chainId as Side],
  });
  const settle = async (chainId: Side) => {
    if (chainId === 137) await polygon.mine({ blocks: 3 });
  };

  async function signed(order: TransferOrder, kind: 'burn' | 'mint' | 'deployment', attempt = 1) {
    const chainId = order.chainId as Side;
    const { numbering } = rails[chainId];
    const unsigned = await numbering.prepare(order, await numbering.minedNonce(signal));
    const { bytes, hash } = await signers[chainId].sign(unsigned, { kind, reference: 'a test' });
    const { nonce, validUntil, fee } = unsigned;
    const { token, receiver, receiverMemo, amount } = order;
    return {
      ...{ attempt, chainId, account: unsigned.account, nonce: String(nonce), hash, bytes, validUntil, fee, token },
      ...{ receiver, receiverMemo, amount: amount.toString(), signedAt: world.clock.now() },
    } as SignedAttempt;
  }

  async function allow(chainId: Side, most: bigint): Promise<void> {
    const { messenger } = routeContracts(chainId, chainId === 137 ? 1500 : 137);
    const form = { kind: 'allow', contract: 'tokenMessenger', most: most.toString() } as const;
    const order = { chainId, token: ends()[chainId].token, receiver: messenger, receiverMemo: null, amount: 0n, form };
    await rails[chainId].broadcast((await signed(order, 'deployment')).bytes);
    await settle(chainId);
  }

  async function order(from: Side, to: Side, finality?: Finality): Promise<void> {
    const asked = orderOf(from, to, finality);
    const outcome = await world.handle(rebalance, id(), (now) => orderRebalance(now, asked), facts);
    assert.ok(!isRefusal(outcome), isRefusal(outcome) ? outcome.message : '');
  }

  /** Takes one step in a newly started process, which knows only the log: the next call replaces one that died after any step. */
  async function one(): Promise<string> {
    const state = await load();
    const step = nextRebalanceStep(state);
    if (step.do !== 'transfer') {
      const attended = await attend(deps(), id(), signal);
      return `${step.do}: ${attended.kind === 'waits' ? attended.why : attended.kind}`;
    }
    const kind = step.part === burnPart ? 'burn' : 'mint';
    const leg = step.part === burnPart ? state.burn : state.mint;
    assert.ok(leg);
    const chainId = leg.order.chainId as Side;
    if (step.step.do === 'sign') {
      const attempt = await signed(leg.order, kind, leg.attempts.length + 1);
      await record((current) => rebalanceLegs.sign(current, step.part, attempt));
      return `signed ${kind}`;
    }
    assert.ok(step.step.do === 'broadcast');
    const attempts = step.step.attempts.map((each) => ({ ...each, form: leg.order.form }));
    for (const { bytes } of attempts) await rails[chainId].broadcast(bytes);
    await settle(chainId);
    const fate = await rails[chainId].fate(attempts as never, signal);
    assert.ok(fate.kind !== 'pending');
    await record((current) => rebalanceLegs.conclude(current, step.part, fate as never, world.clock.now()));
    return `${fate.kind} ${kind}`;
  }

  async function record(decide: (state: RebalanceState) => unknown): Promise<void> {
    const outcome = await world.handle(rebalance, id(), decide as never, facts);
    assert.ok(!isRefusal(outcome), isRefusal(outcome) ? outcome.message : '');
  }

  async function until(last: string): Promise<readonly string[]> {
    const did: string[] = [];
    while (did.at(-1) !== last) {
      did.push(await one());
      assert.ok(did.length < 20, did.join('; '));
    }
    return did;
  }

  const whole = ['signed burn', 'final burn', 'attest: recorded', 'signed mint', 'final mint'];

  it('burns on Polygon and mints through the forwarder, with a seventh decimal of 0, and is no payin', async () => {
    const [polygonBefore, stellarBefore, from] = [await heldOn(137), await heldOn(1500), stellar.here()];
    await order(137, 1500);
    assert.deepEqual(await until('final mint'), whole);
    assert.equal(polygonBefore - (await heldOn(137)), hundred);
    assert.equal((await heldOn(1500)) - stellarBefore, hundred * 10n);
    const state = await load();
    assert.equal(state.minted?.received, hundred * 10n);
    assert.deepEqual(transitOf(state), { burned: hundred, minted: hundred, fee: 0n, inTransit: 0n });
    assert.deepEqual((await scanned(stellar.config(), from)).logs, []);
    const message = parseBurnMessage(state.attested?.message ?? '');
    assert.equal(message?.mintRecipient, message?.destinationCaller);
    const hook = Buffer.from(message?.hookData ?? '', 'hex');
    assert.deepEqual([hook.subarray(32).toString(), hook.readUInt32BE(28), hook.length], [account, 56, 88]);
  });

  it('burns on Stellar and mints on Polygon', async () => {
    const [polygonBefore, stellarBefore] = [await heldOn(137), await heldOn(1500)];
    await order(1500, 137);
    await until('final burn');
    assert.equal(transitOf(await load()).inTransit, hundred * 10n);
    assert.equal(arrivingFrom(await load())?.amount, hundred - 20_000n);
    assert.deepEqual(await until('final mint'), whole.slice(2));
    assert.equal((await heldOn(137)) - polygonBefore, hundred);
    const units = hundred * 10n;
    assert.equal(stellarBefore - (await heldOn(1500)), units);
    assert.deepEqual(transitOf(await load()), { burned: units, minted: units, fee: 0n, inTransit: 0n });
  });

  it('requests another attestation when a message expires', async () => {
    await order(137, 1500);
    await until('final burn');
    const last = BigInt(stellar.stellar.chain.history.head().sequence + 2);
    service.weather.forge = (message) => ({ ...message, expirationBlock: last });
    assert.equal(await one(), 'attest: recorded');
    stellar.stellar.closeLedgers(3);
    assert.deepEqual(await attend(deps(), id(), signal), { kind: 'recorded' });
    assert.equal(rebalanceStanding(await load()), 'expired');
    service.weather.forge = null;
    assert.equal(await one(), 'reattest: recorded');
    await until('final mint');
  });

  it('is done if somebody else calls the forwarder, and signs nothing then', async () => {
    const before = await heldOn(1500);
    await order(137, 1500);
    await until('attest: recorded');
    const { attested } = await load();
    const stranger = await stellar.lab.person();
    const bytes = (hex: string) => xdr.ScVal.scvBytes(Buffer.from(hex.slice(2), 'hex'));
    const args = [bytes(attested?.message ?? ''), bytes(attested?.attestation ?? '')];
    const got = await stellar.lab.call(stranger, stellarCctp.forwarder, 'mint_and_forward', ...args);
    assert.equal(got.status, 'SUCCESS');
    await assert.rejects(one(), (error) => error instanceof PayoutBlocked && /minted message/.test(error.message));
    assert.deepEqual(await attend(deps(), id(), signal), { kind: 'recorded' });
    const { minted } = await load();
    assert.deepEqual([minted?.hash, minted?.received, minted?.byOther], [got.txHash, hundred * 10n, true]);
    assert.equal((await heldOn(1500)) - before, hundred * 10n);
    assert.deepEqual(transitOf(await load()), { burned: hundred, minted: hundred, fee: 0n, inTransit: 0n });
    assert.equal(nextRebalanceStep(await load()).do, 'done');
  });

  it('is done if somebody else mints its burn of Stellar on Polygon', async () => {
    await order(1500, 137);
    await until('attest: recorded');
    const { mint } = await load();
    assert.ok(mint?.order.form);
    const call = { ...mintCall({ form: mint.order.form }), account: treasury, chain: null, gas: 400_000n } as const;
    await polygon.impersonateAccount({ address: treasury });
    const hash = await polygon.sendTransaction(call);
    await polygon.mine({ blocks: 4 });
    assert.deepEqual(await attend(deps(), id(), signal), { kind: 'recorded' });
    const { minted } = await load();
    assert.deepEqual([minted?.hash, minted?.received, minted?.byOther], [hash, hundred, true]);
  });

  it('mints no message that is not its own, though the attesters signed it', async () => {
    await order(137, 1500);
    await until('final burn');
    for (const field of ['mintRecipient', 'destinationCaller'] as const) {
      service.weather.forge = (message) => ({ ...message, [field]: '11'.repeat(32) });
      assert.match(await one(), new RegExp(`not that of our burn: its ${field} is`));
    }
    const other = Buffer.from(Keypair.random().publicKey()).toString('hex');
    service.weather.forge = (message) => ({ ...message, hookData: message.hookData.slice(0, 64) + other });
    assert.match(await one(), /not that of our burn: its hookData is/);
    service.weather.forge = null;
    await until('final mint');
  });

  it('burns nothing on Stellar that its allowance lacks', async () => {
    await allow(1500, hundred * 10n - 10n);
    await order(1500, 137);
    await assert.rejects(
      one(),
      (error) => error instanceof PayoutBlocked && /may take 99\.999999 USDC on Stellar/.test(error.message),
    );
    await allow(1500, 1_000n * hundred);
    await until('final mint');
  });

  it('is refused on Stellar with fast finality, a seventh decimal or other contracts', async () => {
    const refused = async (change: Partial<RebalanceOrdered>, finality?: Finality) => {
      const asked = { ...orderOf(1500, 137, finality), ...change };
      const outcome = await world.handle(rebalance, id(), (state) => orderRebalance(state, asked), facts);
      return isRefusal(outcome) ? outcome.message : 'ordered';
    };
    assert.match(await refused({}, fast), /no fast burns/);
    assert.match(await refused({ amount: '1000000001' }), /seventh decimal/);
    const route = { ...orderOf(1500, 137).route, messenger: stellarCctp.forwarder };
    assert.match(await refused({ route }), /other contracts/);
  });

  it('is ordered by hand in whole tokens', async () => {
    const asked = { chain: 'stellar', asset: 'USDC', amount: '12.5', towards: '137', reason: 'a test' };
    const ordering = (change: Partial<typeof asked> = {}) =>
      orderMove(
        {
          ...{ handle: world.handle, clock: world.clock, attestations: deps().attestations },
          accountOn: (chainId) => ends()[chainId as Side]?.account,
          ...{ approval_microUsd: 1_000_000_000n, perTransfer_microUsd: 20_000_000n },
        },
        { ...asked, ...change },
        { cause: 'operator:ada' },
        signal,
      );
    const outcome = await ordering();
    assert.ok(!isRefusal(outcome), isRefusal(outcome) ? outcome.message : '');
    const { amount, value_microUsd, route } = outcome.state.ordered;
    assert.deepEqual([amount, value_microUsd, route.messenger], ['125000000', '12500000', stellarCctp.messenger]);
    const why = async (change: Partial<typeof asked>) => {
      const result = await ordering(change);
      return isRefusal(result) ? result.message : 'ordered';
    };
    assert.match(await why({ amount: '1.0000001' }), /seventh decimal/);
    assert.match(await why({ amount: '20.000001' }), /split it/);
  });

  it('is described to an operator before the first burn', async () => {
    const rpc = createStellarRpc(stellar.config());
    const told = await rpc.answer((node) => describeContracts(node, stellar.lab.passphrase));
    assert.match(told, /^the contracts of this release, domain 27; one burn moves 10000000\.00 USDC at most$/);
    const bare = await stellarWorld();
    const without = createStellarRpc(bare.config());
    const missing = await without.answer((node) => describeContracts(node, bare.lab.passphrase));
    assert.match(missing, /^no contract at .*: burn nothing/);
  });
});
