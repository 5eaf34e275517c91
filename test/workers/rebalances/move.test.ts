/** Money moves from Base to Ethereum on two local chains, with the protocol's bytes and an attestation service with weather. */
import assert from 'node:assert/strict';
import { type Address, erc20Abi, type Hex, parseEther, parseEventLogs } from 'viem';
import { currentState } from '../../../commands/handle.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { messageLength_bytes, parseBurnMessage } from '../../../domain/rebalance/burnMessage.ts';
import { type CctpChainId, fast, standard } from '../../../domain/rebalance/cctp.ts';
import { isCctp, type RebalanceOrdered } from '../../../domain/rebalance/events.ts';
import { transitOf } from '../../../domain/rebalance/inTransit.ts';
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
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { type AttestationService, feeRecipient, plantCctp, startAttestations } from '../../../sandbox/cctp.ts';
import { sandboxMessageTransmitter } from '../../../sandbox/contracts/artifacts/SandboxMessageTransmitter.ts';
import { fund } from '../../../sandbox/tokens.ts';
import { AttestationsUnavailable, createAttestations } from '../../../src/chains/attestations.ts';
import { rangesPerCallMax } from '../../../src/chains/backwardSearch.ts';
import { allowedSpender, mintCall } from '../../../src/chains/evm/cctp.ts';
import { createMintReader } from '../../../src/chains/evm/mints.ts';
import { createEvmPayoutRail } from '../../../src/chains/evm/payouts/rail.ts';
import type { MintReader } from '../../../src/chains/mints.ts';
import { PayoutBlocked } from '../../../src/chains/ports.ts';
import { type Attended, arrivalsWorker, attend } from '../../../src/workers/rebalances/attend.ts';
import { type AskedMove, type MoveDeps, orderMove } from '../../../src/workers/rebalances/order.ts';
import { signedBy } from '../../chains/evm/payouts/signing.ts';
import { evmConfig } from '../../chains/evm/world.ts';
import { accountOf, type ChainClient, chainClient, isolatedAnvil, treasury } from '../../support/anvil.ts';
import { createWorld, type World } from '../../support/histories.ts';
import { baseUsdc, ethereumUsdc } from '../../support/payments.ts';
import { move } from '../../support/rebalances.ts';

const { signal } = new AbortController();
const hundred = 100_000_000n;
const depths = { final: 1, finalLarge: 2, payout: 1 };

interface Side {
  readonly config: ReturnType<typeof evmConfig>;
  readonly client: ChainClient;
  readonly rail: ReturnType<typeof createEvmPayoutRail>;
  readonly mints: MintReader;
  readonly token: Address;
}

async function sideOf(chainId: CctpChainId, token: string): Promise<Side & { readonly rpcUrl: string }> {
  const { rpcUrl } = await isolatedAnvil(chainId);
  await plantCctp(rpcUrl, chainId);
  const config = { ...evmConfig(chainId, [rpcUrl]), depths: { ...evmConfig(chainId, [rpcUrl]).depths, ...depths } };
  const rail = createEvmPayoutRail(config, treasury);
  return {
    ...{ rpcUrl, config },
    client: chainClient(rpcUrl),
    rail,
    mints: createMintReader(config),
    token: token as Address,
  };
}

describe('a rebalance on two chains', () => {
  let base: Side;
  let ethereum: Side;
  let service: AttestationService;
  let world: World;
  let moves = 0;

  before(async () => {
    const [from, to] = await Promise.all([sideOf(8453, baseUsdc.token.address), sideOf(1, ethereumUsdc.token.address)]);
    [base, ethereum] = [from, to];
    service = await startAttestations(
      new Map<CctpChainId, string>([
        [8453, from.rpcUrl],
        [1, to.rpcUrl],
      ]),
    );
    await fund(from.rpcUrl, 8453, treasury, { gas: parseEther('1'), tokens: { USDC: 1_000n * hundred } });
    await fund(to.rpcUrl, 1, treasury, { gas: parseEther('1') });
    await send(base, { kind: 'allow', contract: 'tokenMessenger', most: (100n * hundred).toString() });
  });
  after(() => service?.close());
  beforeEach(() => {
    world = createWorld();
    moves += 1;
    Object.assign(service.weather, { outage: false, tooMany: false, unseen: false, pending: null, forge: null });
    service.weather.wrongNonce = false;
    Object.assign(service.weather, { fastFee_bps: 1n, expiresIn: null });
  });

  async function send(side: Side, form: { kind: 'allow'; contract: 'tokenMessenger'; most: string }) {
    const order = { chainId: 8453, token: baseUsdc.token, receiver: allowedSpender('tokenMessenger') ?? '' } as const;
    const whole = { ...order, receiverMemo: null, amount: 0n, form };
    const nonce = await side.rail.numbering.minedNonce(signal);
    const sent = await signedBy(await side.rail.numbering.prepare(whole, nonce), 1, 'deployment');
    await side.rail.broadcast(sent.bytes);
    await side.client.mine({ blocks: 3 });
  }

  const held = (side: Side, account: Address = treasury) =>
    side.client.readContract({ address: side.token, abi: erc20Abi, functionName: 'balanceOf', args: [account] });
  const orderOf = (finality: typeof fast | typeof standard = standard): RebalanceOrdered =>
    move(
      {
        from: { chainId: 8453, account: treasury, token: baseUsdc.token },
        to: { chainId: 1, account: treasury, token: ethereumUsdc.token },
        amount: hundred.toString(),
      },
      { finality, feeMax: '20000' },
    );
  const id = () => `move-${moves}`;
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
    mintsOn: (chainId: number) => (chainId === 1 ? ethereum.mints : base.mints),
  });

  async function order(finality?: typeof fast | typeof standard): Promise<void> {
    const outcome = await world.handle(rebalance, id(), (state) => orderRebalance(state, orderOf(finality)), facts);
    assert.ok(!isRefusal(outcome), isRefusal(outcome) ? outcome.message : '');
  }

  /**
   * Takes one step in a newly started process, which knows only the log. The next call replaces a process that died
   * after any step.
   */
  async function one(): Promise<string> {
    const state = await load();
    const step = nextRebalanceStep(state);
    if (step.do !== 'transfer') return told(await attend(deps(), id(), signal), step.do);
    const [side, leg] = step.part === burnPart ? [base, state.burn] : [ethereum, state.mint];
    assert.ok(leg);
    const kind = step.part === burnPart ? 'burn' : 'mint';
    if (step.step.do === 'sign') {
      const unsigned = await side.rail.numbering.prepare(leg.order, await side.rail.numbering.minedNonce(signal));
      const attempt = await signedBy(unsigned, leg.attempts.length + 1, kind);
      await record((current: RebalanceState) => rebalanceLegs.sign(current, step.part, attempt));
      return `signed ${kind}`;
    }
    assert.ok(step.step.do === 'broadcast');
    const attempts = step.step.attempts.map((each: SignedAttempt) => ({ ...each, form: leg.order.form }));
    for (const { bytes } of attempts) await side.rail.broadcast(bytes);
    await side.client.mine({ blocks: 3 });
    const fate = await side.rail.fate(attempts as never, signal);
    assert.ok(
      fate.kind !== 'pending',
      JSON.stringify(fate, (_, v) => (typeof v === 'bigint' ? String(v) : v)),
    );
    await record((current: RebalanceState) =>
      rebalanceLegs.conclude(current, step.part, fate as never, world.clock.now()),
    );
    return `${fate.kind} ${kind}`;
  }

  const told = (attended: Attended, step: string) =>
    attended.kind === 'waits' ? `${step}: ${attended.why}` : `${step}: ${attended.kind}`;

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

  it('burns, waits for the attestation and mints, each unit accounted for', async () => {
    const [before, there] = [await held(base), await held(ethereum)];
    await order();
    service.weather.unseen = true;
    assert.deepEqual([await one(), await one()], ['signed burn', 'final burn']);
    assert.equal(before - (await held(base)), hundred);
    assert.equal(await one(), 'attest: the burn is not attested yet');
    Object.assign(service.weather, { unseen: false, pending: 'amount_above_max' });
    assert.equal(await one(), 'attest: amount_above_max');
    assert.equal(transitOf(await load()).inTransit, hundred);
    service.weather.pending = null;
    assert.deepEqual(await until('final mint'), ['attest: recorded', 'signed mint', 'final mint']);
    assert.equal((await held(ethereum)) - there, hundred);
    assert.deepEqual(transitOf(await load()), { burned: hundred, minted: hundred, fee: 0n, inTransit: 0n });
    assert.equal(rebalanceStanding(await load()), 'done');
  });

  it('pays the fee of a fast burn out of what arrives', async () => {
    const [there, circle] = [await held(ethereum), await held(ethereum, feeRecipient)];
    await order(fast);
    await until('final mint');
    assert.equal((await held(ethereum)) - there, hundred - 10_000n);
    assert.equal((await held(ethereum, feeRecipient)) - circle, 10_000n);
    assert.deepEqual(transitOf(await load()), {
      burned: hundred,
      minted: hundred - 10_000n,
      fee: 10_000n,
      inTransit: 0n,
    });
  });

  it('requests another attestation when a fast message expires', async () => {
    service.weather.expiresIn = 5n;
    const there = await held(ethereum);
    await order(fast);
    await until('attest: recorded');
    await ethereum.client.mine({ blocks: 10 });
    assert.deepEqual(await attend(deps(), id(), signal), { kind: 'recorded' });
    assert.equal(rebalanceStanding(await load()), 'expired');
    assert.equal(await one(), 'reattest: another attestation was requested');
    service.weather.wrongNonce = true;
    assert.match(await one(), /^reattest: another attestation was requested$/);
    assert.equal(rebalanceStanding(await load()), 'expired', 'a message with another nonce is not recorded');
    service.weather.wrongNonce = false;
    assert.deepEqual(await until('final mint'), ['reattest: recorded', 'signed mint', 'final mint']);
    assert.equal((await held(ethereum)) - there, hundred, 'a message that was attested again has no fee');
  });

  it('is done if somebody else submits its message, and signs nothing then', async () => {
    const there = await held(ethereum);
    await order();
    await until('attest: recorded');
    const { mint } = await load();
    assert.ok(mint?.order.form);
    const stranger = accountOf(41);
    await ethereum.client.setBalance({ address: stranger, value: parseEther('1') });
    await ethereum.client.impersonateAccount({ address: stranger });
    const call = { ...mintCall({ form: mint.order.form }), account: stranger, chain: null, gas: 400_000n } as const;
    const hash = await ethereum.client.sendTransaction(call);
    await ethereum.client.mine({ blocks: 4 });
    await assert.rejects(one(), (error) => error instanceof PayoutBlocked && /minted message/.test(error.message));
    assert.deepEqual(await attend(deps(), id(), signal), { kind: 'recorded' });
    const { minted } = await load();
    assert.deepEqual([minted?.hash, minted?.received, minted?.byOther], [hash, hundred, true]);
    assert.equal((await held(ethereum)) - there, hundred);
    assert.equal(nextRebalanceStep(await load()).do, 'done');
    // The block of the other account's mint leaves its chain: the treasury mints the message itself.
    const worker = arrivalsWorker({
      ...{ handle: world.handle, clock: world.clock, railOn: () => ethereum.rail },
      arrivedSince: async () => [id()],
      alarm: () => {},
    });
    await worker.act(id(), signal);
    assert.equal(rebalanceStanding(await load()), 'done');
    await ethereum.client.request({ method: 'anvil_reorg', params: [4, []] } as never);
    await worker.act(id(), signal);
    assert.equal(rebalanceStanding(await load()), 'attested');
    assert.deepEqual(await until('final mint'), ['signed mint', 'final mint']);
    assert.equal((await held(ethereum)) - there, hundred);
  });

  it('finds a mint that is older than one search of the reader', async () => {
    await order();
    await until('final mint');
    const { mint } = await load();
    const nonce = parseBurnMessage(mint?.order.form?.kind === 'mint' ? mint.order.form.message : '')?.nonce ?? '';
    const asked = { nonce, account: treasury, token: ethereumUsdc.token.address };
    await ethereum.client.mine({ blocks: 2 * rangesPerCallMax });
    const reader = createMintReader({ ...ethereum.config, rangeBlocksMax: 1 });
    let found = await reader.mintOf(asked, signal);
    assert.equal(found, null, 'it is older than the ranges of one call');
    for (let calls = 0; found === null && calls < 10; calls += 1) found = await reader.mintOf(asked, signal);
    assert.deepEqual([found?.hash, found?.received], [mint?.settled?.hash, hundred]);
  });

  it('waits while the attestation service is away, and calls it no more for 5 minutes after too many calls', async () => {
    await order();
    await until('final burn');
    service.weather.outage = true;
    await assert.rejects(one(), AttestationsUnavailable);
    Object.assign(service.weather, { outage: false, tooMany: true });
    const own = deps();
    const calls = service.calls.length;
    await assert.rejects(attend(own, id(), signal), /status 429/);
    service.weather.tooMany = false;
    await assert.rejects(attend(own, id(), signal), /too many were made/);
    assert.equal(service.calls.length, calls + 1);
    world.clock.advance(5 * 60_000 + 1);
    assert.deepEqual(await attend(own, id(), signal), { kind: 'recorded' });
    assert.deepEqual(await until('final mint'), ['signed mint', 'final mint']);
  });

  it('mints no message that is not its own, though the attesters signed it', async () => {
    await order();
    await until('final burn');
    service.weather.forge = (message) => ({ ...message, mintRecipient: '11'.repeat(32) });
    assert.match(await one(), /^attest: the attested message is not that of our burn: its mintRecipient is/);
    service.weather.forge = (message) => ({ ...message, feeExecuted: 20_001n });
    assert.match(await one(), /its fee is 20001, our burn allows at most 20000/);
    assert.equal(rebalanceStanding(await load()), 'burned');
    service.weather.forge = null;
    await until('final mint');
  });

  it('burns nothing that the float or the allowance lacks', async () => {
    await send(base, { kind: 'allow', contract: 'tokenMessenger', most: (hundred - 1n).toString() });
    await order();
    await assert.rejects(
      one(),
      (error) => error instanceof PayoutBlocked && /may take 99\.999999 USDC on Base/.test(error.message),
    );
    await send(base, { kind: 'allow', contract: 'tokenMessenger', most: (100n * hundred).toString() });
    await until('final mint');
  });

  it('sends the bytes of the protocol: the event has the message of the layout', async () => {
    await order();
    await until('final burn');
    const { burn } = await load();
    const { logs } = await base.client.getTransactionReceipt({ hash: burn.settled?.hash as Hex });
    const [event] = parseEventLogs({ abi: sandboxMessageTransmitter.abi, logs, eventName: 'MessageSent' });
    const { message } = (event as unknown as { args: { message: Hex } }).args;
    assert.equal((message.length - 2) / 2, messageLength_bytes);
    await until('final mint');
  });

  describe('on an operator’s order', () => {
    const ordering = (change: Partial<MoveDeps> = {}, asked: Partial<AskedMove> = {}) =>
      orderMove(
        {
          ...{ handle: world.handle, clock: world.clock, attestations: deps().attestations },
          accountOn: (chainId) => (chainId === 56 || chainId === 1 || chainId === 8453 ? treasury : undefined),
          ...{ approval_microUsd: 1_000_000_000n, perTransfer_microUsd: 5_000_000_000n },
          ...change,
        },
        { chain: '8453', asset: 'usdc', amount: '100', towards: '1', reason: 'a test', ...asked },
        { cause: 'operator:ada' },
        signal,
      );
    const orderedAs = async (...args: Parameters<typeof ordering>) => {
      const outcome = await ordering(...args);
      assert.ok(!isRefusal(outcome), isRefusal(outcome) ? outcome.message : '');
      return outcome;
    };

    it('uses its route with the present fee and a tenth more, once until it is over', async () => {
      const { id: first, state, isNew } = await orderedAs();
      assert.ok(isNew);
      assert.ok(isCctp(state.ordered));
      const { route, amount, by, approvals } = state.ordered;
      assert.deepEqual([route.feeMax, route.finality, amount, by, approvals], ['0', standard, '100000000', 'ada', 0]);
      const again = await orderedAs();
      assert.deepEqual([again.id, again.isNew], [first, false]);
      const quick = await orderedAs({}, { fast: true });
      assert.deepEqual([quick.isNew, quick.state.ordered.route.feeMax], [true, '11000']);
      const stop = { reason: 'a test', by: 'ada', now: world.clock.now() };
      await world.handle(rebalance, first, (known) => callOffRebalance(known, stop), facts);
      const next = await orderedAs();
      assert.ok(next.isNew && next.id !== first);
    });

    it('needs another operator above the limit', async () => {
      const { state } = await orderedAs({ approval_microUsd: 99_999_999n });
      assert.equal(rebalanceStanding(state), 'waitsForApproval');
    });

    it('is refused without the service, a route, a fee within the limit, or an amount within the signer’s', async () => {
      const refused = async (why: RegExp, ...args: Parameters<typeof ordering>) => {
        const outcome = await ordering(...args);
        assert.match(isRefusal(outcome) ? outcome.message : 'ordered', why);
      };
      await refused(/set CCTP_ATTESTATIONS_URL first/, { attestations: null });
      await refused(/CCTP has no route to or from BNB Chain/, {}, { towards: '56' });
      await refused(/137 is no chain that is configured here/, {}, { towards: '137' });
      await refused(/EURC cannot be moved/, {}, { asset: 'EURC' });
      await refused(/set USDT0_REBALANCES=on first/, {}, { asset: 'USDT' });
      await refused(/is no amount of USDC/, {}, { amount: '0' });
      await refused(/split it/, {}, { amount: '5000.01' });
      service.weather.fastFee_bps = 19n;
      await refused(/above our limit/, {}, { fast: true });
      assert.ok(!isRefusal(await ordering()));
      service.weather.outage = true;
      await assert.rejects(ordering({}, { amount: '7' }), AttestationsUnavailable);
    });
  });
});
