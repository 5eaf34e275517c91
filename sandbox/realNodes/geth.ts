/** A real EVM chain: one go-ethereum node in development mode, with the catalogue's tokens in its genesis. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, createPublicClient, createWalletClient, encodeFunctionData, type Hex } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { type ChainId, chainOf, type TokenSymbol } from '../../domain/chains.ts';
import { forwarderAddresses, forwarderDeployment } from '../../src/chains/evm/addresses.ts';
import { answers, startAnvil } from '../anvil.ts';
import { localRpc } from '../localRpc.ts';
import { sandboxTokenAbi, tokenCodes } from '../tokens.ts';
import { type StartedNode, startNode } from './node.ts';
import { freeNodePort } from './programs.ts';

let minterAccount: PrivateKeyAccount | undefined;

/**
 * Returns the account that holds the chain's coin since its genesis, mints tokens and deploys contracts. The key is anvil's first: public, for
 * tests only. Derived at the first use: each sandbox loads this module, and few run a real node.
 */
function minter(): PrivateKeyAccount {
  minterAccount ??= privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80');
  return minterAccount;
}

const minterCoin = 10n ** 27n;
/** Runtime code of the deterministic deployer (github.com/Arachnid/deterministic-deployment-proxy). */
const deployer = {
  address: '0x4e59b44847b379578588920ca78fbf26c0b4956c',
  code: '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3',
};
/** As Ethereum has them: target and maximum of blobs per block and how fast their price changes (EIP-7840). */
const blobs = {
  cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 },
  prague: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 },
};
const poll_ms = 200;
const gasMax = 3_000_000n;

export interface GethOptions {
  /** The start program: `GETH`. */
  readonly program: string;
  readonly chainId: ChainId;
  /** Chain directory between starts. */
  readonly folder: string;
  readonly logFile: string;
  /** Default: a free port. The port above it is used, too. */
  readonly port?: number;
  /** Seconds between blocks, a whole number from 1. */
  readonly blockTime_s?: number;
  readonly detached?: boolean;
}

export interface Geth extends StartedNode {
  readonly rpcUrl: string;
}

/** Starts the node and waits until it answers. In the same folder it continues the existing chain. */
export async function startGeth(options: GethOptions): Promise<Geth> {
  const { program, chainId, folder, logFile, blockTime_s = 1, detached = false } = options;
  const port = options.port ?? (await freeNodePort('GETH'));
  mkdirSync(folder, { recursive: true });
  const genesisFile = join(folder, 'genesis.json');
  writeFileSync(genesisFile, JSON.stringify(await genesis(chainId)));
  const rpcUrl = `http://127.0.0.1:${port}`;
  const node = await startNode({
    program,
    args: [`${port}`, join(folder, 'geth'), genesisFile, `--dev.period=${Math.ceil(blockTime_s)}`],
    logFile,
    isReady: () => answers(rpcUrl, chainId),
    detached,
  });
  return { ...node, rpcUrl };
}

/** In smallest units. */
export interface GethFunds {
  readonly coin?: bigint;
  readonly tokens?: Readonly<Partial<Record<TokenSymbol, bigint>>>;
}

/** Sends money to accounts by transactions. Returns when they are mined. @throws Error when one is reverted */
export async function endowOnGeth(
  rpcUrl: string,
  chainId: ChainId,
  funds: readonly (readonly [Address, GethFunds])[],
): Promise<void> {
  const calls = funds.flatMap(([account, { coin = 0n, tokens = {} }]): readonly Call[] => {
    const mints = chainOf(chainId).tokens.flatMap(({ symbol, address }) => {
      const amount = tokens[symbol] ?? 0n;
      const data = encodeFunctionData({ abi: sandboxTokenAbi, functionName: 'mint', args: [account, amount] });
      return amount > 0n ? [{ to: address as Address, data, value: 0n }] : [];
    });
    return [...(coin > 0n ? [{ to: account, data: '0x' as Hex, value: coin }] : []), ...mints];
  });
  await send(rpcUrl, calls);
}

/** Deploys a treasury's deposit forwarder, once. @param deployer private key of an account that has coin */
export async function deployForwarderOnGeth(rpcUrl: string, treasury: Address, deployer: Hex): Promise<void> {
  const client = createPublicClient({ transport: localRpc(rpcUrl) });
  if (await client.getCode({ address: forwarderAddresses(treasury).factory })) return;
  await send(rpcUrl, [{ ...forwarderDeployment(treasury), value: 0n }], privateKeyToAccount(deployer));
}

interface Call {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
}

async function send(rpcUrl: string, calls: readonly Call[], sender = minter()): Promise<void> {
  if (calls.length === 0) return;
  const transport = localRpc(rpcUrl);
  const client = createPublicClient({ transport, pollingInterval: poll_ms });
  const wallet = createWalletClient({ account: sender, transport });
  let nonce = await client.getTransactionCount({ address: sender.address, blockTag: 'pending' });
  const hashes: Hex[] = [];
  for (const call of calls) {
    hashes.push(await wallet.sendTransaction({ ...call, chain: null, gas: gasMax, nonce }));
    nonce += 1;
  }
  for (const hash of hashes) {
    const { status } = await client.waitForTransactionReceipt({ hash });
    if (status !== 'success') throw new Error(`transaction ${hash} on ${rpcUrl} was reverted`);
  }
}

/** Development mode of geth is past the merge: all forks are active from the first block. */
async function genesis(chainId: ChainId): Promise<object> {
  const blockForks = [
    'homestead',
    'eip150',
    'eip155',
    'eip158',
    'byzantium',
    'constantinople',
    'petersburg',
    'istanbul',
  ];
  const laterForks = ['muirGlacier', 'berlin', 'london', 'arrowGlacier', 'grayGlacier', 'mergeNetsplit'];
  const timeForks = ['shanghai', 'cancun', 'prague'];
  const codes = await codesOf(chainId);
  return {
    config: {
      chainId,
      ...Object.fromEntries([...blockForks, ...laterForks].map((fork) => [`${fork}Block`, 0])),
      ...Object.fromEntries(timeForks.map((fork) => [`${fork}Time`, 0])),
      terminalTotalDifficulty: 0,
      blobSchedule: blobs,
    },
    difficulty: '0x0',
    gasLimit: '0x3938700',
    alloc: {
      ...Object.fromEntries(codes.map(([address, code]) => [address, { balance: '0x0', code }])),
      [deployer.address]: { balance: '0x0', nonce: '0x1', code: deployer.code },
      [minter().address]: { balance: `0x${minterCoin.toString(16)}` },
    },
  };
}

/** The tokens' constructors run on anvil: a genesis holds code after its constructor. */
async function codesOf(chainId: ChainId): Promise<readonly (readonly [Address, Hex])[]> {
  const anvil = await startAnvil({ chainId, mining: 'manual' });
  try {
    return await tokenCodes(anvil.rpcUrl, chainId);
  } finally {
    await anvil.stop();
  }
}
