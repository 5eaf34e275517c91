import assert from 'node:assert/strict';
import fc from 'fast-check';
import { getAddress, type Hex, sliceHex } from 'viem';
import {
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
