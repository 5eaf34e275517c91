/** Accounts, seeds and bytes of CCTP on Solana, compared with another library and with the protocol's own names. */
import assert from 'node:assert/strict';
import { base58 } from '@scure/base';
import { address, getAddressEncoder, getProgramDerivedAddress } from '@solana/kit';
import { burnTokenOn, solanaCctp, standard } from '../../../domain/rebalance/cctp.ts';
import {
  burnInstruction,
  cctpAccounts,
  eventAccountAt,
  eventRent,
  mintInstruction,
  nonceRent,
  remoteMessenger,
  tokenPair,
  usedNonce,
} from '../../../src/chains/solana/cctp.ts';
import { tokenAccountOf } from '../../../src/chains/solana/tokenProgram.ts';
import { treasuryAccount } from '../../support/payments.ts';
import { attestation, messageOf, nonce32 } from '../../support/rebalances.ts';

const { messenger, transmitter, custodian } = solanaCctp;
const usdc = burnTokenOn(501) ?? '';
const derived = async (program: string, ...seeds: readonly (string | Uint8Array)[]): Promise<string> =>
  (await getProgramDerivedAddress({ programAddress: address(program), seeds: [...seeds] }))[0];
const key = (of: string) => new Uint8Array(getAddressEncoder().encode(address(of)));
const [owner, event, fees] = [
  'GHhb4dH6XUFuJ2LLvw6JS6jkMaVNi6TzC6VJhU2gBRLw',
  '7XP9fU1g13neWdSgw39SJCs8iNoTwNgZBtiCaJqHxcyv',
  '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
] as const;

const form = { kind: 'burn', destinationDomain: 6, mintRecipient: treasuryAccount } as const;
const burn = { amount: 1_000_000n, form: { ...form, feeMax: '100', finality: standard } } as const;
const keysOf = ({ keys }: ReturnType<typeof burnInstruction>) =>
  keys.map(({ pubkey, isSigner, isWritable }) => `${pubkey}${isSigner ? ' signs' : ''}${isWritable ? ' written' : ''}`);

describe('CCTP on Solana', () => {
  it('derives the programs’ accounts from the seeds of their source', async () => {
    assert.deepEqual(cctpAccounts(), {
      tokenMessenger: await derived(messenger, 'token_messenger'),
      tokenMinter: await derived(messenger, 'token_minter'),
      localToken: await derived(messenger, 'local_token', key(usdc)),
      custody: await derived(messenger, 'custody', key(usdc)),
      senderAuthority: await derived(messenger, 'sender_authority'),
      messengerEvents: await derived(messenger, '__event_authority'),
      messageTransmitter: await derived(transmitter, 'message_transmitter'),
      transmitterAuthority: await derived(transmitter, 'message_transmitter_authority', key(messenger)),
      transmitterEvents: await derived(transmitter, '__event_authority'),
    });
    assert.equal(custodian, cctpAccounts().tokenMinter);
    assert.equal(remoteMessenger(27), await derived(messenger, 'remote_token_messenger', '27'));
    const token = Buffer.from('11'.repeat(32), 'hex');
    assert.equal(tokenPair(6, '11'.repeat(32)), await derived(messenger, 'token_pair', '6', new Uint8Array(token)));
    const nonce = new Uint8Array(Buffer.from(nonce32, 'hex'));
    assert.equal(usedNonce(nonce32), await derived(transmitter, 'used_nonce', nonce));
  });

  it('burns with the accounts of deposit_for_burn.rs, in their order', async () => {
    const denied = await derived(messenger, 'denylist_account', key(owner));
    assert.deepEqual(keysOf(burnInstruction(burn, owner, event)), [
      `${owner} signs`,
      `${owner} signs written`,
      cctpAccounts().senderAuthority,
      `${tokenAccountOf(owner, usdc)} written`,
      denied,
      `${cctpAccounts().messageTransmitter} written`,
      cctpAccounts().tokenMessenger,
      remoteMessenger(6),
      cctpAccounts().tokenMinter,
      `${cctpAccounts().localToken} written`,
      `${usdc} written`,
      `${event} signs written`,
      transmitter,
      messenger,
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      '11111111111111111111111111111111',
      cctpAccounts().messengerEvents,
      messenger,
    ]);
    assert.equal(burnInstruction(burn, owner, event).keys[eventAccountAt]?.pubkey.toBase58(), event);
  });

  it('burns with the parameters of deposit_for_burn.rs, and those of a hook for Stellar', () => {
    const recipient = treasuryAccount.slice(2).toLowerCase().padStart(64, '0');
    const plain = Buffer.from(burnInstruction(burn, owner, event).data).toString('hex');
    const [tag, amount, domain] = ['d73c3d2e723780b0', '40420f0000000000', '06000000'];
    assert.equal(plain, `${tag}${amount}${domain}${recipient}${'0'.repeat(64)}6400000000000000d0070000`);
    const account = 'GCX2EQXSPCHMBSEGYZRVTZWOIDRXWRWYEFRTCNVOZPYXE4QEFPKNUF3V';
    const away = { ...burn, form: { ...burn.form, destinationDomain: 27, mintRecipient: account } };
    const data = Buffer.from(burnInstruction(away, owner, event).data);
    assert.equal(data.subarray(0, 8).toString('hex'), '6ff53e83cc6cdf9b');
    assert.equal(data.readUInt32LE(96), 88);
    assert.equal(data.subarray(100 + 32).toString(), account);
    assert.deepEqual([eventRent(burn), eventRent(away), nonceRent], [3_869_760n, 4_482_240n, 953_520n]);
  });

  it('mints with the accounts of receive_message.rs, and those that it hands to the other program', () => {
    const made = mintInstruction({ form: { kind: 'mint', message: messageOf(), attestation } }, owner, fees);
    const recipient = address32Of(treasuryAccount);
    assert.equal(made.programId.toBase58(), transmitter);
    assert.deepEqual(keysOf(made).slice(0, 11), [
      `${owner} signs written`,
      `${owner} signs`,
      cctpAccounts().transmitterAuthority,
      cctpAccounts().messageTransmitter,
      `${usedNonce(nonce32)} written`,
      messenger,
      '11111111111111111111111111111111',
      cctpAccounts().transmitterEvents,
      transmitter,
      cctpAccounts().tokenMessenger,
      remoteMessenger(6),
    ]);
    assert.deepEqual(keysOf(made).slice(11), [
      `${cctpAccounts().tokenMinter} written`,
      `${cctpAccounts().localToken} written`,
      tokenPair(6, messageOf().slice(2 + 2 * 152, 2 + 2 * 184)),
      `${fees} written`,
      `${recipient} written`,
      `${cctpAccounts().custody} written`,
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      cctpAccounts().messengerEvents,
      messenger,
    ]);
    const data = Buffer.from(made.data);
    assert.equal(data.subarray(0, 8).toString('hex'), '26907fe11fe1ee19');
    assert.equal(data.readUInt32LE(8), 376);
    assert.equal(data.subarray(12, 388).toString('hex'), messageOf().slice(2));
    assert.equal(data.readUInt32LE(388), 130);
    assert.equal(data.subarray(392).toString('hex'), attestation.slice(2));
  });
});

/** The 20 bytes of an EVM account as an address of Solana. */
function address32Of(account: string): string {
  const digits = account.slice(2).padStart(64, '0');
  return base58.encode(new Uint8Array(Buffer.from(digits, 'hex')));
}
