/**
 * Circle's protocol on the local Stellar: the interface and bytes of circlefin/stellar-cctp, planted at the real addresses. The code is ours
 * and runs in the node, because no WebAssembly of the original is published. The messenger mints as the issuer does; the original asks a
 * minter of its own.
 */
import { secp256k1 } from '@noble/curves/secp256k1';
import { Asset, StrKey, xdr } from '@stellar/stellar-sdk';
import { createKeccak } from 'hash-wasm';
import { chainOf, findToken } from '../../../domain/chains.ts';
import { address32 } from '../../../domain/rebalance/burnMessage.ts';
import { chainOfDomain, contractsOn, domainOf, stellarCctp } from '../../../domain/rebalance/cctp.ts';
import { transferEvent } from '../events.ts';
import { HostError } from '../host/errors.ts';
import type { Invocation, Runner } from '../host/invocation.ts';
import { storageOf } from '../host/storage.ts';
import { addBalance } from '../ledger/balances.ts';
import { dataEntry, instanceKey, instanceVal } from '../ledger/entries.ts';
import type { View } from '../ledger/view.ts';
import { addressVal, i128, issuerOf, symbol, symbolMap } from '../xdr.ts';
import {
  addressArg,
  amountArg,
  bytesArg,
  bytesVal,
  type Functions,
  isMarked,
  markerOf,
  numberBytes,
  payloadOf,
  runFunction,
  u32Arg,
} from './arguments.ts';

const keccak = await createKeccak(256);
const keccak256 = (bytes: Uint8Array): Uint8Array => keccak.init().update(bytes).digest('binary');

/** The contracts' own error numbers. */
const errors = {
  amountZero: 7200,
  feeTooHigh: 7203,
  unknownMessenger: 7204,
  expired: 7207,
  badMessage: 6904,
  wrongDomain: 6905,
  wrongCaller: 6906,
  nonceUsed: 6908,
  badAttestation: 6100,
  tokenUnknown: 6303,
  wrongMintRecipient: 7304,
  wrongRecipient: 7305,
  hookTooShort: 7306,
  hookVersion: 7307,
  wrongForwardRecipient: 7308,
} as const;

function must(holds: boolean, error: keyof typeof errors): asserts holds {
  if (!holds) throw new HostError('Contract', errors[error], error);
}

const nothing = (): xdr.ScVal => xdr.ScVal.scvVoid();
const yes = (): xdr.ScVal => xdr.ScVal.scvBool(true);

const u32Bytes = (value: number): Buffer => numberBytes(value, 4);
const u256Bytes = (value: bigint): Buffer => numberBytes(value, 32);
const u256 = (message: Buffer, at: number): bigint => BigInt(`0x${message.subarray(at, at + 32).toString('hex')}`);

/** A decimal less than on the other chains. */
const toMessage = (units: bigint): bigint => units / 10n;
const fromMessage = (units: bigint): bigint => units * 10n;

/** 32 bytes of another chain's messenger, or of its USDC. */
const remote32 = (domain: number, which: 'messenger' | 'token'): Buffer | undefined => {
  const chainId = chainOfDomain(domain);
  if (chainId === undefined || chainId === 1500) return undefined;
  const text = which === 'messenger' ? contractsOn(chainId).messenger : findToken(chainOf(chainId), 'USDC')?.address;
  return text === undefined ? undefined : Buffer.from(address32(text), 'hex');
};

const localDomain = domainOf(1500);
const headerLength = 148;
const hookOffset = headerLength + 228;

/** `deposit_for_burn(caller, amount, domain, mint_recipient, burn_token, destination_caller, max_fee, threshold)`, with hook data if given. */
function depositForBurn(invocation: Invocation, args: xdr.ScVal[]): xdr.ScVal {
  const [caller, amount, feeMax] = [addressArg(args[0]), amountArg(args[1]), amountArg(args[6])];
  const [domain, recipient, token] = [u32Arg(args[2]), bytesArg(args[3], 32), addressArg(args[4])];
  const [destinationCaller, threshold] = [bytesArg(args[5], 32), u32Arg(args[7])];
  const hook = args[8] === undefined ? Buffer.alloc(0) : bytesArg(args[8]);
  invocation.requireAuth(caller);
  must(amount > 0n && toMessage(amount) > 0n, 'amountZero');
  must(feeMax >= 0n && toMessage(feeMax) < toMessage(amount), 'feeTooHigh');
  must(token === stellarCctp.token, 'tokenUnknown');
  const messenger = remote32(domain, 'messenger');
  must(messenger !== undefined, 'unknownMessenger');
  const self = addressVal(stellarCctp.messenger);
  const burned = i128(fromMessage(toMessage(amount)));
  invocation.call(token, 'transfer_from', [self, addressVal(caller), self, burned]);
  invocation.call(token, 'burn', [self, burned]);
  const body = Buffer.concat([
    ...[u32Bytes(1), payloadOf(token), recipient, u256Bytes(toMessage(amount)), payloadOf(caller)],
    ...[u256Bytes(toMessage(feeMax)), u256Bytes(0n), u256Bytes(0n), hook],
  ]);
  invocation.call(stellarCctp.transmitter, 'send_message', [
    ...[self, xdr.ScVal.scvU32(domain), bytesVal(messenger), bytesVal(destinationCaller)],
    ...[xdr.ScVal.scvU32(threshold), bytesVal(body)],
  ]);
  const topics = [symbol('deposit_for_burn'), addressVal(token), addressVal(caller), xdr.ScVal.scvU32(threshold)];
  invocation.publish(topics, symbolMap({ amount: i128(toMessage(amount)), mint_recipient: bytesVal(recipient) }));
  return nothing();
}

/** `handle_recv_…_message(domain, sender, threshold, body)`, called by the transmitter alone. */
function handleMessage(invocation: Invocation, args: xdr.ScVal[]): xdr.ScVal {
  const [domain, sender, body] = [u32Arg(args[0]), bytesArg(args[1], 32), bytesArg(args[3])];
  invocation.requireAuth(stellarCctp.transmitter);
  must(remote32(domain, 'messenger')?.equals(sender) === true, 'unknownMessenger');
  must(body.length >= 228 && body.readUInt32BE(0) === 1, 'badMessage');
  must(remote32(domain, 'token')?.equals(body.subarray(4, 36)) === true, 'tokenUnknown');
  const [amount, feeMax, fee, expiration] = [68, 132, 164, 196].map((at) => u256(body, at)) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  must(expiration === 0n || expiration > BigInt(invocation.ledger.sequence), 'expired');
  must((fee === 0n || fee < amount) && fee <= feeMax, 'feeTooHigh');
  const recipient = StrKey.encodeContract(body.subarray(36, 68));
  issue(invocation, recipient, fromMessage(amount - fee));
  if (fee > 0n) issue(invocation, stellarCctp.messenger, fromMessage(fee));
  const topics = [symbol('mint_and_withdraw'), addressVal(recipient), addressVal(stellarCctp.token)];
  invocation.publish(topics, symbolMap({ amount: i128(amount - fee), fee_collected: i128(fee) }));
  return yes();
}

function issue(invocation: Invocation, to: string, amount: bigint): void {
  const [code = '', issuer] = (findToken(chainOf(1500), 'USDC')?.address ?? '').split(':');
  const usdc = new Asset(code, issuer);
  addBalance(invocation.view(), usdc, stellarCctp.token, to, amount);
  invocation.publishEvent(transferEvent(usdc, stellarCctp.token, { from: issuerOf(usdc), to, amount }));
}

function sendMessage(invocation: Invocation, args: xdr.ScVal[]): xdr.ScVal {
  const caller = addressArg(args[0]);
  invocation.requireAuth(caller);
  const message = Buffer.concat([
    ...[u32Bytes(1), u32Bytes(localDomain), u32Bytes(u32Arg(args[1])), Buffer.alloc(32), payloadOf(caller)],
    ...[bytesArg(args[2], 32), bytesArg(args[3], 32), u32Bytes(u32Arg(args[4])), u32Bytes(0), bytesArg(args[5])],
  ]);
  invocation.publish([symbol('message_sent')], symbolMap({ message: bytesVal(message) }));
  return nothing();
}

const nonceEntry = (nonce: Buffer): xdr.ScVal => xdr.ScVal.scvVec([symbol('UsedNonce'), bytesVal(nonce)]);

/** `receive_message(caller, message, attestation)` */
function receiveMessage(invocation: Invocation, args: xdr.ScVal[]): xdr.ScVal {
  const [caller, message, attestation] = [addressArg(args[0]), bytesArg(args[1]), bytesArg(args[2])];
  invocation.requireAuth(caller);
  must(message.length >= headerLength && message.readUInt32BE(0) === 1, 'badMessage');
  verify(invocation, message, attestation);
  must(message.readUInt32BE(8) === localDomain, 'wrongDomain');
  const only = message.subarray(108, 140);
  must(only.equals(Buffer.alloc(32)) || only.equals(payloadOf(caller)), 'wrongCaller');
  const nonce = Buffer.from(message.subarray(12, 44));
  const used = storageOf(invocation, 'persistent');
  must(used.get(nonceEntry(nonce)) === undefined, 'nonceUsed');
  used.put(nonceEntry(nonce), yes());
  const [sender, domain, executed] = [message.subarray(44, 76), message.readUInt32BE(4), message.readUInt32BE(144)];
  const body = message.subarray(headerLength);
  const handler = `handle_recv_${executed >= 2_000 ? 'finalized' : 'unfinalized'}_message`;
  const source = { source_domain: xdr.ScVal.scvU32(domain), sender: bytesVal(sender) };
  const finality = xdr.ScVal.scvU32(executed);
  const recipient = StrKey.encodeContract(message.subarray(76, 108));
  invocation.call(recipient, handler, [source.source_domain, source.sender, finality, bytesVal(body)]);
  const topics = [symbol('message_received'), addressVal(caller), bytesVal(nonce), finality];
  invocation.publish(topics, symbolMap({ ...source, message_body: bytesVal(body) }));
  return yes();
}

/** Signatures of 65 bytes over the message's Keccak hash, one of each attester, in ascending order of their addresses. */
function verify(invocation: Invocation, message: Buffer, attestation: Buffer): void {
  const attesters = storageOf(invocation, 'instance').get(symbol('attesters'))?.vec() ?? [];
  must(attesters.length > 0 && attestation.length === 65 * attesters.length, 'badAttestation');
  const digest = keccak256(message);
  for (const [at, attester] of attesters.entries()) {
    const signature = attestation.subarray(65 * at, 65 * (at + 1));
    must(signerOf(digest, signature)?.equals(attester.bytes()) === true, 'badAttestation');
  }
}

/** 20 bytes; undefined for no signature. */
function signerOf(digest: Uint8Array, signature: Buffer): Buffer | undefined {
  try {
    const parsed = secp256k1.Signature.fromCompact(signature.subarray(0, 64));
    const key = parsed.addRecoveryBit((signature[64] ?? 27) - 27).recoverPublicKey(digest);
    return Buffer.from(keccak256(key.toRawBytes(false).subarray(1)).subarray(12));
  } catch {
    return undefined;
  }
}

/** `mint_and_forward(message, attestation)`: needs no authorization. */
function mintAndForward(invocation: Invocation, args: xdr.ScVal[]): xdr.ScVal {
  const message = bytesArg(args[0]);
  must(message.length >= hookOffset && message.readUInt32BE(0) === 1, 'badMessage');
  must(message.subarray(76, 108).equals(payloadOf(stellarCctp.messenger)), 'wrongRecipient');
  must(message.subarray(184, 216).equals(payloadOf(stellarCctp.forwarder)), 'wrongMintRecipient');
  const hook = message.subarray(hookOffset);
  must(hook.length >= 32, 'hookTooShort');
  must(hook.readUInt32BE(24) === 0, 'hookVersion');
  const length = hook.readUInt32BE(28);
  must(hook.length >= 32 + length, 'hookTooShort');
  const to = hook.subarray(32, 32 + length).toString('latin1');
  const isAddress =
    StrKey.isValidEd25519PublicKey(to) || StrKey.isValidMed25519PublicKey(to) || StrKey.isValidContract(to);
  must(isAddress && to !== stellarCctp.forwarder && to !== stellarCctp.token, 'wrongForwardRecipient');
  const self = addressVal(stellarCctp.forwarder);
  invocation.call(stellarCctp.transmitter, 'receive_message', [self, ...args]);
  const minted = i128(fromMessage(u256(message, 216) - u256(message, 312)));
  invocation.call(stellarCctp.token, 'transfer', [self, addressVal(to), minted]);
  const told = { amount: minted, forward_recipient: addressVal(to), token: addressVal(stellarCctp.token) };
  invocation.publish([symbol('mint_and_forward')], symbolMap(told));
  return nothing();
}

const constant = (value: () => xdr.ScVal) => ({ parameters: 0, run: value });
const transmitter = constant(() => addressVal(stellarCctp.transmitter));

/** By contract. */
const contracts: ReadonlyMap<string, Functions> = new Map<string, Functions>([
  [
    stellarCctp.messenger,
    {
      deposit_for_burn: { parameters: 8, run: depositForBurn },
      deposit_for_burn_with_hook: { parameters: 9, run: depositForBurn },
      handle_recv_finalized_message: { parameters: 4, run: handleMessage },
      handle_recv_unfinalized_message: { parameters: 4, run: handleMessage },
      get_local_message_transmitter: transmitter,
      get_max_burn_amount_per_message: { parameters: 1, run: () => i128(10_000_000n * 10n ** 7n) },
    },
  ],
  [
    stellarCctp.transmitter,
    {
      send_message: { parameters: 6, run: sendMessage },
      receive_message: { parameters: 3, run: receiveMessage },
      get_local_domain: constant(() => xdr.ScVal.scvU32(localDomain)),
      is_nonce_used: {
        parameters: 1,
        run: (invocation, args) =>
          xdr.ScVal.scvBool(storageOf(invocation, 'persistent').get(nonceEntry(bytesArg(args[0], 32))) !== undefined),
      },
    },
  ],
  [
    stellarCctp.forwarder,
    {
      mint_and_forward: { parameters: 2, run: mintAndForward },
      get_message_transmitter: transmitter,
      get_token_messenger_minter: constant(() => addressVal(stellarCctp.messenger)),
    },
  ],
]);

const marker = markerOf('CCTP');

export const isCctp = (instance: xdr.ScContractInstance): boolean => isMarked(instance, marker);
export const runCctp: Runner = (invocation) => runFunction(contracts, invocation);

/** Puts the contracts on the ledger. @param attesters 20 bytes each, in ascending order */
export function plantCctpContracts(view: View, attesters: readonly Buffer[]): void {
  const storage = [
    new xdr.ScMapEntry({ key: symbol('attesters'), val: xdr.ScVal.scvVec(attesters.map((each) => bytesVal(each))) }),
  ];
  for (const contract of contracts.keys()) {
    const key = instanceKey(contract);
    view.put(key, dataEntry(key, instanceVal(xdr.ContractExecutable.contractExecutableWasm(marker), storage)));
  }
}
