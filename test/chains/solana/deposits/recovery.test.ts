/** Tokens outside the catalogue at a deposit: an operator moves them to the treasury. */
import assert from 'node:assert/strict';
import { base58 } from '@scure/base';
import { address as addressText } from '@solana/kit';
import { type Keypair, PublicKey } from 'solana-web3-v1';
import type { RecoveredTokens } from '../../../../commands/sweeps/ports.ts';
import { plantMint } from '../../../../sandbox/solana/controls.ts';
import { endowToken } from '../../../../sandbox/solana/endow.ts';
import { createSolanaSweep } from '../../../../src/chains/solana/deposits/sweep.ts';
import { createSolanaRpc } from '../../../../src/chains/solana/rpc.ts';
import { ownerKey } from '../../../../src/chains/solana/signer/keys.ts';
import { createRecovery } from '../../../../src/chains/solana/signer/recovery.ts';
import { tokenAccount } from '../../../support/solana.ts';
import { startProxy } from '../../proxy.ts';
import { depositSeed, type SolanaWorld, signal, solanaWorld } from '../world.ts';

const mints = ['2KW2XRd9kwqet15Aha2oK3tYvd3nWbTFH1MBiRAv1BE1', '9CuDGfmHrW2VBPGJVLnpDPPrtGZrCVFFFbHMWM8eKGHk'] as const;
const salt = '0e'.repeat(32);
const deposit = { address: ownerKey(depositSeed, salt).address, salt };
const owner = new PublicKey(deposit.address);

describe('recovering other tokens from a deposit on Solana', () => {
  let world: SolanaWorld;
  let payer: Keypair;
  beforeEach(async () => {
    world = await solanaWorld();
    payer = await world.lab.person();
    for (const [n, mint] of mints.entries()) {
      await plantMint(world.solana.rpcUrl, mint, 6 + n);
      await endowToken(world.solana.rpcUrl, deposit.address, { mint, decimals: 6 + n, amount: 7_000000n + BigInt(n) });
    }
    await world.lab.pay({ from: await world.lab.person(), to: owner, amount: 4_000000n });
    world.settle(world.solana.chain.finality.finalized_slots);
  });
  afterEach(() => world.lab.stop());

  const keyOf = (of: Keypair) => base58.encode(of.secretKey);
  const sweepWith = (url: string, seed: string | null = depositSeed) => {
    const config = world.config([url]);
    const rpc = createSolanaRpc(config);
    const recovery = createRecovery({ ...config, rpc, depositSeed: seed });
    return createSolanaSweep(config, async () => null, rpc, recovery);
  };

  /** The network continues with each look at a transaction: its blockhash is valid however slow the machine is. */
  async function recover(key = keyOf(payer), seed: string | null = depositSeed, of = deposit) {
    const { url } = await startProxy(world.solana.rpcUrl, (method, params, forward) => {
      if (method === 'getSignatureStatuses') world.settle(world.solana.chain.finality.finalized_slots);
      return forward(method, params);
    });
    const recovered: RecoveredTokens[] = [];
    for await (const each of sweepWith(url, seed).recoverTokens?.(of, key, signal) ?? []) recovered.push(each);
    return recovered;
  }

  async function held(of: PublicKey, mint: string): Promise<bigint | null> {
    const account = await tokenAccount(of, addressText(mint));
    const { value } = await world.lab.connection.getParsedAccountInfo(account, 'processed');
    return value && 'parsed' in value.data ? BigInt(value.data.parsed.info.tokenAmount.amount) : null;
  }

  it('moves each to the treasury’s account for it, closes the deposit’s, and ignores tokens of the catalogue', async () => {
    const treasury = world.treasury.publicKey;
    const before = await world.lab.connection.getBalance(treasury, 'processed');
    const moved = await recover();
    assert.deepEqual(
      moved.map(({ token, amount }) => [token, amount]).toSorted(),
      mints.map((mint, n) => [mint, 7_000000n + BigInt(n)]).toSorted(),
    );
    for (const [n, mint] of mints.entries()) {
      assert.equal(await held(treasury, mint), 7_000000n + BigInt(n));
      assert.equal(await held(owner, mint), null);
    }
    assert.equal(await world.balance(owner), 4_000000n);
    assert.equal(await world.lab.connection.getBalance(treasury, 'processed'), before);
    assert.deepEqual(await recover(), []);
  });

  it('is refused with the treasury’s own key for the fees, without the seed, or for another treasury’s deposit', async () => {
    await assert.rejects(recover(keyOf(world.treasury)), /the treasury must not pay the fees/);
    await assert.rejects(recover('no key'), /key is none/);
    await assert.rejects(recover(keyOf(payer), null), /SOLANA_DEPOSIT_SEED is missing/);
    await assert.rejects(recover(keyOf(payer), 'ab'.repeat(32)), /is not derived from this/);
    for (const mint of mints) assert.notEqual(await held(owner, mint), null);
  });
});
