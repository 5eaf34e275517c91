/**
 * Circle's protocol (CCTP version 2) on Solana: the messages that burn and mint, and the accounts that they name.
 *
 * Source of accounts, seeds and layouts: circlefin/solana-cctp-contracts, programs/v2 (deposit_for_burn.rs, receive_message.rs,
 * handle_receive_finalized_message.rs, state.rs) and examples/v2.
 */
import { createHash } from 'node:crypto';
import { assert } from '../../../domain/decider.ts';
import { formatAmount } from '../../../domain/money.ts';
import { addressing, parseBurnMessage } from '../../../domain/rebalance/burnMessage.ts';
import { burnTokenOn, domainOf, messageDecimals, solanaCctp } from '../../../domain/rebalance/cctp.ts';
import type { ChainNode } from '../node/jsonRpc.ts';
import { PayoutBlocked, type TransferOrder } from '../ports.ts';
import { programAddress, systemProgram } from './addresses.ts';
import { rentOf, solanaChainId } from './config.ts';
import { accountsOf, type RawAccount } from './reads.ts';
import { tokenAccountOf, tokenProgram } from './tokenProgram.ts';
import { type AccountMeta, PublicKey, TransactionInstruction } from './web3.ts';

const { messenger, transmitter } = solanaCctp;
const usdc = burnTokenOn(solanaChainId) ?? '';

const utf8 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const key = (address: string): Uint8Array => new PublicKey(address).toBytes();
const hex = (digits: string): Uint8Array => new Uint8Array(Buffer.from(digits, 'hex'));
const ofMessenger = (...seeds: readonly Uint8Array[]): string => programAddress(messenger, seeds);
const ofTransmitter = (...seeds: readonly Uint8Array[]): string => programAddress(transmitter, seeds);

const derived = () => ({
  tokenMessenger: ofMessenger(utf8('token_messenger')),
  tokenMinter: ofMessenger(utf8('token_minter')),
  localToken: ofMessenger(utf8('local_token'), key(usdc)),
  /** Token account from which mints are paid. */
  custody: ofMessenger(utf8('custody'), key(usdc)),
  senderAuthority: ofMessenger(utf8('sender_authority')),
  messengerEvents: ofMessenger(utf8('__event_authority')),
  messageTransmitter: ofTransmitter(utf8('message_transmitter')),
  transmitterAuthority: ofTransmitter(utf8('message_transmitter_authority'), key(messenger)),
  transmitterEvents: ofTransmitter(utf8('__event_authority')),
});
let known: ReturnType<typeof derived> | undefined;

/** Accounts that the programs derive, equal for every burn and mint of USDC. Their derivation takes ten milliseconds. */
export const cctpAccounts = (): Readonly<ReturnType<typeof derived>> => {
  known ??= derived();
  return known;
};

/** The messenger of another domain, as the program knows it. The seed is the domain's number in decimal digits. */
export const remoteMessenger = (domain: number): string =>
  ofMessenger(utf8('remote_token_messenger'), utf8(String(domain)));
/** Pair of another domain's token with the local one. @param burnToken 64 hex digits */
export const tokenPair = (domain: number, burnToken: string): string =>
  ofMessenger(utf8('token_pair'), utf8(String(domain)), hex(burnToken));
/** Account that exists if the owner may not burn. */
const denylistOf = (owner: string): string => ofMessenger(utf8('denylist_account'), key(owner));
/** Account that a mint creates: it exists if the message of the nonce was minted. @param nonce 64 hex digits */
export const usedNonce = (nonce: string): string => ofTransmitter(utf8('used_nonce'), hex(nonce));

/** First 8 bytes of an instruction, as Anchor derives them from its name. */
export const discriminator = (name: string, space = 'global'): Buffer =>
  createHash('sha256').update(`${space}:${name}`).digest().subarray(0, 8);
const burnTag = discriminator('deposit_for_burn');
const hookBurnTag = discriminator('deposit_for_burn_with_hook');
const mintTag = discriminator('receive_message');

function account(address: string, ...roles: readonly ('signs' | 'written')[]): AccountMeta {
  return { pubkey: new PublicKey(address), isSigner: roles.includes('signs'), isWritable: roles.includes('written') };
}

export const u32le = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
export const u64le = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
};
const sized = (digits: string): Buffer => Buffer.concat([u32le(digits.length / 2), hex(digits)]);

type Burning = Pick<TransferOrder, 'form' | 'amount'>;

/**
 * Destroys the treasury's tokens and writes the message into an account that the instruction creates, at the treasury's cost. One account
 * belongs to one rebalance: a second burn with it fails, because the account exists (`init` in send_message.rs).
 * @param eventAccount signs beside the treasury
 */
export function burnInstruction(
  { form, amount }: Burning,
  owner: string,
  eventAccount: string,
): TransactionInstruction {
  assert(form?.kind === 'burn', 'only a burn burns');
  const { destinationDomain, feeMax, finality } = form;
  const { mintRecipient, destinationCaller, hookData } = addressing(destinationDomain, form.mintRecipient);
  const keys = [
    ...[account(owner, 'signs'), account(owner, 'signs', 'written'), account(cctpAccounts().senderAuthority)],
    ...[account(tokenAccountOf(owner, usdc), 'written'), account(denylistOf(owner))],
    ...[account(cctpAccounts().messageTransmitter, 'written'), account(cctpAccounts().tokenMessenger)],
    ...[account(remoteMessenger(destinationDomain)), account(cctpAccounts().tokenMinter)],
    ...[account(cctpAccounts().localToken, 'written'), account(usdc, 'written')],
    ...[account(eventAccount, 'signs', 'written'), account(transmitter), account(messenger), account(tokenProgram)],
    ...[account(systemProgram), account(cctpAccounts().messengerEvents), account(messenger)],
  ];
  const data = Buffer.concat([
    ...[hookData === '' ? burnTag : hookBurnTag, u64le(amount), u32le(destinationDomain), hex(mintRecipient)],
    ...[hex(destinationCaller), u64le(BigInt(feeMax)), u32le(finality), ...(hookData === '' ? [] : [sized(hookData)])],
  ]);
  return new TransactionInstruction({ programId: new PublicKey(messenger), keys, data });
}

/** Position of the account with the message among those of a burn's instruction. */
export const eventAccountAt = 11;

/**
 * Mints for a message, to the token account that it names; each account may ask for it. The instruction creates the account of the nonce,
 * so a second mint fails.
 * @param feeAccount token account that receives Circle's fee, as the program's state names its owner; another one makes the mint fail
 */
export function mintInstruction(
  { form }: Pick<TransferOrder, 'form'>,
  caller: string,
  feeAccount: string,
): TransactionInstruction {
  assert(form?.kind === 'mint', 'only a mint mints');
  const message = parseBurnMessage(form.message);
  assert(message !== undefined, 'a mint has a message of the protocol');
  const { sourceDomain, burnToken, mintRecipient, nonce } = message;
  const recipient = new PublicKey(hex(mintRecipient)).toBase58();
  const keys = [
    ...[account(caller, 'signs', 'written'), account(caller, 'signs'), account(cctpAccounts().transmitterAuthority)],
    ...[account(cctpAccounts().messageTransmitter), account(usedNonce(nonce), 'written'), account(messenger)],
    ...[account(systemProgram), account(cctpAccounts().transmitterEvents), account(transmitter)],
    // Accounts of the program that receives the message.
    ...[account(cctpAccounts().tokenMessenger), account(remoteMessenger(sourceDomain))],
    ...[account(cctpAccounts().tokenMinter, 'written'), account(cctpAccounts().localToken, 'written')],
    ...[account(tokenPair(sourceDomain, burnToken)), account(feeAccount, 'written'), account(recipient, 'written')],
    ...[account(cctpAccounts().custody, 'written'), account(tokenProgram), account(cctpAccounts().messengerEvents)],
    account(messenger),
  ];
  const data = Buffer.concat([mintTag, sized(form.message.slice(2)), sized(form.attestation.slice(2))]);
  return new TransactionInstruction({ programId: new PublicKey(transmitter), keys, data });
}

/**
 * Takes back any permission to spend from the treasury's own token account: it has none. A mint is too long for a transaction that sets its
 * compute units, and needs more than the 200,000 that one instruction has by default (280,000 were observed by
 * `@circle-fin/adapter-solana` 1.7.3). A second instruction doubles them, and this one is the shortest: 6 bytes.
 */
export const revokeInstruction = (owner: string): TransactionInstruction =>
  new TransactionInstruction({
    programId: new PublicKey(tokenProgram),
    keys: [account(tokenAccountOf(owner, usdc), 'written'), account(owner, 'signs')],
    data: Buffer.of(5),
  });

/** Compute units of a mint: the default of two instructions, which the network sets. */
export const mintUnits = 400_000;

export const isMintProgram = (programId: string): boolean => programId === transmitter;

/** Bytes of the message's account before the message: tag, payer of the rent, time, length. */
const eventHeader_bytes = 52;
/** Offsets in the accounts of the programs, behind the tag of 8 bytes. */
const layout = { feeRecipient: 109, localDomain: 137, burnLimit: 72, remoteDomain: 8 } as const;
const nonceAccount_bytes = 9;

/** Rent of the account with a burn's message, in lamports. The treasury pays it, and nothing returns it automatically. */
export function eventRent({ form }: Burning): bigint {
  assert(form?.kind === 'burn', 'only a burn has a message');
  const { hookData } = addressing(form.destinationDomain, form.mintRecipient);
  return rentOf(eventHeader_bytes + 376 + hookData.length / 2);
}
/** Rent of the account of a minted nonce, in lamports. It is never returned. */
export const nonceRent = rentOf(nonceAccount_bytes);

/** The message in the account that a burn created; undefined for any other account. */
export function messageInAccount(found: Pick<RawAccount, 'owner' | 'data'> | null | undefined): string | undefined {
  if (found?.owner !== transmitter || found.data.length < eventHeader_bytes) return undefined;
  const length = found.data.readUInt32LE(eventHeader_bytes - 4);
  return `0x${found.data.subarray(eventHeader_bytes, eventHeader_bytes + length).toString('hex')}`;
}

/** Token account that receives Circle's fees. @throws PayoutBlocked if the program's state is missing */
export function feeAccountIn(state: RawAccount | null | undefined): string {
  const bytes = state?.data.subarray(layout.feeRecipient, layout.feeRecipient + 32);
  if (state?.owner !== messenger || bytes?.length !== 32)
    throw new PayoutBlocked('refusedByToken', `no state of CCTP at ${cctpAccounts().tokenMessenger} on Solana`);
  return tokenAccountOf(new PublicKey(bytes).toBase58(), usdc);
}

/** True if a message of this nonce was minted, as of the newest confirmed block. @param nonce 64 hex digits @throws RpcFailed */
export async function isMinted(
  node: ChainNode,
  nonce: string,
  commitment: 'confirmed' | 'finalized',
): Promise<boolean> {
  const { accounts } = await accountsOf(node, [usedNonce(nonce)], { commitment });
  return accounts[0]?.owner === transmitter;
}

/**
 * Compares the programs on the chain with this release's addresses, for an operator before the first burn.
 * @returns the comparison in words @throws RpcFailed
 */
export async function describeContracts(node: ChainNode): Promise<string> {
  const asked = [
    ...[messenger, transmitter, cctpAccounts().messageTransmitter, cctpAccounts().tokenMessenger],
    ...[cctpAccounts().localToken, cctpAccounts().custody, remoteMessenger(domainOf(1))],
  ];
  const { accounts } = await accountsOf(node, asked, { commitment: 'confirmed' });
  const [burning, minting, transmitterState, messengerState, token, custody, ethereum] = accounts;
  if (!burning?.executable || !minting?.executable)
    return `no programs at ${messenger} and ${transmitter}: burn nothing here, and nothing for here`;
  const isOurs =
    transmitterState?.owner === transmitter &&
    messengerState?.owner === messenger &&
    token?.owner === messenger &&
    custody?.owner === tokenProgram &&
    ethereum?.owner === messenger &&
    ethereum.data.readUInt32LE(layout.remoteDomain) === domainOf(1);
  const domain = isOurs ? transmitterState.data.readUInt32LE(layout.localDomain) : undefined;
  if (!isOurs || domain !== domainOf(solanaChainId))
    return `the programs’ accounts are not those of this release (domain ${domain ?? 'unknown'}): burn nothing here`;
  const most = formatAmount(token.data.readBigUInt64LE(layout.burnLimit), messageDecimals);
  return `the programs of this release, domain ${domain}; one burn moves ${most} USDC at most`;
}
