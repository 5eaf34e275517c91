/** A Stellar network with a treasury and its payin contract, and the service's reads of it. */
import { type Keypair, type Memo, Operation } from '@stellar/stellar-sdk';
import type { Cursor, TransferLog } from '../../../commands/chainPorts.ts';
import type { Stellar, StellarOptions } from '../../../sandbox/stellar/stellar.ts';
import { defaultStellarConfig, type StellarConfig } from '../../../src/chains/stellar/config.ts';
import { createStellarIngester } from '../../../src/chains/stellar/payins/ingester.ts';
import { patience_ms } from '../../support/patience.ts';
import { addressArg, i128Arg, type StellarLab, stellarLab, stringArg, usdc } from '../../support/stellar.ts';

export const { signal } = new AbortController();

/** The address of a muxed contract (SC_ADDRESS_TYPE_MUXED_CONTRACT, CAP-84) as a value, by hand. */
export const muxedContract = Buffer.concat([
  Buffer.from([0, 0, 0, 18, 0, 0, 0, 5]),
  Buffer.alloc(8, 1),
  Buffer.alloc(32, 2),
]);

export interface StellarWorld {
  readonly lab: StellarLab;
  readonly stellar: Stellar;
  readonly treasury: Keypair;
  readonly payer: Keypair;
  readonly payinContract: string;
  config(urls?: readonly string[], more?: Partial<StellarConfig>): StellarConfig;
  /** Sends a classic payment, by default to the treasury. @param amount such as "1.5" @returns its hash */
  send(amount: string, memo?: Memo, destination?: string): Promise<string>;
  /** Calls the payin contract. @param amount in smallest units @returns its hash */
  pay(amount: bigint, memo: string, contract?: string): Promise<string>;
  /** Cursor at the network's present head. */
  here(): Cursor;
}

/** The network's clock is a day late, so that tests can advance it; transactions that the SDK builds are still valid. */
const yesterday_s = () => Math.floor(Date.now() / 1_000) - 86_400;

export async function stellarWorld(options: Partial<StellarOptions> = {}): Promise<StellarWorld> {
  const lab = await stellarLab({ now_s: yesterday_s, ...options });
  const { stellar } = lab;
  const [treasury, payer] = [await lab.person(0n), await lab.person()];
  const payinContract = await lab.deployPayin(treasury, treasury.publicKey());
  const config: StellarWorld['config'] = (urls = [stellar.rpcUrl], more = {}) => ({
    ...defaultStellarConfig({
      rpcUrls: urls,
      networkPassphrase: lab.passphrase,
      treasury: treasury.publicKey(),
      payinContract,
    }),
    callTimeout_ms: patience_ms,
    ...more,
  });
  return {
    lab,
    stellar,
    treasury,
    payer,
    payinContract,
    config,
    async send(amount, memo, destination = treasury.publicKey()) {
      const got = await lab.go(payer, [Operation.payment({ destination, asset: usdc, amount })], memo);
      return got.txHash;
    },
    async pay(amount, memo, contract = payinContract) {
      const args = [addressArg(payer.publicKey()), i128Arg(amount), stringArg(memo)];
      return (await lab.call(payer, contract, 'pay', ...args)).txHash;
    },
    here: () => cursorAt(stellar.chain.history.head().sequence),
  };
}

export const cursorAt = (ledger: number): Cursor => ({
  chainId: 1500,
  pass: 'final',
  blockNumber: BigInt(ledger),
  blockHash: `ledger ${ledger}`,
  chainTime: '2026-01-01T00:00:00.000Z' as Cursor['chainTime'],
});

/** The service's ingester for a configuration. */
export const watching = (config: StellarConfig) => ({ ingester: createStellarIngester(config) });

export async function collected<T>(all: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of all) found.push(each);
  return found;
}

/** Scans once from a cursor. */
export async function scanned(config: StellarConfig, from: Cursor) {
  const { ingester } = watching(config);
  const ranges = await collected(ingester.scan(from, signal));
  /** Ledgers that no node has any more. */
  const missed = ranges.flatMap((range) => range.missed ?? []);
  return { logs: ranges.flatMap(({ logs }) => logs), ranges, missed, ingester, cursor: ranges.at(-1)?.next ?? from };
}

/** Relevant fields of logs. */
export const briefly = (logs: readonly TransferLog[]) => logs.map(({ to, memo, amount }) => ({ to, memo, amount }));
