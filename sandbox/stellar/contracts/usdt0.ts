/**
 * USDT0 on the local Stellar: the interface, bytes and events of LayerZero's contracts (`monorepo-external`, oft-core and endpoint-v2), planted
 * at the real addresses. The code is ours and runs in the node. It differs from the original in three points: one account verifies messages
 * in place of a library of verifiers, a message has a fixed price, and the contract mints as the issuer does, without a manager.
 */
import { Asset, StrKey, xdr } from '@stellar/stellar-sdk';
import { createKeccak } from 'hash-wasm';
import { address32 } from '../../../domain/rebalance/burnMessage.ts';
import { endpointIdOf, oftOn, stellarUsdt0, usdt0ChainIds } from '../../../domain/rebalance/usdt0.ts';
import { transferEvent } from '../events.ts';
import { HostError } from '../host/errors.ts';
import type { Invocation, Runner } from '../host/invocation.ts';
import { storageOf } from '../host/storage.ts';
import { addBalance, BalanceError } from '../ledger/balances.ts';
import { dataEntry, instanceKey, instanceVal } from '../ledger/entries.ts';
import { type Planting, plantAsset } from '../plant.ts';
import { addressVal, i128, i128Of, inMap, symbol, symbolMap, uint64 } from '../xdr.ts';
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
  u64Arg,
} from './arguments.ts';

const keccak = await createKeccak(256);
const keccak256 = (bytes: Uint8Array): Buffer => Buffer.from(keccak.init().update(bytes).digest('binary'));

const oft = oftOn(1500);
const { endpoint, token, issuer } = stellarUsdt0;
const usdt0 = new Asset('USDT0', issuer);
/** 0.5 lumens. */
export const messagePrice_stroops = 5_000_000n;
/** Contract that keeps message fees: the address of the original's library. */
const feeKeeper = 'CCV4HEII3UC65THWGSRM2DVIJLB6HS6YMUHDTTHUECX2RHTP5FA2GOBA';
const rate = 10n;

/** Numbers of our own: clients read the names. */
const errors = {
  slippage: 3001,
  noPeer: 3002,
  wrongPeer: 3003,
  badMessage: 3004,
  notVerifiable: 3005,
  wrongVerifier: 3006,
  wrongPayload: 3007,
  feeTooLow: 3008,
  cannotReceive: 3009,
} as const;

function must(holds: boolean, error: keyof typeof errors): asserts holds {
  if (!holds) throw new HostError('Contract', errors[error], error);
}

const lumensOf = (invocation: Invocation): string => Asset.native().contractId(invocation.network.passphrase);

/** 32 bytes of the contract behind an endpoint id; undefined for one without a route. */
function peerOf(endpointId: number): Buffer | undefined {
  const chainId = usdt0ChainIds.find((each) => each !== 1500 && endpointIdOf(each) === endpointId);
  return chainId === undefined ? undefined : Buffer.from(address32(oftOn(chainId)), 'hex');
}

const peerOption = (endpointId: number): xdr.ScVal => {
  const peer = peerOf(endpointId);
  return peer ? bytesVal(peer) : xdr.ScVal.scvVoid();
};

// The token's contract (OFT).

/** The amount without dust, if it is at least the stated minimum. */
function sentOf(param: xdr.ScVal | undefined): { readonly amount: bigint; readonly to: Buffer; readonly dst: number } {
  const field = (name: string) => (param ? inMap(param, name) : undefined);
  const amount = (amountArg(field('amount_ld')) / rate) * rate;
  must(amount >= amountArg(field('min_amount_ld')), 'slippage');
  const dst = u32Arg(field('dst_eid'));
  must(peerOf(dst) !== undefined, 'noPeer');
  for (const name of ['extra_options', 'compose_msg', 'oft_cmd']) bytesArg(field(name), 0);
  return { amount, to: bytesArg(field('to'), 32), dst };
}

const feeVal = (native: bigint): xdr.ScVal => symbolMap({ native_fee: i128(native), zro_fee: i128(0n) });

/** `quote_send(from, param, pay_in_zro)` */
function quoteSend(_: Invocation, args: xdr.ScVal[]): xdr.ScVal {
  addressArg(args[0]);
  sentOf(args[1]);
  return feeVal(messagePrice_stroops);
}

/** `send(from, param, fee, refund_address)`: burns, pays the fee to the Endpoint, and hands it the message. */
function send(invocation: Invocation, args: xdr.ScVal[]): xdr.ScVal {
  const [from, { amount, to, dst }, refund] = [addressArg(args[0]), sentOf(args[1]), addressArg(args[3])];
  invocation.requireAuth(from);
  invocation.call(token, 'burn', [addressVal(from), i128(amount)]);
  const stated = args[2] ? inMap(args[2], 'native_fee') : undefined;
  const fee = amountArg(stated);
  if (fee > 0n) invocation.call(lumensOf(invocation), 'transfer', [addressVal(from), addressVal(endpoint), i128(fee)]);
  const message = Buffer.concat([to, numberBytes(amount / rate, 8)]);
  const receipt = invocation.call(endpoint, 'send', [
    ...[addressVal(oft), xdr.ScVal.scvU32(dst), bytesVal(message), addressVal(refund)],
  ]);
  const guid = inMap(receipt, 'guid') ?? xdr.ScVal.scvVoid();
  const amounts = { amount_sent_ld: i128(amount), amount_received_ld: i128(amount) };
  const topics = [symbol('oft_sent'), guid, xdr.ScVal.scvU32(dst), addressVal(from)];
  invocation.publish(topics, symbolMap(amounts));
  return xdr.ScVal.scvVec([receipt, symbolMap(amounts)]);
}

/** `lz_receive(executor, origin, guid, message, extra_data, value)`: any account may be the executor. */
function receive(invocation: Invocation, args: xdr.ScVal[]): xdr.ScVal {
  const [executor, origin, guid, message] = [addressArg(args[0]), args[1], bytesArg(args[2], 32), bytesArg(args[3])];
  invocation.requireAuth(executor);
  const { source, sender } = originOf(origin);
  must(peerOf(source)?.equals(sender) === true, 'wrongPeer');
  const self = addressVal(oft);
  invocation.call(endpoint, 'clear', [self, origin ?? xdr.ScVal.scvVoid(), self, bytesVal(guid), bytesVal(message)]);
  must(message.length === 40, 'badMessage');
  const to = resolve(invocation, message.subarray(0, 32));
  const amount = message.readBigUInt64BE(32) * rate;
  mint(invocation, to, amount);
  const topics = [symbol('oft_received'), bytesVal(guid), xdr.ScVal.scvU32(source), addressVal(to)];
  invocation.publish(topics, symbolMap({ amount_received_ld: i128(amount) }));
  return xdr.ScVal.scvVoid();
}

/** The contract with these bytes if there is one, else the account. */
function resolve(invocation: Invocation, payload: Buffer): string {
  const contract = StrKey.encodeContract(payload);
  return invocation.view().get(instanceKey(contract)) ? contract : StrKey.encodeEd25519PublicKey(payload);
}

function mint(invocation: Invocation, to: string, amount: bigint): void {
  try {
    addBalance(invocation.view(), usdt0, token, to, amount);
  } catch (error) {
    if (error instanceof BalanceError) throw new HostError('Contract', errors.cannotReceive, error.message);
    throw error;
  }
  invocation.publishEvent(transferEvent(usdt0, token, { from: issuer, to, amount }));
}

// The Endpoint.

interface Origin {
  readonly source: number;
  readonly sender: Buffer;
  readonly nonce: bigint;
}

function originOf(origin: xdr.ScVal | undefined): Origin {
  const field = (name: string) => (origin ? inMap(origin, name) : undefined);
  return { source: u32Arg(field('src_eid')), sender: bytesArg(field('sender'), 32), nonce: u64Arg(field('nonce')) };
}

const u64 = (value: bigint): xdr.ScVal => xdr.ScVal.scvU64(uint64(value));
const keyOf = (name: string, ...parts: xdr.ScVal[]): xdr.ScVal => xdr.ScVal.scvVec([symbol(name), ...parts]);
type Path = Pick<Origin, 'source' | 'sender'>;
const pathKey = (name: string, { source, sender }: Path, ...more: xdr.ScVal[]): xdr.ScVal =>
  keyOf(name, xdr.ScVal.scvU32(source), bytesVal(sender), ...more);

function countAt(invocation: Invocation, key: xdr.ScVal): bigint {
  const value = storageOf(invocation, 'persistent').get(key);
  return value ? u64Arg(value) : 0n;
}

/** `send(sender, destination, message, refund_address)`, called by the token's contract alone, which has paid the fee before. */
function sendPacket(invocation: Invocation, args: xdr.ScVal[]): xdr.ScVal {
  const [sender, dst, message, refund] = [addressArg(args[0]), u32Arg(args[1]), bytesArg(args[2]), addressArg(args[3])];
  invocation.requireAuth(sender);
  const receiver = peerOf(dst);
  must(receiver !== undefined, 'noPeer');
  const key = keyOf('OutboundNonce', xdr.ScVal.scvU32(dst));
  const nonce = countAt(invocation, key) + 1n;
  storageOf(invocation, 'persistent').put(key, u64(nonce));
  const source = numberBytes(endpointIdOf(1500), 4);
  const path = [numberBytes(nonce, 8), source, payloadOf(sender), numberBytes(dst, 4), receiver];
  const guid = keccak256(Buffer.concat(path));
  const lumens = lumensOf(invocation);
  const pay = (to: string, amount: bigint) =>
    invocation.call(lumens, 'transfer', [addressVal(endpoint), addressVal(to), i128(amount)]);
  const supplied = i128Of(invocation.call(lumens, 'balance', [addressVal(endpoint)]).i128());
  must(supplied >= messagePrice_stroops, 'feeTooLow');
  pay(feeKeeper, messagePrice_stroops);
  if (supplied > messagePrice_stroops) pay(refund, supplied - messagePrice_stroops);
  const encoded = Buffer.concat([numberBytes(1, 1), ...path, guid, message]);
  const fields = { encoded_packet: bytesVal(encoded), options: bytesVal(Buffer.alloc(0)) };
  invocation.publish([symbol('packet_sent')], symbolMap({ ...fields, send_library: addressVal(feeKeeper) }));
  return symbolMap({ guid: bytesVal(guid), nonce: u64(nonce), fee: feeVal(messagePrice_stroops) });
}

/** Messages up to this number are verified without a gap. */
function inboundNonce(invocation: Invocation, path: Path): bigint {
  let nonce = countAt(invocation, pathKey('InboundNonce', path));
  while (storageOf(invocation, 'persistent').get(pathKey('Verified', path, u64(nonce + 1n)))) nonce += 1n;
  return nonce;
}

const hashKey = ({ nonce, ...path }: Origin): xdr.ScVal => pathKey('InboundPayloadHash', path, u64(nonce));

/** `verify(receive_lib, origin, receiver, payload_hash)` */
function verify(invocation: Invocation, args: xdr.ScVal[]): xdr.ScVal {
  const [verifier, origin, receiver, hash] = [addressArg(args[0]), originOf(args[1]), args[2], bytesArg(args[3], 32)];
  invocation.requireAuth(verifier);
  const own = storageOf(invocation, 'instance').get(symbol('verifier'));
  must(own !== undefined && addressArg(own) === verifier, 'wrongVerifier');
  must(addressArg(receiver) === oft && peerOf(origin.source)?.equals(origin.sender) === true, 'wrongPeer');
  const kept = storageOf(invocation, 'persistent');
  must(origin.nonce > inboundNonce(invocation, origin) || kept.get(hashKey(origin)) !== undefined, 'notVerifiable');
  kept.put(hashKey(origin), bytesVal(hash));
  kept.put(pathKey('Verified', origin, u64(origin.nonce)), xdr.ScVal.scvBool(true));
  kept.put(pathKey('InboundNonce', origin), u64(inboundNonce(invocation, origin)));
  const topics = [symbol('packet_verified'), args[1] ?? xdr.ScVal.scvVoid(), addressVal(oft)];
  invocation.publish(topics, symbolMap({ payload_hash: bytesVal(hash) }));
  return xdr.ScVal.scvVoid();
}

/** `clear(caller, origin, receiver, guid, message)`, called by the receiver: a message is delivered once, and only as it was verified. */
function clear(invocation: Invocation, args: xdr.ScVal[]): xdr.ScVal {
  const [caller, origin, receiver] = [addressArg(args[0]), originOf(args[1]), addressArg(args[2])];
  invocation.requireAuth(caller);
  const kept = storageOf(invocation, 'persistent');
  const payload = Buffer.concat([bytesArg(args[3], 32), bytesArg(args[4])]);
  const held = kept.get(hashKey(origin));
  const isVerified = held !== undefined && origin.nonce <= inboundNonce(invocation, origin);
  must(caller === receiver && isVerified && bytesArg(held).equals(keccak256(payload)), 'wrongPayload');
  kept.remove(hashKey(origin));
  invocation.publish([symbol('packet_delivered'), args[1] ?? xdr.ScVal.scvVoid(), addressVal(receiver)], symbolMap({}));
  return xdr.ScVal.scvVoid();
}

const pathArgs = (args: xdr.ScVal[]): Path => ({ source: u32Arg(args[1]), sender: bytesArg(args[2], 32) });
const constant = (value: (invocation: Invocation) => xdr.ScVal) => ({ parameters: 0, run: value });
const no = constant(() => xdr.ScVal.scvBool(false));

/** By contract. */
const contracts: ReadonlyMap<string, Functions> = new Map<string, Functions>([
  [
    oft,
    {
      quote_send: { parameters: 3, run: quoteSend },
      send: { parameters: 4, run: send },
      lz_receive: { parameters: 6, run: receive },
      peer: { parameters: 1, run: (_, args) => peerOption(u32Arg(args[0])) },
      token: constant(() => addressVal(token)),
      endpoint: constant(() => addressVal(endpoint)),
      shared_decimals: constant(() => xdr.ScVal.scvU32(6)),
      decimal_conversion_rate: constant(() => i128(rate)),
      approval_required: no,
      is_paused: no,
    },
  ],
  [
    endpoint,
    {
      send: { parameters: 4, run: sendPacket },
      verify: { parameters: 4, run: verify },
      clear: { parameters: 5, run: clear },
      eid: constant(() => xdr.ScVal.scvU32(endpointIdOf(1500))),
      native_token: constant((invocation) => addressVal(lumensOf(invocation))),
      inbound_nonce: { parameters: 3, run: (invocation, args) => u64(inboundNonce(invocation, pathArgs(args))) },
      inbound_payload_hash: {
        parameters: 4,
        run: (invocation, args) =>
          storageOf(invocation, 'persistent').get(hashKey({ ...pathArgs(args), nonce: u64Arg(args[3]) })) ??
          xdr.ScVal.scvVoid(),
      },
    },
  ],
]);

const marker = markerOf('USDT0');

export const isUsdt0 = (instance: xdr.ScContractInstance): boolean => isMarked(instance, marker);
export const runUsdt0: Runner = (invocation) => runFunction(contracts, invocation);

/** Puts the contracts on the ledger, once. @param verifier account (G…) that verifies messages */
export function plantUsdt0Contracts(planting: Planting, verifier: string): void {
  for (const asset of [Asset.native(), usdt0]) plantAsset(planting, asset);
  const storage = [new xdr.ScMapEntry({ key: symbol('verifier'), val: addressVal(verifier) })];
  for (const contract of contracts.keys()) {
    const key = instanceKey(contract);
    if (planting.view.get(key)) continue;
    const instance = instanceVal(xdr.ContractExecutable.contractExecutableWasm(marker), storage);
    planting.view.put(key, dataEntry(key, instance));
  }
}
