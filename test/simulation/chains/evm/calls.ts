/** eth_call and eth_estimateGas: simulates a call on top of a block. */
import { decodeDeployData, decodeFunctionData, domainSeparator, encodeAbiParameters, type Hex } from 'viem';
import { balanceReader } from '../../../../contracts/evm/artifacts/BalanceReader.ts';
import { transferProbe } from '../../../../contracts/evm/artifacts/TransferProbe.ts';
import type { Chain } from '../../../../domain/chains.ts';
import { RpcError } from '../../../../sandbox/rpcError.ts';
import { allowanceKey, authorizationKey, type Block, tokenKey, valueAt } from './blocks.ts';
import { isCctpContract, readCctp } from './cctp.ts';
import { type Contracts, run } from './execution.ts';
import { stateOn } from './state.ts';
import { addressArgument, argument, callOfTransfer, selectors, wordOf } from './tokens.ts';
import { readUsdt0 } from './usdt0.ts';

export interface CallAsked {
  readonly from?: string;
  readonly to?: string;
  readonly data?: string;
  readonly value?: string;
}

export interface Caller {
  readonly chain: Chain;
  readonly contracts: Contracts;
}

const nobody = `0x${'00'.repeat(20)}`;
const reverted = (why: string): RpcError => new RpcError(3, `execution reverted: ${why}`, '0x');
/** Ethereum's own returns nothing from its transfers. */
const silentToken = '0xdac17f958d2ee523a2206206994597c13d831ec7';

function effectOf(
  block: Block,
  { from = nobody, to = nobody, data = '0x', value = '0x0' }: CallAsked,
  contracts: Contracts,
) {
  const call = { from: from.toLowerCase(), to: to.toLowerCase(), data, value: BigInt(value) };
  const effect = run(stateOn(block), call, contracts);
  if (!effect) throw reverted('ERC20: transfer amount exceeds balance');
  return effect;
}

/** @throws RpcError when it is reverted */
export const estimate = (block: Block, asked: CallAsked, { contracts }: Caller): bigint =>
  effectOf(block, asked, contracts).gas;

/** @param overrides code in place of an account's @returns the call's result @throws RpcError if it reverts */
export function answerCall(
  block: Block,
  asked: CallAsked,
  caller: Caller,
  overrides?: Readonly<Record<string, unknown>>,
): string {
  const { to, data = '0x' } = asked;
  if (to === undefined) return balancesOf(block, data as Hex);
  if (overrides) return probe(block, to, data as Hex, caller);
  const token = to.toLowerCase();
  const { cctp, usdt0 } = caller.contracts;
  if (cctp && isCctpContract(token)) return readCctp(block, token, data) ?? '0x';
  if (usdt0?.all.has(token)) return readUsdt0(block, token, data, usdt0) ?? '0x';
  const known = caller.chain.tokens.find(({ address }) => address.toLowerCase() === token);
  if (!known) return '0x';
  if (data.startsWith(selectors.balanceOf))
    return `0x${wordOf(valueAt(block, tokenKey(token, addressArgument(data, 0))))}`;
  if (data.startsWith(selectors.allowance))
    return `0x${wordOf(valueAt(block, allowanceKey(token, addressArgument(data, 0))))}`;
  if (data.startsWith(selectors.authorizationState))
    return `0x${wordOf(valueAt(block, authorizationKey(token, addressArgument(data, 0), `0x${argument(data, 1)}`)))}`;
  if (data.startsWith(selectors.domainSeparator)) return separatorOf(caller.chain, known.address as Hex);
  if (data.startsWith(selectors.decimals)) return `0x${wordOf(BigInt(known.decimals))}`;
  if (data.startsWith(selectors.symbol)) return encodeAbiParameters([{ type: 'string' }], [known.symbol]);
  effectOf(block, asked, caller.contracts);
  return token === silentToken ? '0x' : `0x${wordOf(1n)}`;
}

/** USDC's own on the chains that the service knows. */
const separatorOf = ({ id }: Chain, verifyingContract: Hex): string =>
  domainSeparator({ domain: { name: 'USD Coin', version: '2', chainId: id, verifyingContract } });

/** contracts/evm/BalanceReader.sol */
function balancesOf(block: Block, data: Hex): string {
  const { args } = decodeDeployData({ abi: balanceReader.abi, bytecode: balanceReader.bytecode, data });
  const [holders, tokens] = args as readonly [readonly string[], readonly string[]];
  const words = holders.flatMap((holder) =>
    tokens.map((token) => wordOf(valueAt(block, tokenKey(token.toLowerCase(), holder.toLowerCase())))),
  );
  return `0x${words.join('')}`;
}

/** contracts/evm/TransferProbe.sol */
function probe(block: Block, account: string, data: Hex, { contracts }: Caller): string {
  const { args } = decodeFunctionData({ abi: transferProbe.abi, data });
  const [token, receiver, amount] = args as readonly [string, string, bigint];
  effectOf(block, { from: account, to: token, data: callOfTransfer(receiver.toLowerCase(), amount) }, contracts);
  return `0x${wordOf(amount)}`;
}
