/** The bloom filter over a block's logs that its header carries (Yellow Paper 4.3.1). */
import { type Hex, hexToBytes, keccak256 } from 'viem';
import type { Chain } from '../../../../domain/chains.ts';
import { type Header, transferTopic } from '../reads.ts';

const bloom_bytes = 256;

/** Whether a block may hold transfers of the catalogue's tokens: a no is certain. Without a filter in its header it may. */
export function mayHoldTransfers(chain: Chain, { logsBloom }: Pick<Header, 'logsBloom'>): boolean {
  if (logsBloom === undefined) return true;
  const bloom = hexToBytes(logsBloom);
  if (bloom.length !== bloom_bytes || !mayHold(bloom, transferTopic)) return bloom.length !== bloom_bytes;
  return chain.tokens.some(({ address }) => mayHold(bloom, address as Hex));
}

/** Each value sets three bits, told by the first three pairs of bytes of its hash. */
function mayHold(bloom: Uint8Array, value: Hex): boolean {
  const hash = hexToBytes(keccak256(value));
  return [0, 2, 4].every((at) => {
    const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2_047;
    return (((bloom[bloom_bytes - 1 - (bit >> 3)] ?? 0) >> (bit & 7)) & 1) === 1;
  });
}
