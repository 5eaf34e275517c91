import assert from 'node:assert/strict';
import { parseEther } from 'viem';
import { chainOf, findToken } from '../../../../domain/chains.ts';
import type { SignedAttempt } from '../../../../domain/transfer/shapes.ts';
import { fund } from '../../../../sandbox/tokens.ts';
import { createEvmPayoutRail } from '../../../../src/chains/evm/payouts/rail.ts';
import type { Fate } from '../../../../src/chains/ports.ts';
import { accountOf, type ChainClient, chainClient, sharedAnvil, treasury } from '../../../support/anvil.ts';
import { type Behaviour, honest, type NodeProxy, Refusal, startProxy } from '../../proxy.ts';
import { evmConfig } from '../world.ts';
import { signedBy } from './signing.ts';

const { signal } = new AbortController();
const usdc = findToken(chainOf(8453), 'USDC')!;
const depths = { final: 1, finalLarge: 40, payout: 3 };

/** Blocks whose state a full node keeps, on this short chain. */
const remembered = 20n;

describe('a nonce that a foreign transaction used', () => {
  let client: ChainClient;
  let node: NodeProxy;
  let rail: ReturnType<typeof railOf>;
  const railOf = (urls: readonly string[]) => createEvmPayoutRail({ ...evmConfig(8453, urls), depths }, treasury);
  beforeEach(async () => {
    const { rpcUrl } = await sharedAnvil(8453);
    client = chainClient(rpcUrl);
    await fund(rpcUrl, 8453, treasury, { gas: parseEther('1'), tokens: { USDC: 10n ** 9n } });
    node = await startProxy(rpcUrl);
    rail = railOf([node.url]);
  });

  const fateOf = (attempt: SignedAttempt): Promise<Fate> => rail.fate([attempt], signal);

  /** The attempt is signed and never sent. Another holder of the key sends a cancel or a transfer instead. */
  async function taken(by: 'cancel' | 'transfer'): Promise<SignedAttempt> {
    const nonce = await rail.numbering.minedNonce(signal);
    assert.ok(nonce !== null);
    const order = { chainId: 8453, token: usdc, receiver: accountOf(921), receiverMemo: null, amount: 5n } as const;
    const attempt = await signedBy(await rail.numbering.prepare(order, nonce));
    const strange = await signedBy(
      by === 'cancel'
        ? await rail.numbering.prepareCancel(nonce)
        : await rail.numbering.prepare({ ...order, receiver: accountOf(922), amount: 7n }, nonce),
      1,
      by === 'cancel' ? 'cancel' : 'payout',
    );
    await rail.broadcast(strange.bytes);
    await client.mine({ blocks: 1 });
    return attempt;
  }

  /** A full node, which has only the recent states of accounts. */
  const forgetting =
    (...lacking: readonly string[]): Behaviour =>
    async (method, params, forward) => {
      if (lacking.includes(method)) throw new Refusal(-32601, `the method ${method} does not exist`);
      const height = method === 'eth_getTransactionCount' ? String(params[1]) : '';
      if (height.startsWith('0x') && BigInt(height) < (await client.getBlockNumber()) - remembered)
        throw new Refusal(-32000, 'missing trie node');
      return forward(method, params);
    };
  const index = 'eth_getTransactionBySenderAndNonce';

  const isDead = (fate: Fate) => assert.equal(fate.kind === 'dead' && fate.proof.reason, 'nonceUsed');

  it('is remembered from its first detection: dead once that is deepest final, whatever states are gone', async () => {
    const attempt = await taken('cancel');
    node.behave(forgetting(index, 'eth_getLogs'));
    assert.deepEqual(await fateOf(attempt), { kind: 'unknown' });
    await client.mine({ blocks: 30 });
    assert.deepEqual(await fateOf(attempt), { kind: 'pending', mined: true });
    await client.mine({ blocks: 30 });
    isDead(await fateOf(attempt));
    assert.equal(await rail.canLand(attempt, signal), false);
  });

  for (const [how, by, lacking] of [
    ['by the index of senders, where a node has one', 'cancel', ['eth_getLogs']],
    ['by what the account transferred', 'transfer', [index]],
  ] as const) {
    it(`is found long after ${how}, without old states`, async () => {
      const attempt = await taken(by);
      await client.mine({ blocks: 100 });
      node.behave(forgetting(...lacking));
      isDead(await fateOf(attempt));
    });
  }

  it('is not searched again and again if nothing proves it, and then needs an archive node', async () => {
    const attempt = await taken('cancel');
    await client.mine({ blocks: 100 });
    node.behave(forgetting(index));
    assert.deepEqual(await fateOf(attempt), { kind: 'unknown' });
    assert.equal(await rail.canLand(attempt, signal), true);
    await client.mine({ blocks: 60 });
    const before = node.calls.get('eth_getLogs') ?? 0;
    const fate = await fateOf(attempt);
    assert.ok(fate.kind === 'pending' && fate.mined);
    assert.equal(fate.dispute?.reason, 'nodesForgot');
    assert.match(
      fate.dispute?.message ?? '',
      /which transaction used nonce \d+ of 0x\w+: name an archive node in RPC_URLS_8453/,
    );
    assert.equal(node.calls.get('eth_getLogs') ?? 0, before);
    assert.equal(await rail.canLand(attempt, signal), false);

    const archive = await startProxy((await sharedAnvil(8453)).rpcUrl, honest);
    rail = railOf([archive.url]);
    isDead(await fateOf(attempt));
  });

  it('is forgotten when its block leaves the chain', async () => {
    const attempt = await taken('cancel');
    const fate = await fateOf(attempt);
    assert.deepEqual(fate, { kind: 'unknown' });
    node.behave(async (method, params, forward) => {
      const answer = await forward(method, params);
      return method === 'eth_getTransactionCount' ? `0x${BigInt(attempt.nonce ?? 0).toString(16)}` : answer;
    });
    await client.mine({ blocks: 60 });
    assert.deepEqual(await fateOf(attempt), { kind: 'unknown' });
    assert.equal(await rail.canLand(attempt, signal), true);
  });
});
