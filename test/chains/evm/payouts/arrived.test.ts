import assert from 'node:assert/strict';
import { numberToHex, pad, parseEther } from 'viem';
import { chainOf, findToken } from '../../../../domain/chains.ts';
import { fund } from '../../../../sandbox/tokens.ts';
import { createEvmPayoutRail } from '../../../../src/chains/evm/payouts/rail.ts';
import { accountOf, type ChainClient, chainClient, sharedAnvil, treasury } from '../../../support/anvil.ts';
import { type Behaviour, type NodeProxy, startProxy } from '../../proxy.ts';
import { evmConfig } from '../world.ts';
import { signedBy } from './signing.ts';

const { signal } = new AbortController();
const usdc = findToken(chainOf(8453), 'USDC')!;
const ordered = 10_000000n;
const receiver = accountOf(901);
/** EIP-7708: this address logs transfers of the coin, in the form of a token's. */
const systemAddress = '0xfffffffffffffffffffffffffffffffffffffffe';

interface Log {
  address: string;
  data: string;
  topics: string[];
}

describe('an EVM payout that succeeded', () => {
  let client: ChainClient;
  let node: NodeProxy;
  beforeEach(async () => {
    const { rpcUrl } = await sharedAnvil(8453);
    client = chainClient(rpcUrl);
    await fund(rpcUrl, 8453, treasury, { gas: parseEther('1'), tokens: { USDC: ordered } });
    node = await startProxy(rpcUrl);
  });

  /** Sends a transaction and mines it to a depth. `logs` maps the logs of its receipt. */
  async function landed(depth: number, logs: (told: Log) => Log[]) {
    const config = { ...evmConfig(8453, [node.url]), depths: { final: 1, finalLarge: 6, payout: 3 } };
    const rail = createEvmPayoutRail(config, treasury);
    const order = { chainId: 8453, token: usdc, receiver, receiverMemo: null, amount: ordered } as const;
    const attempt = await signedBy(await rail.numbering.prepare(order, await rail.numbering.minedNonce(signal)));
    await rail.broadcast(attempt.bytes);
    await client.mine({ blocks: 1 + depth });
    node.behave(telling(logs));
    return rail.fate([attempt], signal);
  }

  const telling =
    (logs: (told: Log) => Log[]): Behaviour =>
    async (method, params, forward) => {
      const answer = (await forward(method, params)) as { logs: Log[] };
      return method === 'eth_getTransactionReceipt' ? { ...answer, logs: answer.logs.flatMap(logs) } : answer;
    };

  const moving = (told: Log, amount: bigint) => ({ ...told, data: pad(numberToHex(amount), { size: 32 }) });

  for (const [what, logs, arrived] of [
    ['less one per cent is short: USDT can switch on a fee', (told: Log) => [moving(told, 9_900000n)], 9_900000n],
    ['nothing is short: a token may return false', () => [], 0n],
    ['another token’s is short', (told: Log) => [{ ...told, address: accountOf(902) }], 0n],
    ['the coin’s own is short', (told: Log) => [{ ...told, address: systemAddress }, moving(told, 1n)], 1n],
  ] as const) {
    it(`with ${what}`, async () => {
      const fate = await landed(6, logs);
      assert.equal(
        fate.kind === 'short' && fate.arrived,
        arrived,
        JSON.stringify(fate, (_, v) => String(v)),
      );
    });
  }

  it('is reported as short only where the chain is deepest final: a shallow result may be undone', async () => {
    assert.deepEqual(await landed(4, () => []), { kind: 'pending', mined: true });
  });

  for (const [what, logs] of [
    ['all of it', (told: Log) => [told]],
    ['all of it in two parts', (told: Log) => [moving(told, 4_000000n), moving(told, 6_000000n)]],
    ['all of it, beside logs of the coin’s movements', (told: Log) => [{ ...told, address: systemAddress }, told]],
  ] as const) {
    it(`with ${what} is final`, async () => {
      assert.equal((await landed(4, logs)).kind, 'final');
    });
  }
});
