/** Money moves from Base to Solana and back, and from Solana to Stellar, on three local chains with the protocol's bytes. */
import assert from 'node:assert/strict';
import {
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  type Keypair,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
  VersionedTransaction,
} from 'solana-web3-v1';
import { type Address, erc20Abi, parseEther } from 'viem';
import { currentState } from '../../../commands/handle.ts';
import { chainOf } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { parseBurnMessage } from '../../../domain/rebalance/burnMessage.ts';
import {
  type CctpChainId,
  domainOf,
  type Finality,
  fast,
  routeContracts,
  solanaCctp,
  standard,
} from '../../../domain/rebalance/cctp.ts';
import type { RebalanceOrdered } from '../../../domain/rebalance/events.ts';
import { transitOf } from '../../../domain/rebalance/inTransit.ts';
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
import { createMintReader } from '../../../src/chains/evm/mints.ts';
import { createEvmPayoutRail } from '../../../src/chains/evm/payouts/rail.ts';
import { createEvmSigner } from '../../../src/chains/evm/signer/signer.ts';
import type { MintReader } from '../../../src/chains/mints.ts';
import { arrivalObstacle, createCanReceive } from '../../../src/chains/money/receiverCheck.ts';
import { PayoutBlocked, type PayoutRail, type Signer, type TransferOrder } from '../../../src/chains/ports.ts';
import { describeContracts, messageInAccount } from '../../../src/chains/solana/cctp.ts';
import { solanaFees } from '../../../src/chains/solana/config.ts';
import { createSolanaMintReader } from '../../../src/chains/solana/mints.ts';
import { obstacleTo } from '../../../src/chains/solana/payouts/preflight.ts';
import { createSolanaPayoutRail } from '../../../src/chains/solana/payouts/rail.ts';
import { messageIn, mintMessage } from '../../../src/chains/solana/payouts/transaction.ts';
import { createSolanaRpc } from '../../../src/chains/solana/rpc.ts';
import { eventKey, referenceKey, solanaKey } from '../../../src/chains/solana/signer/keys.ts';
import { createSolanaSigner } from '../../../src/chains/solana/signer/signer.ts';
import { tokenAccountOf } from '../../../src/chains/solana/tokenProgram.ts';
import { createStellarMintReader } from '../../../src/chains/stellar/mints.ts';
import { createStellarPayoutRail } from '../../../src/chains/stellar/payouts/rail.ts';
import { createStellarRpc } from '../../../src/chains/stellar/rpc.ts';
import { createStellarSigner } from '../../../src/chains/stellar/signer/signer.ts';
import { attend } from '../../../src/workers/rebalances/attend.ts';
import { evmConfig } from '../../chains/evm/world.ts';
import { depositSeed, payoutReference, type SolanaWorld, solanaWorld, usdcToken } from '../../chains/solana/world.ts';
import { type StellarWorld, signal, stellarWorld } from '../../chains/stellar/world.ts';
import { type ChainClient, chainClient, isolatedAnvil, treasury, treasuryKey } from '../../support/anvil.ts';
import { createWorld, type World } from '../../support/histories.ts';
import { baseUsdc } from '../../support/payments.ts';

const hundred = 100_000_000n;
const depths = { final: 1, finalLarge: 2, payout: 1 };
const stellarUsdc = {
  symbol: 'USDC',
  address: 'USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
  decimals: 7,
} as const;
type Side = 8453 | 501 | 1500;

describe('a rebalance with Solana', () => {
  let base: ChainClient;
  let solana: SolanaWorld;
  let stellar: StellarWorld;
  let rails: Readonly<Record<Side, PayoutRail>>;
  let signers: Readonly<Record<Side, Signer>>;
  let mints: Readonly<Record<Side, MintReader>>;
  let service: AttestationService;
  let accounts: Readonly<Record<Side, string>>;
  let world = createWorld() as World;
  let moves = 0;
  const secret = referenceKey(depositSeed);
  const eventAccountOf = (reference: string) => eventKey(secret, reference).address;

  before(async () => {
    const { rpcUrl } = await isolatedAnvil(8453);
    base = chainClient(rpcUrl);
    const usual = evmConfig(8453, [rpcUrl]);
    const config = { ...usual, depths: { ...usual.depths, ...depths } };
    solana = await solanaWorld();
    stellar = await stellarWorld({ now_s: () => Math.floor(Date.now() / 1_000) });
    const urls = new Map<CctpChainId, string>([
      [8453, rpcUrl],
      [501, solana.solana.rpcUrl],
      [1500, stellar.stellar.rpcUrl],
    ]);
    for (const [chainId, url] of urls) await plantCctp(url, chainId);
    solana.settle(40);
    accounts = {
      8453: treasury,
      501: solana.treasury.publicKey.toBase58(),
      1500: stellar.treasury.publicKey(),
    };
    const [own, solanaConfig] = [stellar.config(), solana.config()];
    const [stellarRpc, solanaRpc] = [createStellarRpc(own), createSolanaRpc(solanaConfig)];
    rails = {
      8453: createEvmPayoutRail(config, treasury),
      501: createSolanaPayoutRail(solanaConfig, payoutReference, solanaRpc, eventAccountOf),
      1500: createStellarPayoutRail(own, stellarRpc),
    };
    mints = {
      8453: createMintReader(config),
      501: createSolanaMintReader(solanaRpc),
      1500: createStellarMintReader(own, stellarRpc),
    };
    const spending = () => () => {};
    const clock = { now: () => new Date().toISOString() as never };
    const others = { solanaAccount: accounts[501] };
    const key = solanaKey(solana.treasury.secretKey.slice(0, 32));
    const accountOf = (family: string) => ({ evm: treasury, stellar: accounts[1500] })[family];
    signers = {
      8453: createEvmSigner({ privateKey: treasuryKey, spending, ...others, stellarAccount: accounts[1500] }),
      501: createSolanaSigner({ key, depositSeed, fees: solanaFees(), spending, accountOf }),
      1500: createStellarSigner({
        ...{ secret: stellar.treasury.secret(), config: own, clock, spending, evmAccount: treasury, ...others },
      }),
    };
    service = await startAttestations(urls);
    await fund(rpcUrl, 8453, treasury, { gas: parseEther('10'), tokens: { USDC: 1_000n * hundred } });
    await allow();
  });
  after(() => service?.close());
  beforeEach(() => {
    world = createWorld();
    moves += 1;
    Object.assign(service.weather, { forge: null, fastFee_bps: 1n, expiresIn: null });
  });

  const tokens = { 8453: baseUsdc.token, 501: usdcToken, 1500: stellarUsdc } as const;
  const endOf = (chainId: Side) => ({ chainId, account: accounts[chainId], token: tokens[chainId] });
  const orderOf = (from: Side, to: Side, finality: Finality = standard): RebalanceOrdered =>
    ({
      ...{ from: endOf(from), to: endOf(to), amount: String(hundred) },
      route: {
        ...{ kind: 'cctp', sourceDomain: domainOf(from), destinationDomain: domainOf(to), ...routeContracts(from, to) },
        ...{ finality, feeMax: '20000' },
      },
      ...{ value_microUsd: hundred.toString(), approvals: 0, reason: 'a test', by: 'ada' },
      orderedAt: world.clock.now(),
    }) as RebalanceOrdered;
  const heldOn = async (chainId: Side): Promise<bigint> => {
    if (chainId === 501) return (await solana.balance(solana.treasury.publicKey)) ?? 0n;
    if (chainId === 1500) return stellar.lab.balance(accounts[1500]);
    const call = { address: baseUsdc.token.address as Address, abi: erc20Abi, functionName: 'balanceOf' } as const;
    return base.readContract({ ...call, args: [treasury] });
  };
  const id = () => `solana-${moves}`;
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
    if (chainId === 8453) await base.mine({ blocks: 3 });
    if (chainId === 501) solana.settle(40);
  };

  async function prepared(order: TransferOrder) {
    const { numbering } = rails[order.chainId as Side];
    return numbering.kind === 'expiring'
      ? numbering.prepare(order)
      : numbering.prepare(order, await numbering.minedNonce(signal));
  }

  async function signed(order: TransferOrder, kind: 'burn' | 'mint' | 'deployment', attempt = 1) {
    const chainId = order.chainId as Side;
    const reference = `rebalance-${id()}/${kind}`;
    const unsigned = await prepared({ ...order, reference, referenceOrdinal: attempt });
    const { bytes, hash } = await signers[chainId].sign(unsigned, { kind, reference });
    const { nonce, validUntil, fee } = unsigned;
    const { token, receiver, receiverMemo, amount } = order;
    return {
      ...{ attempt, chainId, account: unsigned.account, hash, bytes, validUntil, fee, token },
      ...{ nonce: nonce === null ? null : String(nonce), receiver, receiverMemo, amount: amount.toString() },
      signedAt: world.clock.now(),
    } as SignedAttempt;
  }

  async function allow(): Promise<void> {
    const form = { kind: 'allow', contract: 'tokenMessenger', most: (100n * hundred).toString() } as const;
    const receiver = routeContracts(8453, 501).messenger;
    const order = { chainId: 8453, token: tokens[8453], receiver, receiverMemo: null, amount: 0n, form } as const;
    await rails[8453].broadcast((await signed(order, 'deployment')).bytes);
    await settle(8453);
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
      const earlier = leg.attempts.map(({ signed: { hash } }) => hash);
      const attempt = await signed({ ...leg.order, earlier }, kind, leg.attempts.length + 1);
      await record((current) => rebalanceLegs.sign(current, step.part, attempt));
      return `signed ${kind}`;
    }
    assert.ok(step.step.do === 'broadcast');
    const attempts = step.step.attempts.map((each) => ({ ...each, form: leg.order.form }));
    for (const { bytes } of attempts) await rails[chainId].broadcast(bytes);
    const fate = await fateOf(chainId, attempts);
    if (fate.kind === 'dead')
      await record((current) => rebalanceLegs.bury(current, step.part, fate.attempts, fate.proof));
    else {
      await record((current) => rebalanceLegs.conclude(current, step.part, fate as never, world.clock.now()));
    }
    return `${fate.kind} ${kind}`;
  }

  async function fateOf(chainId: Side, attempts: readonly unknown[]) {
    for (let tries = 0; tries < 50; tries += 1) {
      await settle(chainId);
      const fate = await rails[chainId].fate(attempts as never, signal);
      if (fate.kind !== 'pending') return fate;
    }
    return assert.fail('the attempts are pending after 50 reads');
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

  it('burns on Base and mints into the treasury’s token account on Solana', async () => {
    const [baseBefore, solanaBefore] = [await heldOn(8453), await heldOn(501)];
    await order(8453, 501);
    assert.deepEqual(await until('final mint'), whole);
    assert.equal(baseBefore - (await heldOn(8453)), hundred);
    assert.equal((await heldOn(501)) - solanaBefore, hundred);
    const state = await load();
    assert.deepEqual(transitOf(state), { burned: hundred, minted: hundred, fee: 0n, inTransit: 0n });
    const message = parseBurnMessage(state.attested?.message ?? '');
    assert.equal(message?.mintRecipient, hexOfAddress(tokenAccountOf(accounts[501], usdcToken.address)));
    const cost = state.mint?.settled?.cost;
    // The account of the nonce: (128 + 9) bytes at 6,960 lamports.
    assert.deepEqual([cost?.payer, cost?.fee, cost?.rent], [accounts[501], '5000', '953520']);
  });

  it('burns on Solana with fast finality and mints on Base, less the fee', async () => {
    const [baseBefore, solanaBefore] = [await heldOn(8453), await heldOn(501)];
    await order(501, 8453, fast);
    assert.deepEqual(await until('final mint'), whole);
    assert.equal(solanaBefore - (await heldOn(501)), hundred);
    assert.equal((await heldOn(8453)) - baseBefore, hundred - 10_000n);
    const state = await load();
    assert.deepEqual(transitOf(state), { burned: hundred, minted: hundred - 10_000n, fee: 10_000n, inTransit: 0n });
    const cost = state.burn.settled?.cost;
    // The account of the message: (128 + 428) bytes at 6,960 lamports.
    assert.deepEqual([cost?.payer, cost?.rent], [accounts[501], '3869760']);
    const message = parseBurnMessage(state.attested?.message ?? '');
    assert.equal(message?.messageSender, hexOfAddress(accounts[501]));
    assert.equal(message?.sender, hexOfAddress(solanaCctp.messenger));
  });

  it('burns on Solana and mints through the forwarder on Stellar', async () => {
    const [solanaBefore, stellarBefore] = [await heldOn(501), await heldOn(1500)];
    await order(501, 1500);
    assert.deepEqual(await until('final mint'), whole);
    assert.equal(solanaBefore - (await heldOn(501)), hundred);
    assert.equal((await heldOn(1500)) - stellarBefore, hundred * 10n);
    assert.deepEqual(transitOf(await load()), { burned: hundred, minted: hundred, fee: 0n, inTransit: 0n });
  });

  it('burns on Stellar and mints on Solana', async () => {
    const form = { kind: 'allow', contract: 'tokenMessenger', most: (100n * hundred).toString() } as const;
    const receiver = routeContracts(1500, 501).messenger;
    const allowing = { chainId: 1500, token: stellarUsdc, receiver, receiverMemo: null, amount: 0n, form } as const;
    await rails[1500].broadcast((await signed(allowing, 'deployment')).bytes);
    const before = await heldOn(501);
    const asked = { ...orderOf(1500, 501), amount: String(hundred * 10n) };
    const outcome = await world.handle(rebalance, id(), (now) => orderRebalance(now, asked), facts);
    assert.ok(!isRefusal(outcome), isRefusal(outcome) ? outcome.message : '');
    await until('final mint');
    assert.equal((await heldOn(501)) - before, hundred);
  });

  it('burns once, though the attempt that a node called dead lands after all', async () => {
    const before = await heldOn(501);
    await order(501, 8453);
    const { burn } = await load();
    const first = await signed(burn.order, 'burn', 1);
    solana.solana.advanceSlots(1);
    const second = await signed({ ...burn.order, earlier: [first.hash] }, 'burn', 2);
    assert.notEqual(first.hash, second.hash);
    for (const { bytes } of [first, second]) await rails[501].broadcast(bytes).catch(() => undefined);
    await settle(501);
    assert.equal(before - (await heldOn(501)), hundred);
    const fates = await Promise.all([first, second].map((each) => fateOf(501, [{ ...each, form: burn.order.form }])));
    assert.equal(fates[0]?.kind, 'final');
    // Nothing can be signed for this reference any more.
    await assert.rejects(
      signed({ ...burn.order, earlier: [first.hash, second.hash] }, 'burn', 3),
      (error) => error instanceof PayoutBlocked && error.reason === 'treasuryBehindChain',
    );
  });

  it('signs another burn with the same account after the first one has expired', async () => {
    const before = await heldOn(501);
    await order(501, 8453);
    assert.equal(await one(), 'signed burn');
    const [first] = (await load()).burn.attempts;
    assert.ok(first);
    solana.settle(1_000);
    assert.equal(await one(), 'dead burn');
    assert.equal(await heldOn(501), before);
    assert.deepEqual(await until('final mint'), whole);
    assert.equal(before - (await heldOn(501)), hundred);
    const accountIn = (bytes: string) =>
      VersionedTransaction.deserialize(Buffer.from(bytes, 'base64')).message.staticAccountKeys[1]?.toBase58();
    const used = (await load()).burn.attempts.map(({ signed: { bytes } }) => accountIn(bytes));
    assert.deepEqual(
      used,
      [0, 1].map(() => eventAccountOf(`rebalance-${id()}/burn`)),
    );
  });

  it('is refused before anything is burned for a treasury without a token account there', async () => {
    const canReceive = createCanReceive(createSolanaRpc(solana.config()), obstacleTo);
    const checks = { solana: canReceive };
    const asked = orderOf(8453, 501);
    assert.equal(await arrivalObstacle(checks, asked), undefined);
    const account = String(solana.nobody());
    const refused = await arrivalObstacle(checks, { ...asked, to: { ...asked.to, account } });
    assert.match(
      refused?.message ?? '',
      new RegExp(`^${account} has no token account for USDC, and a mint opens none`),
    );
    // A payout opens the receiver's account.
    assert.equal(await canReceive(chainOf(501), usdcToken, account), undefined);
  });

  it('signs nothing for a burn that the log has lost', async () => {
    await order(501, 8453);
    await until('final burn');
    const event = eventAccountOf(`rebalance-${id()}/burn`);
    const found = solana.solana.chain.accounts.get(event as never);
    assert.equal(
      parseBurnMessage(messageInAccount(found && { ...found, data: Buffer.from(found.data) }) ?? '')?.amount,
      hundred,
    );
    world = createWorld();
    await order(501, 8453);
    await assert.rejects(one(), (error) => error instanceof PayoutBlocked && error.reason === 'treasuryBehindChain');
  });

  it('is done if somebody else mints on Solana, and signs nothing then', async () => {
    const before = await heldOn(501);
    await order(8453, 501);
    await until('attest: recorded');
    const { mint } = await load();
    assert.ok(mint);
    const hash = await mintBy(await solana.lab.person(), mint.order);
    solana.settle(40);
    await assert.rejects(one(), (error) => error instanceof PayoutBlocked && /minted message/.test(error.message));
    assert.deepEqual(await attend(deps(), id(), signal), { kind: 'recorded' });
    const { minted } = await load();
    assert.deepEqual([minted?.hash, minted?.received, minted?.byOther], [hash, hundred, true]);
    assert.equal((await heldOn(501)) - before, hundred);
    assert.equal(nextRebalanceStep(await load()).do, 'done');
  });

  it('requests another attestation when a message expires on Solana', async () => {
    await order(8453, 501);
    await until('final burn');
    service.weather.forge = (message) => ({ ...message, expirationBlock: BigInt(solana.solana.chain.head() + 2) });
    assert.equal(await one(), 'attest: recorded');
    solana.settle(80);
    assert.deepEqual(await attend(deps(), id(), signal), { kind: 'recorded' });
    assert.equal(rebalanceStanding(await load()), 'expired');
    service.weather.forge = null;
    assert.equal(await one(), 'reattest: recorded');
    await until('final mint');
  });

  it('mints no message that names its wallet instead of its token account, or another sender', async () => {
    await order(8453, 501);
    await until('final burn');
    service.weather.forge = (message) => ({ ...message, mintRecipient: hexOfAddress(accounts[501]) });
    assert.match(await one(), /not that of our burn: its mintRecipient is/);
    service.weather.forge = (message) => ({ ...message, messageSender: '11'.repeat(32) });
    assert.match(await one(), /not that of our burn: its messageSender is/);
    service.weather.forge = null;
    await until('final mint');
  });

  it('fits a mint into one transaction, and gives it the units that it needs', async () => {
    await order(8453, 501);
    await until('signed mint');
    const [attempt] = (await load()).mint?.attempts ?? [];
    const bytes = Buffer.from(attempt?.signed.bytes ?? '', 'base64');
    assert.ok(bytes.length <= 1_232, `${bytes.length} bytes`);
    assert.deepEqual(attempt?.signed.fee['units'], '400000');
    await until('final mint');
  });

  it('is described to an operator before the first burn', async () => {
    const rpc = createSolanaRpc(solana.config());
    const told = await rpc.answer((node) => describeContracts(node));
    assert.equal(told, 'the programs of this release, domain 5; one burn moves 10000000.00 USDC at most');
  });

  /** Mints as Circle's own library does: with a lookup table, which leaves room for the units. */
  async function mintBy(stranger: Keypair, order: TransferOrder): Promise<string> {
    const { connection } = solana.lab;
    const own = messageIn((await signed(order, 'mint')).bytes);
    const feeAccount = callIn(own).keys[14]?.pubkey.toBase58() ?? '';
    const account = stranger.publicKey.toBase58();
    const { blockhash } = await connection.getLatestBlockhash();
    const call = callIn(mintMessage(account, order, feeAccount, { blockhash }));
    const authority = { authority: stranger.publicKey, payer: stranger.publicKey };
    const recentSlot = solana.solana.chain.head() - 1;
    const [create, lookupTable] = AddressLookupTableProgram.createLookupTable({ ...authority, recentSlot });
    const addresses = call.keys.filter(({ isSigner }) => !isSigner).map(({ pubkey }) => pubkey);
    const extend = AddressLookupTableProgram.extendLookupTable({ ...authority, lookupTable, addresses });
    await solana.lab.send(await solana.lab.signed(stranger, [create, extend]));
    solana.settle(2);
    const { value: table } = await connection.getAddressLookupTable(lookupTable);
    assert.ok(table);
    const units = ComputeBudgetProgram.setComputeUnitLimit({ units: 350_000 });
    const recent = await connection.getLatestBlockhash();
    const message = new TransactionMessage({
      ...{ payerKey: stranger.publicKey, recentBlockhash: recent.blockhash, instructions: [units, call] },
    });
    const transaction = new VersionedTransaction(message.compileToV0Message([table]));
    transaction.sign([stranger]);
    return solana.lab.send(transaction, { skipPreflight: true });
  }
});

const hexOfAddress = (address: string): string => Buffer.from(new PublicKey(address).toBytes()).toString('hex');

/** The call of the protocol in a message. */
function callIn(message: Uint8Array): TransactionInstruction {
  const [call] = TransactionMessage.decompile(VersionedMessage.deserialize(message)).instructions;
  assert.ok(call);
  return call;
}
