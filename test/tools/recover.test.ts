/** `npm run sweep -- recover`: tokens outside the catalogue go from a deposit to the treasury, on local chains. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { base58 } from '@scure/base';
import { address as addressText } from '@solana/kit';
import { Keypair, PublicKey } from 'solana-web3-v1';
import type { Address, Hex } from 'viem';
import type { EventStore } from '../../commands/ports.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { fundWallet, plantMint } from '../../sandbox/solana/controls.ts';
import { endowToken, endowWallet } from '../../sandbox/solana/endow.ts';
import { sandboxTokenAbi, tokenCodes } from '../../sandbox/tokens.ts';
import { createEvmDeposits } from '../../src/chains/evm/addresses.ts';
import { ownerKey, ownerScheme } from '../../src/chains/solana/signer/keys.ts';
import { openEventStore } from '../../src/store/client.ts';
import { spawnEmbeddedNode } from '../../src/store/node/spawn.ts';
import { accountOf, type ChainClient, chainClient, sharedAnvil, treasury } from '../support/anvil.ts';
import { append, createWorld } from '../support/histories.ts';
import { runTool } from '../support/operatorTools.ts';
import { baseUsdc, chose, created, solanaUsdc, terms } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { solanaLab, tokenAccount } from '../support/solana.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const { paymentId } = terms();

/** A data directory whose log has one payment. */
async function dataWith(events: readonly PaymentEvent[]): Promise<string> {
  const dataDir = temporaryDirectory();
  const node = await spawnEmbeddedNode({ dataDir: join(dataDir, 'eventstore') });
  const store = openEventStore({ url: node.url });
  await append({ ...createWorld(), store: store as EventStore }, `payment-${paymentId}`, events);
  await store.close();
  await node.stop();
  return dataDir;
}

async function paidAt(deposit: object, more: readonly PaymentEvent[] = []): Promise<string> {
  const first = created({ alternatives: [solanaUsdc] }) as Extract<PaymentEvent, { type: 'PaymentCreated' }>;
  return dataWith([{ ...first, data: { ...first.data, deposit: { ...first.data.deposit, ...deposit } } }, ...more]);
}

describe('npm run sweep -- recover, on EVM', () => {
  const foreign: Address = '0x1234567890123456789012345678901234567890';
  let client: ChainClient;
  let recover: (...args: string[]) => ReturnType<typeof runTool>;
  let deposit: Address;

  before(async () => {
    const { rpcUrl } = await sharedAnvil(8453);
    client = chainClient(rpcUrl);
    const [[, code] = []] = await tokenCodes(rpcUrl, 8453);
    await client.setCode({ address: foreign, bytecode: code as Hex });
    const own = await createEvmDeposits({ treasury }).assign(paymentId, baseUsdc.token, null);
    deposit = own.address as Address;
    const [DATA_DIR, database] = [await paidAt(own), await freshDatabase()];
    const run = { database, env: { DATA_DIR, RPC_URLS_8453: rpcUrl } };
    recover = (...args) => runTool('sweep', ['recover', ...args], run);
  });

  const balance = (account: Address): Promise<bigint> =>
    client.readContract({ address: foreign, abi: sandboxTokenAbi, functionName: 'balanceOf', args: [account] });

  async function send(from: Address, to: Address, data: Hex): Promise<void> {
    await client.impersonateAccount({ address: from });
    await client.setBalance({ address: from, value: 10n ** 18n });
    const hash = await client.sendTransaction({ account: from, chain: null, to, data });
    await client.mine({ blocks: 1 });
    assert.equal((await client.getTransactionReceipt({ hash })).status, 'success');
  }

  it('prints a transaction that moves the token to the treasury for any sender', async () => {
    const minting = { address: foreign, abi: sandboxTokenAbi, functionName: 'mint', args: [deposit, 1_234n] } as const;
    const minter: Address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
    const minted = await client.writeContract({ ...minting, account: minter, chain: null });
    await client.mine({ blocks: 1 });
    assert.equal((await client.getTransactionReceipt({ hash: minted })).status, 'success');
    assert.equal(await balance(deposit), 1_234n);
    const before = await balance(treasury);

    const { code, said } = await recover(paymentId, '--token', foreign);
    assert.equal(code, 0, said);
    const [, to = ''] = /^ {2}to {4}(0x[0-9a-fA-F]{40})$/m.exec(said) ?? [];
    const [, data = ''] = /^ {2}data {2}(0x[0-9a-f]+)$/m.exec(said) ?? [];
    await send(accountOf(77), to as Address, data as Hex);
    assert.equal(await balance(deposit), 0n);
    assert.equal((await balance(treasury)) - before, 1_234n);
  });

  it('refuses an invalid token address, an unknown payment, and a call that names neither', async () => {
    for (const [args, says] of [
      [[paymentId, '--token', 'USDC'], /USDC is not an address/],
      [['0198f3c2-0000-8000-8000-0000000000ff', '--token', foreign], /no payment has the id/],
      [[paymentId], /Add --token <address> for an EVM deposit, or --fee-payer-file <file>/],
    ] as const) {
      const { code, said } = await recover(...args);
      assert.equal(code, 1);
      assert.match(said, says);
    }
  });
});

describe('npm run sweep -- recover, on Solana', () => {
  const mint = '2KW2XRd9kwqet15Aha2oK3tYvd3nWbTFH1MBiRAv1BE1';
  const [seed, salt] = ['5e'.repeat(32), '0f'.repeat(32)];

  it('moves every token outside the catalogue to the treasury, and reports it', async () => {
    // The command runs in another process: a blockhash lives for 15 s, also where that process is slow.
    const { solana, connection } = await solanaLab({ slot_ms: 100 });
    const [treasury, payer] = [Keypair.generate(), Keypair.generate()];
    const { address } = ownerKey(seed, salt);
    await endowWallet(solana.rpcUrl, treasury.publicKey.toBase58(), { lamports: 10n ** 9n, usdc: 1_000000n });
    await fundWallet(solana.rpcUrl, payer.publicKey.toBase58(), { lamports: 10n ** 9n });
    await plantMint(solana.rpcUrl, mint, 6);
    await endowToken(solana.rpcUrl, address, { mint, decimals: 6, amount: 9_000001n });
    const at = { scheme: ownerScheme, address, salt, memo: null, contract: null, contractMemo: null };
    const DATA_DIR = await paidAt({}, [chose(solanaUsdc, at)]);
    const file = join(DATA_DIR, 'payer.txt');
    writeFileSync(file, `${base58.encode(payer.secretKey)}\n`, { mode: 0o600 });
    const env = {
      ...{ DATA_DIR, RPC_URLS_8453: (await sharedAnvil(8453)).rpcUrl, RPC_URLS_501: solana.rpcUrl },
      ...{ SOLANA_TREASURY_PRIVATE_KEY: base58.encode(treasury.secretKey), SOLANA_DEPOSIT_SEED: seed },
    };
    const run = { database: await freshDatabase(), env };
    const recover = () => runTool('sweep', ['recover', paymentId, '--fee-payer-file', file], run);

    const { code, said } = await recover();
    assert.equal(code, 0, said);
    assert.match(
      said,
      new RegExp(`^9000001 smallest units of ${mint} are with the treasury ${treasury.publicKey}`, 'm'),
    );
    const account = await tokenAccount(treasury.publicKey, addressText(mint));
    assert.equal((await connection.getTokenAccountBalance(account, 'finalized')).value.amount, '9000001');
    const left = await connection.getAccountInfo(await tokenAccount(new PublicKey(address), addressText(mint)));
    assert.equal(left, null);
    assert.match((await recover()).said, /holds no token outside the catalogue/);
  });
});
