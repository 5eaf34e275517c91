/** Circle's protocol (CCTP version 2) on EVM chains: the calls that burn and mint. */
import { type Address, encodeFunctionData, erc20Abi, type Hex, parseAbi } from 'viem';
import { assert } from '../../../domain/decider.ts';
import { address32, addressing } from '../../../domain/rebalance/burnMessage.ts';
import { type CctpChainId, cctpContracts, domainOf } from '../../../domain/rebalance/cctp.ts';
import { oftOn } from '../../../domain/rebalance/usdt0.ts';
import type { AllowedContract } from '../../../domain/transfer/shapes.ts';
import { ask, askEach, text } from '../node/jsonRpc.ts';
import type { TransferOrder } from '../ports.ts';
import { payManyAddress } from './payMany.ts';
import { quantity } from './reads.ts';
import type { EvmNode } from './rpc.ts';

export const messengerAbi = parseAbi([
  'function depositForBurn(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold)',
  'function depositForBurnWithHook(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold, bytes hookData)',
  'function localMessageTransmitter() view returns (address transmitter)',
  'function localMinter() view returns (address minter)',
]);
export const transmitterAbi = parseAbi([
  'function receiveMessage(bytes message, bytes attestation) returns (bool success)',
  'function usedNonces(bytes32 nonce) view returns (uint256 used)',
  'function localDomain() view returns (uint32 domain)',
]);

interface Call {
  readonly to: Address;
  readonly data: Hex;
}

export function burnCall({ token, form, amount }: Pick<TransferOrder, 'token' | 'form' | 'amount'>): Call {
  assert(form?.kind === 'burn', 'only a burn burns');
  const { destinationDomain, feeMax, finality } = form;
  const { mintRecipient, destinationCaller, hookData } = addressing(destinationDomain, form.mintRecipient);
  const args = [
    ...([amount, destinationDomain, `0x${mintRecipient}`, token.address as Address] as const),
    ...([`0x${destinationCaller}`, BigInt(feeMax), finality] as const),
  ] as const;
  const data =
    hookData === ''
      ? encodeFunctionData({ abi: messengerAbi, functionName: 'depositForBurn', args })
      : encodeFunctionData({
          abi: messengerAbi,
          functionName: 'depositForBurnWithHook',
          args: [...args, `0x${hookData}`],
        });
  return { to: cctpContracts.messenger as Address, data };
}

export function mintCall({ form }: Pick<TransferOrder, 'form'>): Call {
  assert(form?.kind === 'mint', 'only a mint mints');
  const args = [form.message as Hex, form.attestation as Hex] as const;
  const data = encodeFunctionData({ abi: transmitterAbi, functionName: 'receiveMessage', args });
  return { to: cctpContracts.transmitter as Address, data };
}

/** Contracts that the treasury lets take its tokens, by their names in orders. */
export const allowedSpender = (contract: AllowedContract): Address | undefined =>
  ({
    payMany: payManyAddress,
    tokenMessenger: cctpContracts.messenger as Address,
    usdt0Adapter: oftOn(1) as Address,
    forwarder: undefined,
  })[contract];

/** Transaction that sets the treasury's allowance of a token for a contract. USDT requires a zero allowance before a new one. */
export function allowanceCall({ token, form }: Pick<TransferOrder, 'token' | 'form'>): Call {
  assert(form?.kind === 'allow', 'only an allowance allows');
  const spender = allowedSpender(form.contract);
  assert(spender !== undefined, 'the forwarder spends nothing');
  const args = [spender, BigInt(form.most)] as const;
  return { to: token.address as Address, data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args }) };
}

/** Remaining allowance of a token that the messenger may burn for an account, in smallest units. */
export function burnAllowanceOf(node: EvmNode, account: Address, token: string): Promise<bigint> {
  const args = [account, cctpContracts.messenger as Address] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args });
  return ask(node, 'eth_call', [{ to: token, data }, 'latest'], quantity);
}

/** True if a message of this nonce was minted, as of the newest block. @param nonce 64 hex digits */
export async function isMinted(node: EvmNode, nonce: string): Promise<boolean> {
  const data = encodeFunctionData({ abi: transmitterAbi, functionName: 'usedNonces', args: [`0x${nonce}`] });
  return (await ask(node, 'eth_call', [{ to: cctpContracts.transmitter, data }, 'latest'], quantity)) !== 0n;
}

/**
 * Compares the contracts on a chain with this release's addresses, for an operator before the first burn. The messenger names the other
 * two, so a wrong address of the minter shows here.
 * @returns the comparison in words @throws RpcFailed
 */
export async function describeContracts(node: EvmNode, chainId: CctpChainId): Promise<string> {
  const { messenger, transmitter, minter } = cctpContracts;
  const calls = [
    { to: messenger, data: encodeFunctionData({ abi: messengerAbi, functionName: 'localMessageTransmitter' }) },
    { to: messenger, data: encodeFunctionData({ abi: messengerAbi, functionName: 'localMinter' }) },
    { to: transmitter, data: encodeFunctionData({ abi: transmitterAbi, functionName: 'localDomain' }) },
  ];
  const answers = await askEach(
    node,
    'eth_call',
    calls.map((call) => [call, 'latest']),
    text,
  );
  const [foundTransmitter, foundMinter, foundDomain] = answers;
  if (answers.some((answer) => answer === '0x'))
    return `no contracts at ${messenger} and ${transmitter}: burn nothing here`;
  const expected = [transmitter, minter].map((address) => `0x${address32(address)}`);
  const domain = domainOf(chainId);
  const isOurs =
    foundTransmitter?.toLowerCase() === expected[0] &&
    foundMinter?.toLowerCase() === expected[1] &&
    BigInt(foundDomain ?? '0x') === BigInt(domain);
  return isOurs
    ? `the contracts of this release, domain ${domain}`
    : `the chain has transmitter ${foundTransmitter}, minter ${foundMinter} and domain ${foundDomain}; this release has ${expected.join(', ')} and ${domain}: burn nothing here`;
}
