/**
 * The message of a burn, byte for byte as CCTP version 2 lays it out: a header of 148 bytes, then the burn. Addresses have 32 bytes, numbers
 * are big-endian. Source: MessageV2.sol and BurnMessageV2.sol in circlefin/evm-cctp-contracts.
 */

import { burnTokenOn, chainOfDomain, contractsOn, stellarCctp } from './cctp.ts';
import { solana32, tokenAccount32 } from './solanaTokenAccount.ts';

/** Both have this version, in the header and in the burn. */
export const burnMessageVersion = 1;

export interface BurnMessage {
  readonly version: number;
  readonly sourceDomain: number;
  readonly destinationDomain: number;
  /** 32 bytes. Zero in the source chain's event: Circle assigns it when it attests. */
  readonly nonce: string;
  /** The messenger of the source chain. */
  readonly sender: string;
  /** The messenger of the destination chain. */
  readonly recipient: string;
  /** Only account that may mint; zero allows every account. */
  readonly destinationCaller: string;
  readonly minFinality: number;
  readonly finalityExecuted: number;
  readonly burnVersion: number;
  readonly burnToken: string;
  readonly mintRecipient: string;
  readonly amount: bigint;
  /** The account that burned. */
  readonly messageSender: string;
  readonly feeMax: bigint;
  readonly feeExecuted: bigint;
  /** Block of the destination chain from which the message is refused; 0 for never. */
  readonly expirationBlock: bigint;
  /** Hex digits without a prefix; empty for none. */
  readonly hookData: string;
}

type Field = readonly [name: keyof BurnMessage, bytes: number, kind: 'number' | 'bigint' | 'hex'];

const fields: readonly Field[] = [
  ['version', 4, 'number'],
  ['sourceDomain', 4, 'number'],
  ['destinationDomain', 4, 'number'],
  ['nonce', 32, 'hex'],
  ['sender', 32, 'hex'],
  ['recipient', 32, 'hex'],
  ['destinationCaller', 32, 'hex'],
  ['minFinality', 4, 'number'],
  ['finalityExecuted', 4, 'number'],
  ['burnVersion', 4, 'number'],
  ['burnToken', 32, 'hex'],
  ['mintRecipient', 32, 'hex'],
  ['amount', 32, 'bigint'],
  ['messageSender', 32, 'hex'],
  ['feeMax', 32, 'bigint'],
  ['feeExecuted', 32, 'bigint'],
  ['expirationBlock', 32, 'bigint'],
];

/** Length without hook data. */
export const messageLength_bytes = fields.reduce((sum, [, bytes]) => sum + bytes, 0);
/** Our longest hook names an account of Stellar, so a longer message is refused before it is read. */
export const burnMessageMax_bytes = 1_024;

/** 32 zero bytes, as 64 hex digits. */
export const zero32 = '0'.repeat(64);

/** An address of any chain as 32 bytes: 64 lower-case hex digits without a prefix. Only Stellar's addresses have 56 letters. */
export function address32(address: string): string {
  if (address.startsWith('0x')) return address.slice(2).toLowerCase().padStart(64, '0');
  return address.length === strkeyLength ? strkey32(address) : solana32(address);
}

const strkeyLength = 56;

/** Base 32 of RFC 4648. */
const digits32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The key or hash in an address of Stellar (G… or C…): 1 byte of version, 32 bytes, 2 bytes of checksum. Its checksum is not verified. */
function strkey32(address: string): string {
  const bits = [...address].map((digit) => digits32.indexOf(digit).toString(2).padStart(5, '0')).join('');
  if (!/^[GC][A-Z2-7]{55}$/.test(address)) throw new RangeError(`${address} is no account or contract of Stellar`);
  return BigInt(`0b${bits.slice(8, 8 + 256)}`)
    .toString(16)
    .padStart(64, '0');
}

/**
 * Hook data with which the forwarder on Stellar sends a mint on: 24 zero bytes, version 0, the address's length, the address as text.
 * Source: message.rs in circlefin/stellar-cctp.
 * @param account G…
 */
export function forwardHook(account: string): string {
  const text = [...account].map((letter) => letter.charCodeAt(0).toString(16).padStart(2, '0')).join('');
  return `${'0'.repeat(48 + 8)}${account.length.toString(16).padStart(8, '0')}${text}`;
}

/** @param text `0x` and hex digits. Returns undefined for a text that is no such message. */
export function parseBurnMessage(text: string): BurnMessage | undefined {
  const isHex = /^0x([0-9a-f]{2})*$/.test(text);
  const length_bytes = (text.length - 2) / 2;
  if (!isHex || length_bytes < messageLength_bytes || length_bytes > burnMessageMax_bytes) return undefined;
  const parts: Record<string, unknown> = {};
  let at = 2;
  for (const [name, bytes, kind] of fields) {
    const digits = text.slice(at, at + 2 * bytes);
    parts[name] = kind === 'hex' ? digits : kind === 'number' ? Number(`0x${digits}`) : BigInt(`0x${digits}`);
    at += 2 * bytes;
  }
  return { ...parts, hookData: text.slice(at) } as unknown as BurnMessage;
}

/** Returns `0x` and lower-case hex digits. */
export function formatBurnMessage(message: BurnMessage): string {
  const digits = fields.map(([name, bytes, kind]) => {
    const value = message[name];
    return kind === 'hex'
      ? String(value)
      : BigInt(value)
          .toString(16)
          .padStart(2 * bytes, '0');
  });
  return `0x${digits.join('')}${message.hookData}`;
}

/** Minter and receiver that a burn's message allows. 32 bytes each, and the hook data, as hex digits without a prefix. */
export interface Addressing {
  readonly mintRecipient: string;
  /** Zero allows every account to mint, so an outage of one account cannot keep the money in transit. */
  readonly destinationCaller: string;
  readonly hookData: string;
}

/**
 * To Stellar, the forwarder is the recipient and the only caller, and the hook names the account. With another recipient or caller the money
 * would be lost: nobody can mint or move it. To Solana, the recipient is the wallet's token account: a message that names the wallet itself
 * can never be minted.
 */
export function addressing(destinationDomain: number, receiver: string): Addressing {
  const chainId = chainOfDomain(destinationDomain);
  if (chainId === 501) {
    const mintRecipient = tokenAccount32(receiver, burnTokenOn(chainId) ?? '');
    return { mintRecipient, destinationCaller: zero32, hookData: '' };
  }
  if (chainId !== 1500) return { mintRecipient: address32(receiver), destinationCaller: zero32, hookData: '' };
  const forwarder = address32(stellarCctp.forwarder);
  return { mintRecipient: forwarder, destinationCaller: forwarder, hookData: forwardHook(receiver) };
}

/** Fields that the message of our burn must have. */
export interface OurBurn {
  readonly sourceDomain: number;
  readonly destinationDomain: number;
  /** Contract of the source chain. */
  readonly messenger: string;
  /** The token's contract. */
  readonly burnToken: string;
  /** The account that burned, and the account that receives: both are the treasury's. */
  readonly sender: string;
  readonly receiver: string;
  /** Amounts with 6 decimals. */
  readonly amount: bigint;
  readonly feeMax: bigint;
  readonly finality: number;
}

/**
 * Why the message is not the one of our burn; undefined if it is. Every field is compared but those that Circle fills in: the nonce, the
 * finality that was executed, the fee within its limit, and the expiration.
 */
export function objectionToMessage(text: string, burn: OurBurn): string | undefined {
  const message = parseBurnMessage(text);
  if (!message) return 'it is no burn message of CCTP version 2';
  const destination = chainOfDomain(burn.destinationDomain);
  if (destination === undefined) return `domain ${burn.destinationDomain} is no chain of ours`;
  const { mintRecipient, destinationCaller, hookData } = addressing(burn.destinationDomain, burn.receiver);
  const expected: Partial<BurnMessage> = {
    version: burnMessageVersion,
    burnVersion: burnMessageVersion,
    sourceDomain: burn.sourceDomain,
    destinationDomain: burn.destinationDomain,
    sender: address32(burn.messenger),
    recipient: address32(contractsOn(destination).messenger),
    destinationCaller,
    minFinality: burn.finality,
    burnToken: address32(burn.burnToken),
    mintRecipient,
    amount: burn.amount,
    messageSender: address32(burn.sender),
    feeMax: burn.feeMax,
    hookData,
  };
  for (const [name, value] of Object.entries(expected)) {
    const stated = message[name as keyof BurnMessage];
    if (stated !== value) return `its ${name} is ${stated || 'empty'}, our burn has ${value || 'none'}`;
  }
  if (message.nonce === zero32) return 'it has no nonce: it is not attested yet';
  if (message.feeExecuted > burn.feeMax)
    return `its fee is ${message.feeExecuted}, our burn allows at most ${burn.feeMax}`;
  return message.feeExecuted >= burn.amount ? 'its fee takes the whole amount' : undefined;
}
