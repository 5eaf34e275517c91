/** Chains at their real pace, with a payer and the service's watchers: one for each family. */
import { Asset, Operation, rpc, Keypair as StellarKeypair, TransactionBuilder } from '@stellar/stellar-sdk';
import { Keypair } from 'solana-web3-v1';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { instant } from '../../domain/time.ts';
import { startAnvil } from '../../sandbox/anvil.ts';
import { startSolana } from '../../sandbox/solana/start.ts';
import { fundAccount, plantUsdc, usdc as stellarUsdc } from '../../sandbox/stellar/controls.ts';
import { startStellar } from '../../sandbox/stellar/start.ts';
import { defaultEvmChainConfig, type EvmChainId } from '../../src/chains/evm/config.ts';
import { createEvmIngester } from '../../src/chains/evm/payins/ingester.ts';
import { createEvmRpc } from '../../src/chains/evm/rpc.ts';
import type { Watch } from '../../src/chains/family.ts';
import type { NodeLines } from '../../src/chains/node/limiter.ts';
import type { Ingester } from '../../src/chains/ports.ts';
import { defaultSolanaConfig } from '../../src/chains/solana/config.ts';
import { createSolanaIngester } from '../../src/chains/solana/payins/ingester.ts';
import { createSolanaRpc } from '../../src/chains/solana/rpc.ts';
import { defaultStellarConfig } from '../../src/chains/stellar/config.ts';
import { createStellarIngester } from '../../src/chains/stellar/payins/ingester.ts';
import { createStellarRpc } from '../../src/chains/stellar/rpc.ts';
import { accounts, openPayer } from './chainPayer.ts';
import { openSolanaPayer } from './solanaPayer.ts';

export interface Ground {
  readonly rpcUrl: string;
  readonly ingester: Ingester;
  readonly pollInterval_ms: number;
  /** Sends a payment to a deposit of ours, or to a foreign address. */
  pay(toUs: boolean): Promise<unknown>;
  isOurs(address: string): boolean;
  /** Reports that a deposit's payin is final, which ends its payment. */
  settled(address: string): void;
  stop(): Promise<void>;
}

export async function evmGround(chainId: EvmChainId & ChainId, lines: NodeLines): Promise<Ground> {
  const anvil = await startAnvil({ chainId, mining: { blockTime_s: chainOf(chainId).block_ms / 1_000 } });
  const config = defaultEvmChainConfig(chainId, [anvil.rpcUrl]);
  const send = await openPayer(anvil.rpcUrl, chainId);
  return {
    rpcUrl: anvil.rpcUrl,
    ingester: createEvmIngester(config, createEvmRpc({ ...config, lines })),
    pollInterval_ms: config.pollInterval_ms,
    pay: (toUs) => send(toUs ? accounts.ours : accounts.other),
    isOurs: (address) => address.toLowerCase() === accounts.ours,
    settled: () => {},
    stop: () => anvil.stop(),
  };
}

const slot_ms = 400;
const finalized_slots = 32;

/** @param open number of unpaid deposits at any time; payments go to one of the newest */
export async function solanaGround(lines: NodeLines, open: number): Promise<Ground> {
  const solana = await startSolana({ slot_ms, finalized_slots });
  const payer = await openSolanaPayer(solana.rpcUrl);
  const deposits = createDeposits(open);
  const config = defaultSolanaConfig({ rpcUrls: [solana.rpcUrl], treasury: payer.address });
  return {
    rpcUrl: solana.rpcUrl,
    ingester: createSolanaIngester(config, deposits, createSolanaRpc({ ...config, lines })),
    pollInterval_ms: config.pollInterval_ms,
    pay: (toUs) => payer.pay(toUs ? deposits.next() : newWallet()),
    isOurs: () => true,
    settled: deposits.settled,
    stop: () => solana.stop(),
  };
}

const newWallet = (): string => Keypair.generate().publicKey.toBase58();

/** Deposits as the read models list them: each paid one is replaced by a new one, and is watched like a late one. */
function createDeposits(count: number): Watch & { next(): string; settled(address: string): void } {
  let born = 0;
  const create = () => ({ address: newWallet(), key: '', at: instant(1_700_000_000_000 + born++) });
  const open = new Map(Array.from({ length: count }, create).map((each) => [each.address, each]));
  const late = new Map<string, ReturnType<typeof create>>();
  const unpaid = [...open.keys()];
  const pageOf =
    (list: typeof open): Watch['open'] =>
    async ({ after, max }) =>
      [...list.values()]
        .reverse()
        .filter(({ at }) => after === null || at < after.at)
        .slice(0, max);
  return {
    open: pageOf(open),
    late: pageOf(late),
    next: () => unpaid.pop() ?? newWallet(),
    settled(address) {
      const paid = open.get(address);
      if (!paid) return;
      open.delete(address);
      late.set(address, { ...paid, at: instant(Date.now()) });
      const fresh = create();
      open.set(fresh.address, fresh);
      unpaid.push(fresh.address);
    },
  };
}

/** Interval of ledgers. Each payer pays once per ledger. */
const ledger_ms = 5_000;
const payersOfLedger = 50;

export async function stellarGround(lines: NodeLines): Promise<Ground> {
  const { rpcUrl, networkPassphrase, stop } = await startStellar({ ledger_ms });
  await plantUsdc(rpcUrl);
  const [treasury, ...payers] = Array.from({ length: payersOfLedger + 1 }, () => StellarKeypair.random());
  if (!treasury) throw new Error('a treasury was made');
  for (const { publicKey } of [treasury, ...payers].map((key) => ({ publicKey: key.publicKey() })))
    await fundAccount(rpcUrl, publicKey, { usdc: 10n ** 12n });
  const settings = { rpcUrls: [rpcUrl], networkPassphrase, treasury: treasury.publicKey(), payinContract: null };
  const config = defaultStellarConfig(settings);
  const server = new rpc.Server(rpcUrl, { allowHttp: true });
  let paid = 0;
  return {
    rpcUrl,
    ingester: createStellarIngester(config, createStellarRpc({ ...config, lines })),
    pollInterval_ms: config.pollInterval_ms,
    async pay(toUs) {
      const payer = payers[paid++ % payers.length] ?? treasury;
      const other = payers[(paid + 1) % payers.length] ?? treasury;
      const destination = (toUs ? treasury : other).publicKey();
      const asset = new Asset(stellarUsdc.getCode(), stellarUsdc.getIssuer());
      const transaction = new TransactionBuilder(await server.getAccount(payer.publicKey()), {
        fee: '1000',
        networkPassphrase,
      })
        .addOperation(Operation.payment({ destination, asset, amount: '1' }))
        .setTimeout(60)
        .build();
      transaction.sign(payer);
      await server.sendTransaction(transaction);
    },
    isOurs: (address) => address === treasury.publicKey(),
    settled: () => {},
    stop,
  };
}
