/** Transactions of type 2 as bytes, including ones that libraries refuse to sign. */
import { concatHex, type Hex, keccak256, numberToHex, toRlp } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

export interface Fields {
  readonly chainId: number;
  readonly nonce: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly gas: bigint;
  /** Null creates a contract. */
  readonly to: Hex | null;
  readonly value: bigint;
  readonly data: Hex;
}

export const gwei = 10n ** 9n;

/** A transfer of 1 wei that a node accepts. */
export const usual: Fields = {
  chainId: 1,
  nonce: 0n,
  maxPriorityFeePerGas: gwei,
  maxFeePerGas: 10n * gwei,
  gas: 21_000n,
  to: '0x000000000000000000000000000000000000dEaD',
  value: 1n,
  data: '0x',
};

/** Integers of RLP have no leading zeros. */
function integer(value: bigint): Hex {
  if (value === 0n) return '0x';
  const digits = value.toString(16);
  return `0x${digits.length % 2 === 0 ? '' : '0'}${digits}`;
}

export async function signed(key: Hex, changes: Partial<Fields>): Promise<Hex> {
  const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, to, value, data } = { ...usual, ...changes };
  const numbers = [BigInt(chainId), nonce, maxPriorityFeePerGas, maxFeePerGas, gas].map(integer);
  const fields = [...numbers, to ?? '0x', integer(value), data, []] as const;
  const hash = keccak256(concatHex(['0x02', toRlp(fields)]));
  const signature = await privateKeyToAccount(key).sign({ hash });
  const [r, s] = [signature.slice(2, 66), signature.slice(66, 130)].map((digits) => integer(BigInt(`0x${digits}`)));
  const parity = signature.endsWith('1c') ? numberToHex(1) : '0x';
  return concatHex(['0x02', toRlp([...fields, parity === '0x' ? '0x' : '0x01', r ?? '0x', s ?? '0x'])]);
}

/** Kind of the refusal, in the names of `refusalKind`. Undefined: the node accepts the transaction. */
export interface Sent {
  readonly about: string;
  readonly changes: Partial<Fields>;
  /** Meaning of geth's answer. */
  readonly geth?: string;
}

const large = 1_000_000n;

/** In this order: later ones replace earlier ones. The nonces are too high to be mined, so that all of them wait. */
export const sent: readonly Sent[] = [
  { about: 'too little gas', changes: { nonce: 20n, gas: 20_999n }, geth: 'gas' },
  {
    about: 'too little gas for its data',
    changes: { nonce: 21n, gas: 38_000n, data: `0x${'ff'.repeat(1_000)}` },
    geth: 'gas',
  },
  { about: 'more gas than a block has', changes: { nonce: 22n, gas: 70_000_000n }, geth: 'gas' },
  {
    about: 'a tip above the fee cap',
    changes: { nonce: 23n, maxFeePerGas: 9n, maxPriorityFeePerGas: 10n },
    geth: 'invalid',
  },
  { about: 'no tip', changes: { nonce: 24n, maxPriorityFeePerGas: 0n }, geth: 'fee' },
  {
    about: 'a fee of more than 1 coin',
    changes: { nonce: 25n, gas: 10n * large, maxFeePerGas: 101n * gwei },
    geth: 'policy',
  },
  { about: 'more coin than is held', changes: { nonce: 26n, value: 10n ** 24n }, geth: 'funds' },
  { about: 'another chain', changes: { nonce: 27n, chainId: 5 }, geth: 'invalid' },
  {
    about: 'more bytes than are taken',
    changes: { nonce: 28n, gas: 8n * large, data: `0x${'00'.repeat(140_000)}` },
    geth: 'invalid',
  },
  {
    about: 'a creation that is too long',
    changes: { nonce: 29n, gas: 8n * large, to: null, value: 0n, data: `0x${'00'.repeat(50_000)}` },
    geth: 'invalid',
  },
  { about: 'a nonce that is too high', changes: { nonce: 100n } },
  { about: 'the same again', changes: { nonce: 100n }, geth: 'held' },
  { about: 'a replacement at the same price', changes: { nonce: 100n, value: 2n }, geth: 'outbid' },
  {
    about: 'a replacement at 9 % more',
    changes: {
      nonce: 100n,
      value: 2n,
      maxFeePerGas: (109n * 10n * gwei) / 100n,
      maxPriorityFeePerGas: (109n * gwei) / 100n,
    },
    geth: 'outbid',
  },
  {
    about: 'a replacement with a higher cap alone',
    changes: { nonce: 100n, value: 3n, maxFeePerGas: 20n * gwei },
    geth: 'outbid',
  },
  {
    about: 'a replacement at an eighth more',
    changes: { nonce: 100n, value: 4n, maxFeePerGas: 30n * gwei, maxPriorityFeePerGas: 3n * gwei },
  },
  { about: 'what was replaced', changes: { nonce: 100n }, geth: 'outbid' },
];
