/** Transactions: the service's from their signed bytes, foreign ones as objects. */
import { secp256k1 } from '@noble/curves/secp256k1';
import { type Hex, keccak256, parseTransaction, serializeTransaction } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { RpcError } from '../../../../sandbox/rpcError.ts';

export interface Transaction {
  readonly hash: string;
  /** In lower case. */
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly value: bigint;
  readonly nonce: number;
  readonly gas: bigint;
  readonly maxFee_wei: bigint;
  readonly maxTip_wei: bigint;
  /** Sent by the service. */
  readonly ours: boolean;
  /** A wallet that pays more than once: it numbers its transactions in the order in which they are mined. */
  readonly isAnyNonce?: boolean;
}

const refused = (message: string): RpcError => new RpcError(-32_000, message);

/** Recovering a sender takes a millisecond, and the same bytes arrive many times. */
const decoded = new Map<string, Transaction>();
const decodedMost = 1_000;

/** @param raw with 0x @throws RpcError as geth has it */
export function decode(raw: string, networkId: number): Transaction {
  const key = `${networkId} ${raw}`;
  const known = decoded.get(key);
  if (known) return known;
  if (decoded.size >= decodedMost) decoded.clear();
  const transaction = read(raw as Hex, networkId);
  decoded.set(key, transaction);
  return transaction;
}

function read(raw: Hex, networkId: number): Transaction {
  const { r, s, yParity, v: _, ...parsed } = parsedOf(raw);
  if (parsed.type !== 'eip1559' || !r || !s || yParity === undefined) throw refused('transaction type not supported');
  if (parsed.chainId !== networkId)
    throw refused(`invalid chain id for signer: have ${parsed.chainId} want ${networkId}`);
  const { to, data = '0x', value = 0n, nonce = 0, gas = 0n } = parsed;
  const signed = keccak256(serializeTransaction(parsed));
  if (!to) throw refused('contract creation is not modelled');
  return {
    hash: keccak256(raw),
    from: signerOf(signed, { r: BigInt(r), s: BigInt(s), yParity }),
    to: to.toLowerCase(),
    data,
    value,
    nonce,
    gas,
    maxFee_wei: parsed.maxFeePerGas ?? 0n,
    maxTip_wei: parsed.maxPriorityFeePerGas ?? 0n,
    ours: true,
  };
}

function parsedOf(raw: Hex) {
  try {
    return parseTransaction(raw);
  } catch {
    throw refused('rlp: value size exceeds available input length');
  }
}

interface Signature {
  readonly r: bigint;
  readonly s: bigint;
  readonly yParity: number;
}

function signerOf(hash: Hex, { r, s, yParity }: Signature): string {
  try {
    const key = new secp256k1.Signature(r, s).addRecoveryBit(yParity).recoverPublicKey(hash.slice(2));
    return publicKeyToAddress(`0x${key.toHex(false)}`).toLowerCase();
  } catch {
    throw refused('invalid sender');
  }
}
