import assert from 'node:assert/strict';
import fc from 'fast-check';
import { getAddress, type Hex, keccak256, recoverAddress, sliceHex } from 'viem';
import {
  address32,
  type BurnMessage,
  formatBurnMessage,
  messageLength_bytes,
  objectionToMessage,
  parseBurnMessage,
  zero32,
} from '../../../domain/rebalance/burnMessage.ts';
import { cctpContracts } from '../../../domain/rebalance/cctp.ts';
import { burnOf } from '../../../domain/rebalance/rebalance.ts';
import { messageOf, move, nonce32 } from '../../support/rebalances.ts';

const ours = burnOf(move());
const objection = (change: Partial<BurnMessage>) => objectionToMessage(messageOf(move(), change), ours);

const word = fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: 64, maxLength: 64 }).map((d) => d.join(''));
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const message: fc.Arbitrary<BurnMessage> = fc.record({
  ...{ version: uint32, sourceDomain: uint32, destinationDomain: uint32, nonce: word, sender: word, recipient: word },
  ...{ destinationCaller: word, minFinality: uint32, finalityExecuted: uint32, burnVersion: uint32, burnToken: word },
  ...{ mintRecipient: word, amount: uint256, messageSender: word, feeMax: uint256, feeExecuted: uint256 },
  ...{ expirationBlock: uint256, hookData: fc.constantFrom('', 'ab', 'ff'.repeat(40)) },
});

/**
 * A fast burn from Sepolia to Base Sepolia with its attestation, and the fields that Circle's service states for it. Source:
 * `@circle-fin/provider-cctp-v2` 1.14.0 (Apache-2.0), which has no decoder of its own.
 */
const recorded = {
  message: `0x${[
    '000000010000000000000006f446cb82eb486fef485c14c301eaab73aa35f87e3feda3547acf0f33cd4b40f30000000000000000000000008fe6b999dc68',
    '0ccfdd5bf7eb0974218be2542daa0000000000000000000000008fe6b999dc680ccfdd5bf7eb0974218be2542daa00000000000000000000000000000000',
    '00000000000000000000000000000000000003e8000003e8000000010000000000000000000000001c7d4b196cb0c7b01d743fbc6116a902379c72380000',
    '0000000000000000000023f9a5bea7b92a0638520607407bc7f0310aeed400000000000000000000000000000000000000000000000000000000000186a0',
    '000000000000000000000000c5567a5e3370d4dbfb0540025078e283e36a363d000000000000000000000000000000000000000000000000000000000000',
    '000b000000000000000000000000000000000000000000000000000000000000000a00000000000000000000000000000000000000000000000000000000',
    '01f6b158',
  ].join('')}`,
  signatures: [
    '0x8bd9b9e63eb05128eb2896b63e3e1df39bfd6bbfb893b69dc53c39252aeb85df1ded70263b07da17abf88e6e1b77f16ebcdb4eb1c6b4ea4c625215e5cb9dddb81b',
    '0xffe0b9d75e2094f05e48f18f70d0b254999bde90bab26f5c0da29b2d7e00feca1cfed119cba0d2a0e887648a40e803e0ca34aa8fd94ce068515eeaef72b520aa1b',
  ],
} as const;

describe('the message of a burn', () => {
  it('has each field at its offset of the protocol', () => {
    const text = messageOf(move(), { feeExecuted: 7n, expirationBlock: 9n }) as Hex;
    const at = (offset: number, length: number) => sliceHex(text, offset, offset + length);
    assert.equal(messageLength_bytes, 376);
    assert.equal(at(0, 4), '0x00000001', 'version');
    assert.equal(at(4, 4), '0x00000006', 'source domain');
    assert.equal(at(8, 4), '0x00000000', 'destination domain');
    assert.equal(at(12, 32), `0x${nonce32}`, 'nonce');
    assert.equal(getAddress(at(44 + 12, 20)), cctpContracts.messenger, 'sender');
    assert.equal(getAddress(at(76 + 12, 20)), cctpContracts.messenger, 'recipient');
    assert.equal(at(108, 32), `0x${zero32}`, 'destination caller');
    assert.equal(at(140, 4), '0x000007d0', 'minimum finality');
    assert.equal(at(144, 4), '0x000007d0', 'executed finality');
    assert.equal(at(148, 4), '0x00000001', 'version of the burn');
    assert.equal(getAddress(at(148 + 4 + 12, 20)), move().from.token.address, 'token');
    assert.equal(getAddress(at(148 + 36 + 12, 20)), move().to.account, 'mint recipient');
    assert.equal(BigInt(at(148 + 68, 32)), 1_000_000_000n, 'amount');
    assert.equal(getAddress(at(148 + 100 + 12, 20)), move().from.account, 'message sender');
    assert.equal(BigInt(at(148 + 132, 32)), 200_000n, 'fee limit');
    assert.equal(BigInt(at(148 + 164, 32)), 7n, 'executed fee');
    assert.equal(BigInt(at(148 + 196, 32)), 9n, 'expiration');
  });

  it('is read as Circle’s service reads it, and its signatures are in the contracts’ order', async () => {
    const read = parseBurnMessage(recorded.message);
    assert.ok(read);
    assert.equal(formatBurnMessage(read), recorded.message);
    const address = (word: string) => `0x${word.slice(24)}`;
    assert.deepEqual(
      { ...read, sender: address(read.sender), recipient: address(read.recipient) },
      {
        ...{ version: 1, sourceDomain: 0, destinationDomain: 6 },
        nonce: 'f446cb82eb486fef485c14c301eaab73aa35f87e3feda3547acf0f33cd4b40f3',
        sender: '0x8fe6b999dc680ccfdd5bf7eb0974218be2542daa',
        recipient: '0x8fe6b999dc680ccfdd5bf7eb0974218be2542daa',
        ...{ destinationCaller: zero32, minFinality: 1_000, finalityExecuted: 1_000, burnVersion: 1 },
        burnToken: address32('0x1c7d4b196cb0c7b01d743fbc6116a902379c7238'),
        mintRecipient: address32('0x23f9a5bea7b92a0638520607407bc7f0310aeed4'),
        messageSender: address32('0xc5567a5e3370d4dbfb0540025078e283e36a363d'),
        ...{ amount: 100_000n, feeMax: 11n, feeExecuted: 10n, expirationBlock: 32_944_472n, hookData: '' },
      },
    );
    const hash = keccak256(recorded.message as Hex);
    const signers = await Promise.all(
      recorded.signatures.map((signature) => recoverAddress({ hash, signature: signature as Hex })),
    );
    const [first, second] = signers.map((signer) => BigInt(signer));
    assert.ok(first !== undefined && second !== undefined && first < second, signers.join());
  });

  it('is read as it was written, whatever it contains', () => {
    fc.assert(
      fc.property(message, (each) => {
        assert.deepEqual(parseBurnMessage(formatBurnMessage(each)), { ...each });
      }),
    );
  });

  it('is not read if it is too short, too long or no hex', () => {
    const text = messageOf();
    for (const wrong of ['', '0x', text.slice(0, -2), `${text}${'00'.repeat(700)}`, text.toUpperCase(), `${text}0`])
      assert.equal(parseBurnMessage(wrong), undefined, wrong.slice(0, 20));
  });

  it('identifies our burn only with every field of it', () => {
    assert.equal(objection({}), undefined);
    assert.equal(objection({ feeExecuted: 200_000n, expirationBlock: 99n, finalityExecuted: 1_000 }), undefined);
    const other = '11'.repeat(32);
    const frauds: readonly (readonly [Partial<BurnMessage>, RegExp])[] = [
      [{ version: 0 }, /its version is/],
      [{ burnVersion: 2 }, /its burnVersion is/],
      [{ sourceDomain: 7 }, /its sourceDomain is 7/],
      [{ destinationDomain: 3 }, /its destinationDomain is 3/],
      [{ sender: other }, /its sender is/],
      [{ recipient: other }, /its recipient is/],
      [{ destinationCaller: other }, /its destinationCaller is/],
      [{ minFinality: 1_000 }, /its minFinality is 1000/],
      [{ burnToken: other }, /its burnToken is/],
      [{ mintRecipient: other }, /its mintRecipient is/],
      [{ amount: 999_999_999n }, /its amount is 999999999/],
      [{ messageSender: other }, /its messageSender is/],
      [{ feeMax: 200_001n }, /its feeMax is/],
      [{ hookData: '00' }, /its hookData is 00/],
      [{ nonce: zero32 }, /no nonce/],
      [{ feeExecuted: 200_001n }, /its fee is 200001, our burn allows at most 200000/],
    ];
    for (const [change, why] of frauds) assert.match(objection(change) ?? 'accepted', why);
    assert.match(objectionToMessage('0x00', ours) ?? '', /no burn message/);
  });

  it('is compared with contracts in the spelling of their checksums', () => {
    for (const address of Object.values(cctpContracts)) assert.equal(getAddress(address), address);
  });
});
