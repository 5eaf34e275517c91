/** A random day of all kinds of steps on local chains of all families: the treasury's books balance to the last unit. */
import assert from 'node:assert/strict';
import { Operation } from '@stellar/stellar-sdk';
import fc from 'fast-check';
import { Keypair, SystemProgram } from 'solana-web3-v1';
import { type Address, encodeFunctionData, erc20Abi, parseEther } from 'viem';
import { chainOf, findToken } from '../../domain/chains.ts';
import { fund, sandboxTokenAbi } from '../../sandbox/tokens.ts';
import { createEvmHistory } from '../../src/chains/evm/history.ts';
import { createEvmPayoutRail } from '../../src/chains/evm/payouts/rail.ts';
import { createEvmRpc } from '../../src/chains/evm/rpc.ts';
import { createSolanaHistory } from '../../src/chains/solana/history.ts';
import { createSolanaRpc } from '../../src/chains/solana/rpc.ts';
import { createStellarHistory } from '../../src/chains/stellar/history.ts';
import { createStellarIngester } from '../../src/chains/stellar/payins/ingester.ts';
import { createStellarRpc } from '../../src/chains/stellar/rpc.ts';
import { signedBy } from '../chains/evm/payouts/signing.ts';
import { createWorld, evmConfig, payer } from '../chains/evm/world.ts';
import { solanaWorld } from '../chains/solana/world.ts';
import { payingWorld } from '../chains/stellar/paying.ts';
import { accountOf, treasury } from '../support/anvil.ts';
import { beginDay, type Day, type Ground } from '../support/booksDay.ts';
import { tokenAccount } from '../support/solana.ts';
import { Asset, usdc } from '../support/stellar.ts';
import { isFull } from '../support/suite.ts';

const { signal } = new AbortController();

const steps = ['transfer', 'dies', 'cancel', 'topUp', 'coin', 'byHand', 'look'] as const;
type Step = { readonly kind: (typeof steps)[number]; readonly units: bigint };

const day = (max: number): fc.Arbitrary<readonly Step[]> =>
  fc.array(fc.record({ kind: fc.constantFrom(...steps), units: fc.bigInt(1n, 900_000n) }), {
    minLength: 5,
    maxLength: max,
  });

async function take(at: Day, { kind, units }: Step): Promise<void> {
  switch (kind) {
    case 'transfer':
      return at.transfer(units);
    case 'dies':
      return at.transfer(units, { dies: true });
    case 'cancel':
      return at.cancel();
    case 'topUp':
      return at.give('token', units);
    case 'coin':
      return at.give('coin', units);
    case 'byHand':
      return at.byHand();
    case 'look':
      return void (await at.look());
  }
}

/** Takes each kind of step once, then random ones of the seed. */
async function closesAfter(ground: Ground, { runs, seed }: { readonly runs: number; readonly seed: number }) {
  const whole = await beginDay(ground);
  for (const kind of steps) await take(whole, { kind, units: 20_001n });
  await whole.closes();
  const property = fc.asyncProperty(day(9), async (chosen) => {
    const at = await beginDay(ground);
    for (const step of chosen) await take(at, step);
    await at.closes();
  });
  await fc.assert(property, { numRuns: runs, seed, endOnFailure: true });
}

describe('the books of a treasury close after a day of transfers, failures, cancels, gifts and manual transfers', () => {
  it('on EVM, where received coin is visible only in the balances', async () => {
    await closesAfter(await evmGround(), { runs: isFull ? 3 : 1, seed: 16 });
  });

  it('on Stellar, where payins arrive at the treasury itself', async () => {
    await closesAfter(await stellarGround(), { runs: isFull ? 2 : 1, seed: 16 });
  });

  it('on Solana, where receivers’ accounts cost rent', async () => {
    await closesAfter(await solanaGround(), { runs: isFull ? 2 : 1, seed: 16 });
  });
});

async function evmGround(): Promise<Ground> {
  const chainId = 8453;
  const world = await createWorld(chainId);
  const { client, rpcUrl } = world;
  await fund(rpcUrl, chainId, treasury, { gas: parseEther('5'), tokens: { USDC: 10n ** 12n } });
  const config = { ...evmConfig(chainId, [rpcUrl]), depths: { final: 1, finalLarge: 0, payout: 0 } };
  const token = findToken(chainOf(chainId), 'USDC') ?? assert.fail();
  const receivers = Array.from({ length: 10_000 }).keys();
  const transferOf = (to: Address, units: bigint) =>
    encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, units] });
  return {
    rail: createEvmPayoutRail(config, treasury),
    history: createEvmHistory(config, createEvmRpc(config)),
    token,
    payinAddresses: [],
    sign: (unsigned, kind) => signedBy(unsigned, 1, kind),
    receiver: async () => accountOf(3_000 + (receivers.next().value ?? assert.fail())),
    async refuse(receiver) {
      const [sender] = await client.getAddresses();
      const call = { address: token.address as Address, abi: sandboxTokenAbi, functionName: 'setFrozen' } as const;
      const args = [receiver as Address, true] as const;
      await client.writeContract({ ...call, args, account: sender ?? assert.fail(), chain: null });
      await world.mine(1);
    },
    force: async (bytes) => void (await client.sendRawTransaction({ serializedTransaction: bytes as `0x${string}` })),
    settle: () => world.mine(2),
    async give(asset, units) {
      if (asset === 'token') await world.send(treasury, units);
      else await client.sendTransaction({ account: payer, chain: null, to: treasury, value: units, gas: 50_000n });
      return undefined;
    },
    async byHand() {
      await client.impersonateAccount({ address: treasury });
      const data = transferOf(accountOf(99), 12_345n);
      const to = token.address as Address;
      await client.sendTransaction({ account: treasury, chain: null, to, data, gas: 200_000n });
      await client.stopImpersonatingAccount({ address: treasury });
    },
  };
}

async function stellarGround(): Promise<Ground> {
  const world = await payingWorld();
  const { lab, rail, payer: stranger } = world;
  const [token] = chainOf(1500).tokens;
  const config = world.config();
  const ingester = createStellarIngester(config);
  const receivers = new Map<string, Awaited<ReturnType<typeof lab.person>>>();
  const amountOf = (units: bigint) => (Number(units) / 1e7).toFixed(7);
  const account = world.treasury.publicKey();
  return {
    rail,
    history: createStellarHistory(config, createStellarRpc(config)),
    token: token ?? assert.fail(),
    payinAddresses: [account, world.payinContract],
    sign: (unsigned, kind) => world.sign(unsigned, 1, { kind, reference: 'day' }),
    async receiver() {
      const person = await lab.person(0n);
      receivers.set(person.publicKey(), person);
      return person.publicKey();
    },
    async refuse(receiver) {
      await lab.go(receivers.get(receiver) ?? assert.fail(), [Operation.changeTrust({ asset: usdc, limit: '0' })]);
    },
    force: (bytes) => rail.broadcast(bytes),
    settle: async () => {},
    async give(asset, units) {
      const kind = asset === 'token' ? usdc : Asset.native();
      const amount = amountOf(asset === 'token' ? units + 100_000n : units);
      const { txHash } = await lab.go(stranger, [Operation.payment({ destination: account, asset: kind, amount })]);
      return asset === 'token' ? (await ingester.lookUp(txHash, signal))[0] : undefined;
    },
    async byHand() {
      const payment = Operation.payment({ destination: stranger.publicKey(), asset: usdc, amount: '0.0012345' });
      await lab.go(world.treasury, [payment]);
    },
  };
}

async function solanaGround(): Promise<Ground> {
  const world = await solanaWorld();
  const { lab, rail } = world;
  const [token] = chainOf(501).tokens;
  const stranger = await lab.person(500_000_000n);
  const receivers = new Map<string, Keypair>();
  const owner = world.treasury.publicKey;
  return {
    rail,
    history: createSolanaHistory(createSolanaRpc(world.config())),
    token: token ?? assert.fail(),
    payinAddresses: [],
    sign: (unsigned, kind) => world.sign(unsigned, 1, { kind, reference: unsigned.order.reference ?? '' }),
    async receiver(holds) {
      const wallet = holds ? await lab.person(0n) : Keypair.generate();
      world.settle();
      receivers.set(wallet.publicKey.toBase58(), wallet);
      return wallet.publicKey.toBase58();
    },
    async refuse(receiver) {
      const wallet = receivers.get(receiver) ?? assert.fail();
      const closing = lab.close(wallet.publicKey, await tokenAccount(wallet.publicKey));
      await lab.send(await lab.signed(wallet, [closing]));
    },
    force: async (bytes) =>
      void (await lab.connection.sendRawTransaction(Buffer.from(bytes, 'base64'), { skipPreflight: true })),
    settle: async () => world.settle(),
    async give(asset, units) {
      if (asset === 'token') {
        await lab.pay({ from: stranger, to: owner, amount: units });
        return undefined;
      }
      const gift = SystemProgram.transfer({ fromPubkey: stranger.publicKey, toPubkey: owner, lamports: Number(units) });
      await lab.send(await lab.signed(stranger, [gift]));
      return undefined;
    },
    async byHand() {
      const payment = await lab.payment({ from: world.treasury, to: stranger.publicKey, amount: 12_345n });
      await lab.send(await lab.signed(world.treasury, payment));
    },
  };
}
