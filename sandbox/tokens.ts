/** Sets a fresh local chain up like production: the catalogue's tokens at their real addresses, and money to spend. */
import {
  type Address,
  createTestClient,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  parseAbi,
  publicActions,
  walletActions,
} from 'viem';
import { type ChainId, chainOf, type Token, type TokenSymbol } from '../domain/chains.ts';
import { deployer, forwarderAddresses, forwarderDeployment } from '../src/chains/evm/addresses.ts';
import { sandboxTether } from './contracts/artifacts/SandboxTether.ts';
import { sandboxToken } from './contracts/artifacts/SandboxToken.ts';
import { sandboxUsdc } from './contracts/artifacts/SandboxUsdc.ts';
import { localRpc } from './localRpc.ts';

/** The account that anvil signs for; it mints and deploys. Test money only. */
const minter: Address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const gasMax = 3_000_000n;

export const sandboxTokenAbi = parseAbi([
  'function mint(address to, uint256 amount)',
  'function setFrozen(address account, bool value)',
  'function balanceOf(address account) view returns (uint256)',
  'function decimals() view returns (uint8)',
]);

export interface Funds {
  /** In the chain's own coin, in wei. */
  readonly gas?: bigint;
  /** In smallest units. */
  readonly tokens?: Readonly<Partial<Record<TokenSymbol, bigint>>>;
}

/** Puts every catalogue token of the chain at its production address; Ethereum's USDT is the one without return values. */
export async function plantTokens(rpcUrl: string, chainId: ChainId): Promise<void> {
  const client = connect(rpcUrl);
  if ((await client.getCode({ address: deployer })) === undefined) {
    throw new Error(`chain ${chainId} at ${rpcUrl} lacks the deterministic deployer ${deployer}: start anvil with it`);
  }
  const codes = await tokenCodes(rpcUrl, chainId);
  await Promise.all(codes.map(([address, bytecode]) => client.setCode({ address, bytecode })));
}

/** Runs the tokens' constructors on a node, without a transaction. @returns each token's production address and its code */
export async function tokenCodes(rpcUrl: string, chainId: ChainId): Promise<readonly (readonly [Address, Hex])[]> {
  const client = connect(rpcUrl);
  return Promise.all(
    chainOf(chainId).tokens.map(async (token) => {
      const { data } = await client.call({ data: creationCode(chainId, token) });
      if (data === undefined) throw new Error(`the sandbox ${token.symbol} of chain ${chainId} has no code`);
      return [token.address as Address, data] as const;
    }),
  );
}

/** Deploys a treasury's deposit forwarder, once. */
export async function plantForwarder(rpcUrl: string, treasury: Address): Promise<void> {
  const client = connect(rpcUrl);
  if (await client.getCode({ address: forwarderAddresses(treasury).factory })) return;
  await settle(rpcUrl, [forwarderDeployment(treasury)]);
}

/** Adds money to an account. Returns when it is mined, for any block time. */
export async function fund(rpcUrl: string, chainId: ChainId, account: Address, funds: Funds): Promise<void> {
  const client = connect(rpcUrl);
  if (funds.gas) {
    const value = (await client.getBalance({ address: account })) + funds.gas;
    await client.setBalance({ address: account, value });
  }
  const { tokens } = chainOf(chainId);
  const minted = tokens.filter((token) => funds.tokens?.[token.symbol]);
  await settle(
    rpcUrl,
    minted.map((token) => ({
      to: token.address as Address,
      data: encodeFunctionData({
        abi: sandboxTokenAbi,
        functionName: 'mint',
        args: [account, funds.tokens?.[token.symbol] ?? 0n],
      }),
    })),
  );
}

function creationCode(chainId: ChainId, token: Token): Hex {
  if (chainId === 1 && token.symbol === 'USDT') return sandboxTether.bytecode;
  const { abi, bytecode } = hasAuthorizations(chainId, token) ? sandboxUsdc : sandboxToken;
  return encodeDeployData({ abi, bytecode, args: [token.symbol, token.decimals] });
}

/** As on the chains that they replace: BNB's USDC is Binance's own token. */
const hasAuthorizations = (chainId: ChainId, { symbol }: Token): boolean => symbol === 'USDC' && chainId !== 56;

/** Sends transactions from the minter and mines them at once. */
async function settle(rpcUrl: string, calls: readonly { to: Address; data: Hex }[]): Promise<void> {
  if (calls.length === 0) return;
  const client = connect(rpcUrl);
  const hashes: Hex[] = [];
  for (const call of calls) {
    hashes.push(await client.sendTransaction({ ...call, account: minter, chain: null, gas: gasMax }));
  }
  await client.mine({ blocks: 1 });
  for (const hash of hashes) {
    const { status } = await client.getTransactionReceipt({ hash });
    if (status !== 'success') throw new Error(`sandbox transaction ${hash} on ${rpcUrl} was reverted`);
  }
}

const connect = (rpcUrl: string) =>
  createTestClient({ mode: 'anvil', transport: localRpc(rpcUrl), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);
