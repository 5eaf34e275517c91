/** What many accounts hold of several tokens, in few calls. */
import { type Address, encodeDeployData, type Hex } from 'viem';
import { balanceReader } from '../../../contracts/evm/artifacts/BalanceReader.ts';
import { ask } from '../node/jsonRpc.ts';
import { type BlockTag, hex, tagOf } from './reads.ts';
import type { EvmNode } from './rpc.ts';

/** Words in one answer: nodes take it for the code of a contract that is created, which has 24,576 bytes at most (EIP-170). */
const wordsMax = 512;
const word_digits = 64;

/**
 * @param tokens their contracts
 * @returns for each holder, in order, what it holds of each token, in smallest units
 * @throws RpcFailed also where a token has no code, or the node has no state of the block any more
 */
export async function balancesOfMany(
  node: EvmNode,
  holders: readonly string[],
  tokens: readonly string[],
  tag: BlockTag,
): Promise<readonly (readonly bigint[])[]> {
  const { abi, bytecode } = balanceReader;
  const perCall = Math.floor(wordsMax / tokens.length);
  const found: (readonly bigint[])[] = [];
  for (let from = 0; from < holders.length; from += perCall) {
    const asked = holders.slice(from, from + perCall);
    const args = [asked as readonly Address[], tokens as readonly Address[]] as const;
    const creation = { data: encodeDeployData({ abi, bytecode, args }) };
    const words = await ask(node, 'eth_call', [creation, tagOf(tag)], (answer) =>
      wordsIn(hex(answer), asked.length * tokens.length),
    );
    found.push(...asked.map((_, at) => words.slice(at * tokens.length, (at + 1) * tokens.length)));
  }
  return found;
}

function wordsIn(answer: Hex, count: number): readonly bigint[] {
  if (answer.length !== 2 + count * word_digits) throw new Error(`expected ${count} balances`);
  return Array.from({ length: count }, (_, at) =>
    BigInt(`0x${answer.slice(2 + at * word_digits, 2 + (at + 1) * word_digits)}`),
  );
}
