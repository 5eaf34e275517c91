/** The engine of transfers burns and mints on two local chains, and dies at each point where a process can die. */
import assert from 'node:assert/strict';
import { type Address, erc20Abi, parseEther } from 'viem';
import { currentState } from '../../../commands/handle.ts';
import { type CctpChainId, fast } from '../../../domain/rebalance/cctp.ts';
import { transitOf } from '../../../domain/rebalance/inTransit.ts';
import {
  burnPart,
  mintPart,
  orderRebalance,
  rebalance,
  rebalanceStanding,
} from '../../../domain/rebalance/rebalance.ts';
import { instant, plus } from '../../../domain/time.ts';
import { type AttestationService, plantCctp, startAttestations } from '../../../sandbox/cctp.ts';
import { fund } from '../../../sandbox/tokens.ts';
import { createAttestations } from '../../../src/chains/attestations.ts';
import { allowanceCall } from '../../../src/chains/evm/cctp.ts';
import { createMintReader } from '../../../src/chains/evm/mints.ts';
import { createEvmPayoutRail } from '../../../src/chains/evm/payouts/rail.ts';
import { createEvmSigner } from '../../../src/chains/evm/signer/signer.ts';
import { createSpending } from '../../../src/chains/money/spending.ts';
import { rebalanceOwner } from '../../../src/workers/payouts/owners.ts';
import { transfersWorker } from '../../../src/workers/payouts/worker.ts';
import { attend } from '../../../src/workers/rebalances/attend.ts';
import { evmConfig } from '../../chains/evm/world.ts';
import { chainClient, isolatedAnvil, treasury, treasuryKey } from '../../support/anvil.ts';
import { baseUsdc, ethereumUsdc, minute } from '../../support/payments.ts';
import { sharedBySigners } from '../../support/payouts.ts';
import { accepted, processes } from '../../support/processes.ts';
import { move } from '../../support/rebalances.ts';

const { signal } = new AbortController();
const hundred = 100_000_000n;
const roundsMax = 40;
const pointsMax = 60;

class Died extends Error {}

async function sideOf(chainId: CctpChainId, token: string) {
  const { rpcUrl } = await isolatedAnvil(chainId);
  await plantCctp(rpcUrl, chainId);
  const usual = evmConfig(chainId, [rpcUrl]);
  const config = { ...usual, depths: { ...usual.depths, final: 1, finalLarge: 2, payout: 1 } };
  const client = chainClient(rpcUrl);
  const held = () =>
    client.readContract({ address: token as Address, abi: erc20Abi, functionName: 'balanceOf', args: [treasury] });
  return { rpcUrl, client, held, rail: createEvmPayoutRail(config, treasury), mints: createMintReader(config) };
}

describe('the engine of transfers, with a rebalance', function () {
  this.timeout(300_000);
  let base: Awaited<ReturnType<typeof sideOf>>;
  let ethereum: Awaited<ReturnType<typeof sideOf>>;
  let service: AttestationService;
  const world = processes({ now: minute(90) });
  const { clock } = world;

  before(async () => {
    base = await sideOf(8453, baseUsdc.token.address);
    ethereum = await sideOf(1, ethereumUsdc.token.address);
    service = await startAttestations(
      new Map<CctpChainId, string>([
        [8453, base.rpcUrl],
        [1, ethereum.rpcUrl],
      ]),
    );
    await fund(base.rpcUrl, 8453, treasury, { gas: parseEther('10'), tokens: { USDC: 1_000n * hundred } });
    await fund(ethereum.rpcUrl, 1, treasury, { gas: parseEther('10') });
    await base.client.impersonateAccount({ address: treasury });
    const form = { kind: 'allow', contract: 'tokenMessenger', most: (1_000n * hundred).toString() } as const;
    const allow = { ...allowanceCall({ token: baseUsdc.token, form }), account: treasury, chain: null } as const;
    await base.client.sendTransaction(allow);
    await base.client.mine({ blocks: 3 });
  });
  after(() => service?.close());

  /** A process with its own memory, which dies when its counter of crash points reaches 0. */
  function boot(id: string, dying: { left: number; at: string | null }) {
    const crash = (place: string) => {
      dying.left -= 1;
      if (dying.left !== 0) return;
      dying.at = place;
      throw new Died(place);
    };
    const handle = world.start({ crash });
    const rails = new Map([
      [8453, base.rail],
      [1, ethereum.rail],
    ] as const);
    const owedOn = async () => ({ tokens: new Map(), coin: 0n, payouts: 0 });
    const owners = { rebalance: rebalanceOwner({ handle, clock, railOf: (id) => rails.get(id as never), owedOn }) };
    const limits = { perTransfer_usd: 10_000n, perHour_usd: 10_000_000n };
    const spending = createSpending(limits, { now: () => instant(0) });
    const signer = createEvmSigner({ privateKey: treasuryKey, spending });
    const workerOn = (rail: typeof base.rail) =>
      transfersWorker({
        ...sharedBySigners(clock),
        ...{ owners, handle, clock, crash, rail, signer, poll_ms: 1_000, due: async () => [], alarm: () => {} },
      });
    const [burns, mints] = [workerOn(base.rail), workerOn(ethereum.rail)];
    const attestations = createAttestations({ url: service.url, clock });
    const mintsOn = (chainId: number) => (chainId === 1 ? ethereum.mints : base.mints);
    return async () => {
      await burns.act({ key: { kind: 'rebalance', id, part: burnPart }, appId: null }, signal);
      await base.client.mine({ blocks: 3 });
      await attend({ handle, clock, attestations, mintsOn }, id, signal);
      await mints.act({ key: { kind: 'rebalance', id, part: mintPart }, appId: null }, signal);
      await ethereum.client.mine({ blocks: 3 });
    };
  }

  /** @returns where the process died; null if it finished before */
  async function moveDyingAt(n: number): Promise<string | null> {
    const id = `dying-${n}`;
    const [left, came] = [await base.held(), await ethereum.held()];
    const order = move(
      {
        from: { chainId: 8453, account: treasury, token: baseUsdc.token },
        to: { chainId: 1, account: treasury, token: ethereumUsdc.token },
        amount: hundred.toString(),
      },
      { finality: fast, feeMax: '20000' },
    );
    const outside = world.start();
    const facts = { cause: 'worker:rebalances', appId: null } as const;
    await accepted(outside(rebalance, id, (state) => orderRebalance(state, order), facts));
    const dying: { left: number; at: string | null } = { left: n, at: null };
    let process = boot(id, dying);
    for (let round = 0; ; round += 1) {
      const state = await currentState(world.start(), rebalance, id);
      assert.ok(state);
      if (rebalanceStanding(state) === 'done') {
        const expected = { burned: hundred, minted: hundred - 10_000n, fee: 10_000n, inTransit: 0n };
        assert.deepEqual(transitOf(state), expected, `died at ${dying.at}`);
        assert.equal(left - (await base.held()), hundred, `died at ${dying.at}: burned once`);
        assert.equal((await ethereum.held()) - came, hundred - 10_000n, `died at ${dying.at}: minted once`);
        return dying.at;
      }
      assert.ok(round < roundsMax, `died at ${dying.at}, and it does not go on: ${rebalanceStanding(state)}`);
      try {
        await process();
      } catch (error) {
        if (!(error instanceof Died)) throw error;
        process = boot(id, dying);
      }
      world.time.now = plus(world.time.now, 6_000);
    }
  }

  it('burns once and mints once, wherever the process dies', async () => {
    const places: string[] = [];
    for (let n = 1; n <= pointsMax; n += 1) {
      const place = await moveDyingAt(n);
      if (place === null) break;
      places.push(place);
    }
    for (const place of ['burn.beforeSign', 'burn.afterSign', 'burn.beforeBroadcast', 'burn.afterBroadcast'])
      assert.ok(places.includes(place), `${place} is none of ${places.join(', ')}`);
    for (const place of ['mint.beforeSign', 'mint.afterSign', 'mint.beforeBroadcast', 'mint.afterBroadcast'])
      assert.ok(places.includes(place), `${place} is none of ${places.join(', ')}`);
    assert.ok(places.length < pointsMax, 'the last process lives to the end');
  });
});
