import type { Chain } from '../chains.ts';

/** A Stellar memo of text: bytes in UTF-8. Every id (a number of 64 bits) fits as well. */
export const stellarMemoMax_bytes = 28;

/**
 * Why a transfer to the receiver cannot carry the memo, and what to do; undefined when it can.
 *
 * @param receiver in the chain's canonical spelling
 */
export function memoProblem(chain: Chain, receiver: string, memo: string): string | undefined {
  if (chain.family === 'evm') return `${chain.name} transfers carry no memo: leave it out`;
  if (chain.family !== 'stellar') return undefined;
  if (receiver.startsWith('M')) return 'the M address holds the receiver’s id already: leave the memo out';
  if (receiver.startsWith('C')) return 'a transfer to a contract carries no memo: leave it out';
  const length_bytes = new TextEncoder().encode(memo).length;
  return length_bytes > stellarMemoMax_bytes
    ? `a Stellar memo has at most ${stellarMemoMax_bytes} bytes in UTF-8, this one has ${length_bytes}: shorten it`
    : undefined;
}
