/**
 * Circle's protocol on the local Solana: instructions, accounts and bytes of circlefin/solana-cctp-contracts (programs/v2) at the real
 * addresses. The code is ours and runs beside the virtual machine, because nobody publishes the programs' binaries. The machine runs the
 * other instructions of the transaction and takes the fee; the effects of the protocol follow only if those succeed.
 */
import { secp256k1 } from '@noble/curves/secp256k1';
import {
  type Address,
  address,
  getAddressDecoder,
  getAddressEncoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  type Transaction,
} from '@solana/kit';
import { createKeccak } from 'hash-wasm';
import { address32 } from '../../../domain/rebalance/burnMessage.ts';
import { burnTokenOn, chainOfDomain, contractsOn, domainOf, solanaCctp } from '../../../domain/rebalance/cctp.ts';
import { programAddress } from '../../../src/chains/solana/addresses.ts';
import {
  cctpAccounts,
  discriminator,
  remoteMessenger,
  tokenPair,
  u32le,
  u64le,
  usedNonce,
} from '../../../src/chains/solana/cctp.ts';
import { type Account, systemProgram } from './account.ts';
import { unitLimitOf } from './fee.ts';
import { type Instruction, type Message, messageIn } from './message.ts';
import { tokenAccountOf, tokenProgram } from './tokens.ts';

const keccak = await createKeccak(256);
const keccak256 = (bytes: Uint8Array): Uint8Array => keccak.init().update(bytes).digest('binary');

const messenger = address(solanaCctp.messenger);
const transmitter = address(solanaCctp.transmitter);
const usdc = address(burnTokenOn(501) ?? '');
export const cctpPrograms: readonly Address[] = [messenger, transmitter];

/** Errors of the programs and of Anchor: their numbers in `Custom`. */
const errors = {
  accountInUse: 0,
  insufficientLamports: 1,
  seeds: 2006,
  notInitialized: 3012,
  notSigner: 3010,
  paused: 6001,
  unknownInstruction: 101,
  wrongCaller: 6014,
  wrongDomain: 6018,
  wrongVersion: 6019,
  wrongProgram: 6021,
  badMessage: 6025,
  signatureOrder: 6026,
  notAttester: 6027,
  attestationLength: 6028,
  localDomain: 6034,
  unknownMessenger: 6002,
  amountZero: 6006,
  wrongRecipient: 6009,
  tokenUnknown: 6011,
  denylisted: 6016,
  feeTooHigh: 6017,
  expired: 6018,
  burnLimit: 6007,
  insufficientTokens: 1,
} as const;

export class CctpFailed extends Error {
  readonly code: number;
  constructor(error: keyof typeof errors) {
    super(error);
    this.code = errors[error];
  }
}

function must(holds: unknown, error: keyof typeof errors): asserts holds {
  if (!holds) throw new CctpFailed(error);
}

/** Changes of one account by an instruction of the protocol. */
export type Effect = (account: Account | undefined) => Account;
type Effects = readonly (readonly [Address, Effect])[];

/** State that an instruction sees. */
export interface CctpView {
  get(address: Address): Account | undefined;
  rentExempt(bytes: number): bigint;
  readonly slot: bigint;
  readonly time_s: bigint;
}

interface Given {
  readonly address: Address;
  readonly signs: boolean;
  readonly written: boolean;
}

const decodeAddress = (bytes: Uint8Array): Address => getAddressDecoder().decode(bytes);
const bytesOf = (of: Address): Buffer => Buffer.from(getAddressEncoder().encode(of));
const tag = (name: string, space?: string): string => discriminator(name, space).toString('hex');
const zero32 = Buffer.alloc(32);
const u32be = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const u256 = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
const u256At = (bytes: Buffer, at: number): bigint => BigInt(`0x${bytes.subarray(at, at + 32).toString('hex')}`);

/** Offsets of accounts of the programs, behind the tag. */
const at = {
  transmitter: { paused: 136, domain: 137, threshold: 145, count: 149, attesters: 153 },
  messenger: { feeRecipient: 109 },
  minter: { paused: 72 },
  local: { burnLimit: 72, sent: 80, received: 88, amountSent: 96, amountReceived: 112 },
  remote: { domain: 8, messenger: 12 },
  pair: { localToken: 44 },
} as const;

function stateOf(view: CctpView, where: string, owner: Address): Buffer {
  const account = view.get(address(where));
  must(account?.owner === owner && account.data.length > 8, 'notInitialized');
  return Buffer.from(account.data);
}

/** The effects of an instruction of the protocol. @throws CctpFailed */
function run(view: CctpView, program: Address, data: Buffer, keys: readonly Given[]): Effects {
  const name = data.subarray(0, 8).toString('hex');
  if (program === messenger && name === tag('deposit_for_burn')) return burn(view, data.subarray(8), keys, false);
  if (program === messenger && name === tag('deposit_for_burn_with_hook'))
    return burn(view, data.subarray(8), keys, true);
  must(program === transmitter && name === tag('receive_message'), 'unknownInstruction');
  return receive(view, data.subarray(8), keys);
}

/** `deposit_for_burn` and `deposit_for_burn_with_hook`, with `send_message` of the other program. */
function burn(view: CctpView, params: Buffer, keys: readonly Given[], hasHook: boolean): Effects {
  const amount = params.readBigUInt64LE(0);
  const domain = params.readUInt32LE(8);
  const [recipient, caller] = [params.subarray(12, 44), params.subarray(44, 76)];
  const [feeMax, finality] = [params.readBigUInt64LE(76), params.readUInt32LE(84)];
  const hook = hasHook ? params.subarray(92, 92 + params.readUInt32LE(88)) : Buffer.alloc(0);
  must(hasHook === hook.length > 0 && params.length === 88 + (hasHook ? 4 + hook.length : 0), 'badMessage');
  const [owner, payer, authority, held, denied, sending, state, remote, minter, local, mint, event, ...programs] = keys;
  must(owner?.signs && payer?.signs && payer.written && event?.signs && event.written && held?.written, 'notSigner');
  const expected: readonly (readonly [Given | undefined, string])[] = [
    [authority, cctpAccounts().senderAuthority],
    [denied, programAddress(messenger, [Buffer.from('denylist_account'), bytesOf(owner.address)])],
    [sending, cctpAccounts().messageTransmitter],
    [state, cctpAccounts().tokenMessenger],
    [remote, remoteMessenger(domain)],
    [minter, cctpAccounts().tokenMinter],
    [local, cctpAccounts().localToken],
    [mint, usdc],
    ...[transmitter, messenger, tokenProgram, systemProgram, cctpAccounts().messengerEvents, messenger].map(
      (each, place) => [programs[place], each] as const,
    ),
  ];
  must(
    expected.every(([given, own]) => given?.address === own),
    'seeds',
  );
  const known = stateOf(view, remoteMessenger(domain), messenger);
  must(known.readUInt32LE(at.remote.domain) === domain, 'wrongDomain');
  must(amount > 0n, 'amountZero');
  must((view.get(denied?.address ?? usdc)?.data.length ?? 0) === 0, 'denylisted');
  must(!recipient.equals(zero32), 'wrongRecipient');
  must(amount > feeMax, 'feeTooHigh');
  must(stateOf(view, cctpAccounts().tokenMinter, messenger)[at.minter.paused] === 0, 'paused');
  must(stateOf(view, cctpAccounts().localToken, messenger).readBigUInt64LE(at.local.burnLimit) >= amount, 'burnLimit');
  const token = tokenAccountOf(view.get(held.address));
  must(token?.mint === usdc && token.owner === owner.address, 'tokenUnknown');
  must(token.amount >= amount, 'insufficientTokens');
  const transmitting = stateOf(view, cctpAccounts().messageTransmitter, transmitter);
  must(transmitting[at.transmitter.paused] === 0, 'paused');
  const localDomain = transmitting.readUInt32LE(at.transmitter.domain);
  must(domain !== localDomain, 'localDomain');
  const existing = view.get(event.address);
  must(!existing || (existing.owner === systemProgram && existing.data.length === 0), 'accountInUse');
  const to = known.subarray(at.remote.messenger, at.remote.messenger + 32);
  const message = Buffer.concat([
    ...[u32be(1), u32be(localDomain), u32be(domain), zero32, bytesOf(messenger), to, caller, u32be(finality), u32be(0)],
    ...[
      u32be(1),
      bytesOf(usdc),
      recipient,
      u256(amount),
      bytesOf(owner.address),
      u256(feeMax),
      u256(0n),
      u256(0n),
      hook,
    ],
  ]);
  const head = [discriminator('MessageSent', 'account'), bytesOf(payer.address), u64le(view.time_s)];
  const data = Buffer.concat([...head, u32le(message.length), message]);
  const rent = missingRent(view, data.length, existing);
  must((view.get(payer.address)?.lamports ?? 0n) > rent, 'insufficientLamports');
  return [
    [held.address, changeTokens(-amount)],
    [usdc, changeSupply(-amount)],
    [address(cctpAccounts().localToken), counted(at.local.sent, at.local.amountSent, amount)],
    [payer.address, pay(rent)],
    [event.address, (now) => ({ lamports: (now?.lamports ?? 0n) + rent, owner: transmitter, executable: false, data })],
  ];
}

/** `receive_message`, with `handle_receive_…_message` of the other program. */
function receive(view: CctpView, params: Buffer, keys: readonly Given[]): Effects {
  const length = params.readUInt32LE(0);
  const message = params.subarray(4, 4 + length);
  const attestation = params.subarray(8 + length, 8 + length + params.readUInt32LE(4 + length));
  const [payer, caller, authority, sending, nonce, receiver, system, events, self, ...others] = keys;
  const [state, remote, minter, local, pair, feeAccount, recipient, custody, program, ownEvents, own] = others;
  must(payer?.signs && payer.written && caller?.signs && nonce?.written, 'notSigner');
  must(message.length >= 148 + 228, 'badMessage');
  const domain = message.readUInt32BE(4);
  const body = message.subarray(148);
  const expected: readonly (readonly [Given | undefined, string])[] = [
    [authority, cctpAccounts().transmitterAuthority],
    [sending, cctpAccounts().messageTransmitter],
    [nonce, usedNonce(message.subarray(12, 44).toString('hex'))],
    ...[
      [receiver, messenger],
      [system, systemProgram],
      [events, cctpAccounts().transmitterEvents],
      [self, transmitter],
    ].map(([given, each]) => [given as Given | undefined, each as string] as const),
    [state, cctpAccounts().tokenMessenger],
    [remote, remoteMessenger(domain)],
    [minter, cctpAccounts().tokenMinter],
    [local, cctpAccounts().localToken],
    [pair, tokenPair(domain, body.subarray(4, 36).toString('hex'))],
    [custody, cctpAccounts().custody],
    [program, tokenProgram],
    [ownEvents, cctpAccounts().messengerEvents],
    [own, messenger],
  ];
  must(
    expected.every(([given, each]) => given?.address === each),
    'seeds',
  );
  must(view.get(nonce.address) === undefined, 'accountInUse');
  const transmitting = stateOf(view, cctpAccounts().messageTransmitter, transmitter);
  must(transmitting[at.transmitter.paused] === 0, 'paused');
  must(message.readUInt32BE(0) === 1, 'wrongVersion');
  verify(transmitting, message, attestation);
  must(message.readUInt32BE(8) === transmitting.readUInt32LE(at.transmitter.domain), 'wrongDomain');
  const only = message.subarray(108, 140);
  must(only.equals(zero32) || only.equals(bytesOf(caller.address)), 'wrongCaller');
  must(message.subarray(76, 108).equals(bytesOf(messenger)), 'wrongProgram');
  const known = stateOf(view, remoteMessenger(domain), messenger);
  must(
    known.subarray(at.remote.messenger, at.remote.messenger + 32).equals(message.subarray(44, 76)),
    'unknownMessenger',
  );
  const paired = stateOf(view, tokenPair(domain, body.subarray(4, 36).toString('hex')), messenger);
  must(decodeAddress(paired.subarray(at.pair.localToken, at.pair.localToken + 32)) === local?.address, 'tokenUnknown');
  must(body.readUInt32BE(0) === 1, 'wrongVersion');
  const [amount, feeMax, fee, expiration] = [68, 132, 164, 196].map((place) => u256At(body, place)) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  must(expiration === 0n || expiration > view.slot, 'expired');
  must(fee < amount && fee <= feeMax, 'feeTooHigh');
  must(recipient?.written && bytesOf(recipient.address).equals(body.subarray(36, 68)), 'wrongRecipient');
  must(tokenAccountOf(view.get(recipient.address))?.mint === usdc, 'tokenUnknown');
  const owner = stateOf(view, cctpAccounts().tokenMessenger, messenger).subarray(
    at.messenger.feeRecipient,
    at.messenger.feeRecipient + 32,
  );
  const feeToken = tokenAccountOf(feeAccount && view.get(feeAccount.address));
  must(feeAccount?.written && feeToken?.mint === usdc && bytesOf(feeToken.owner).equals(owner), 'seeds');
  must(stateOf(view, cctpAccounts().tokenMinter, messenger)[at.minter.paused] === 0, 'paused');
  must((tokenAccountOf(view.get(address(cctpAccounts().custody)))?.amount ?? 0n) >= amount, 'insufficientTokens');
  const data = Buffer.concat([discriminator('UsedNonce', 'account'), Buffer.of(1)]);
  const rent = view.rentExempt(data.length);
  must((view.get(payer.address)?.lamports ?? 0n) > rent, 'insufficientLamports');
  return [
    [payer.address, pay(rent)],
    [nonce.address, () => ({ lamports: rent, owner: transmitter, executable: false, data })],
    [address(cctpAccounts().localToken), counted(at.local.received, at.local.amountReceived, amount)],
    [address(cctpAccounts().custody), changeTokens(-amount)],
    ...(fee > 0n ? [[feeAccount.address, changeTokens(fee)] as const] : []),
    [recipient.address, changeTokens(amount - fee)],
  ];
}

/** Signatures of 65 bytes over the message's Keccak hash, by enabled attesters in ascending order. */
function verify(state: Buffer, message: Buffer, attestation: Buffer): void {
  const threshold = state.readUInt32LE(at.transmitter.threshold);
  const enabled = Array.from({ length: state.readUInt32LE(at.transmitter.count) }, (_, place) =>
    state.subarray(at.transmitter.attesters + 32 * place, at.transmitter.attesters + 32 * (place + 1)).toString('hex'),
  );
  must(attestation.length === 65 * threshold, 'attestationLength');
  const digest = keccak256(message);
  let last = '';
  for (let place = 0; place < threshold; place++) {
    const attester = signerOf(digest, attestation.subarray(65 * place, 65 * (place + 1)));
    must(attester > last, 'signatureOrder');
    must(enabled.includes(attester), 'notAttester');
    last = attester;
  }
}

/** The attester's address as 64 hex digits; empty for no signature. */
function signerOf(digest: Uint8Array, signature: Buffer): string {
  try {
    const parsed = secp256k1.Signature.fromCompact(signature.subarray(0, 64));
    const key = parsed.addRecoveryBit((signature[64] ?? 27) - 27).recoverPublicKey(digest);
    return Buffer.from(keccak256(key.toRawBytes(false).subarray(1)).subarray(12))
      .toString('hex')
      .padStart(64, '0');
  } catch {
    return '';
  }
}

const missingRent = (view: CctpView, bytes: number, existing: Account | undefined): bigint => {
  const most = view.rentExempt(bytes) - (existing?.lamports ?? 0n);
  return most > 0n ? most : 0n;
};

const withData = (account: Account | undefined, write: (data: Buffer) => void): Account => {
  must(account, 'notInitialized');
  const data = Buffer.from(account.data);
  write(data);
  return { ...account, data: new Uint8Array(data) };
};
const plusAt = (data: Buffer, place: number, by: bigint) =>
  data.writeBigUInt64LE(data.readBigUInt64LE(place) + by, place);
/** Amount of a token account, and supply of a mint, in their data. */
const changeTokens =
  (by: bigint): Effect =>
  (account) =>
    withData(account, (data) => plusAt(data, 64, by));
const changeSupply =
  (by: bigint): Effect =>
  (account) =>
    withData(account, (data) => plusAt(data, 36, by));
const pay =
  (lamports: bigint): Effect =>
  (account) => {
    must(account, 'notInitialized');
    return { ...account, lamports: account.lamports - lamports };
  };
const counted =
  (messages: number, sum: number, amount: bigint): Effect =>
  (account) =>
    withData(account, (data) => {
      plusAt(data, messages, 1n);
      plusAt(data, sum, amount);
    });

/** Compute units of the programs. A mint's were observed by `@circle-fin/adapter-solana`; a burn's are an estimate. */
const units = { burn: 120_000, receive: 280_000 };

/** A transaction without its calls of the protocol, and the effects of those. */
export interface Played {
  readonly rest: Transaction;
  readonly effects: Effects;
  readonly units: number;
  readonly logs: readonly string[];
  /** The call failed: `rest` fails too, so that the machine takes the fee. */
  readonly failed?: { readonly index: number; readonly error: unknown };
}

/**
 * Undefined for a transaction that does not call the protocol.
 * @param all accounts that it names, with those of lookup tables. Default: without them
 */
export function playCctp(transaction: Transaction, view: CctpView, all?: readonly Address[]): Played | undefined {
  const message = messageIn(transaction.messageBytes);
  const programOf = ({ programAddressIndex }: Instruction) => message.staticAccounts[programAddressIndex];
  const isCall = (each: Instruction) => cctpPrograms.includes(programOf(each) ?? systemProgram);
  if (!message.instructions.some(isCall)) return undefined;
  const effects: (readonly [Address, Effect])[] = [];
  const logs: string[] = [];
  let used = 0;
  for (const [index, instruction] of message.instructions.entries()) {
    const program = programOf(instruction);
    if (!program || !isCall(instruction)) continue;
    logs.push(`Program ${program} invoke [1]`);
    const keys = (instruction.accountIndices ?? []).map((place) => givenAt(message, place, all));
    try {
      used += program === messenger ? units.burn : units.receive;
      if (used > unitLimitOf(message)) return failedAt(transaction, { index, error: 'ProgramFailedToComplete', logs });
      effects.push(...run(view, program, Buffer.from(instruction.data ?? []), keys));
    } catch (error) {
      if (!(error instanceof CctpFailed) && !(error instanceof RangeError)) throw error;
      const code = error instanceof CctpFailed ? error.code : errors.badMessage;
      logs.push(`Program log: Error: ${error.message}`, `Program ${program} failed: custom program error: ${code}`);
      return failedAt(transaction, { index, error: { Custom: code }, logs });
    }
    logs.push(`Program ${program} success`);
  }
  return { rest: without(transaction, (each) => !isCall(each)), effects, units: used, logs };
}

/** Accounts of lookup tables follow, the writable ones first. */
function givenAt(
  { header, staticAccounts, lookupTables }: Message,
  place: number,
  all: readonly Address[] = staticAccounts,
): Given {
  if (place >= staticAccounts.length) {
    const writable = lookupTables.reduce((sum, { writableIndexes }) => sum + writableIndexes.length, 0);
    const written = place < staticAccounts.length + writable;
    return { address: all[place] ?? systemProgram, signs: false, written };
  }
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
  const signs = place < numSignerAccounts;
  const written = signs
    ? place < numSignerAccounts - numReadonlySignerAccounts
    : place < staticAccounts.length - numReadonlyNonSignerAccounts;
  return { address: staticAccounts[place] ?? systemProgram, signs, written };
}

function failedAt(
  transaction: Transaction,
  { index, error, logs }: { readonly index: number; readonly error: unknown; readonly logs: readonly string[] },
): Played {
  const { staticAccounts } = messageIn(transaction.messageBytes);
  // The token program refuses it, and is named by each call of the protocol; the system program refuses it too.
  const program = Math.max(staticAccounts.indexOf(tokenProgram), staticAccounts.indexOf(systemProgram));
  const refused = { programAddressIndex: program, accountIndices: [], data: new Uint8Array([255, 255, 255, 255]) };
  const rest = without(transaction, () => false, refused);
  return { rest, effects: [], units: 0, logs, failed: { index, error } };
}

function without(
  transaction: Transaction,
  stays: (each: Instruction) => boolean,
  ...added: Instruction[]
): Transaction {
  const compiled = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
  if (compiled.version === 1) throw new CctpFailed('unknownInstruction');
  const instructions = [...compiled.instructions.filter(stays), ...added] as typeof compiled.instructions;
  const messageBytes = getCompiledTransactionMessageEncoder().encode({ ...compiled, instructions });
  return { ...transaction, messageBytes: messageBytes as never };
}

// Accounts of the programs, as Circle's are.

const nativeLoader = address('NativeLoader1111111111111111111111111111111');
/** Owner of the programs' authorities and of the fees. Nobody has its key. */
const somebody = Buffer.alloc(32, 0xc1);
export const feeOwner: Address = decodeAddress(somebody);
/** One burn moves 10 million USDC at most. */
const burnLimit = 10_000_000_000000n;

/** @param attesters 20 bytes each, ascending. @param rentOf lamports of an account with that many bytes */
export function cctpAccountsAt(
  attesters: readonly Buffer[],
  rentOf: (bytes: number) => bigint,
): readonly (readonly [Address, Account])[] {
  const state = (where: string, owner: Address, name: string, ...parts: readonly Buffer[]) => {
    const data = Buffer.concat([discriminator(name, 'account'), ...parts]);
    return [address(where), { lamports: rentOf(data.length), owner, executable: false, data }] as const;
  };
  const program = (where: Address) =>
    [where, { lamports: rentOf(0), owner: nativeLoader, executable: true, data: new Uint8Array() }] as const;
  const padded = attesters.map((each) => Buffer.concat([Buffer.alloc(12), each]));
  const remotes = [0, 3, 6, 7, 27].flatMap((domain) => {
    const chainId = chainOfDomain(domain);
    const token = chainId && burnTokenOn(chainId);
    if (chainId === undefined || token === undefined) return [];
    const [theirs, remote] = [contractsOn(chainId).messenger, token].map((each) => Buffer.from(address32(each), 'hex'));
    if (!theirs || !remote) return [];
    const pair = [u32le(domain), remote, bytesOf(address(cctpAccounts().localToken)), Buffer.of(255)];
    return [
      state(remoteMessenger(domain), messenger, 'RemoteTokenMessenger', u32le(domain), theirs),
      state(tokenPair(domain, remote.toString('hex')), messenger, 'TokenPair', ...pair),
    ];
  });
  return [
    ...[program(messenger), program(transmitter)],
    state(
      ...([cctpAccounts().messageTransmitter, transmitter, 'MessageTransmitter', somebody, zero32, somebody] as const),
      ...[somebody, Buffer.of(0), u32le(domainOf(501)), u32le(1), u32le(attesters.length), u32le(attesters.length)],
      ...[...padded, u64le(8_192n)],
    ),
    state(
      ...([cctpAccounts().tokenMessenger, messenger, 'TokenMessenger', somebody, somebody, zero32, u32le(1)] as const),
      ...[Buffer.of(255), somebody, somebody, u32le(0)],
    ),
    state(cctpAccounts().tokenMinter, messenger, 'TokenMinter', somebody, somebody, Buffer.of(0, 255)),
    state(
      ...([cctpAccounts().localToken, messenger, 'LocalToken', bytesOf(address(cctpAccounts().custody))] as const),
      ...[bytesOf(usdc), u64le(burnLimit), Buffer.alloc(16 + 32), Buffer.of(255, 255)],
    ),
    ...remotes,
  ];
}
