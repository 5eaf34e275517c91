/** Frauds of operators against the treasury, and facts that its books could hide: the audit finds each, and names stream and event. */
import assert from 'node:assert/strict';
import {
  attempt,
  customerWallet,
  depositAddress,
  digits,
  hashOf,
  merchantWallet,
  minute,
  payin,
  treasuryAccount,
} from '../../support/payments.ts';
import {
  gas,
  honest,
  instead,
  moved,
  on,
  onBase,
  own,
  paymentA,
  paymentB,
  showing,
  shown,
  thief,
  treasuryStream,
  usdc,
  vault,
  withdrawal,
} from './honest.ts';
import { audit, type Ground, pointed, type Said, written } from './world.ts';

describe('the audit of the treasury finds', () => {
  const tell = async (said: readonly Said[], grounds: readonly Ground[] = shown) =>
    pointed(await audit({ log: written(said), grounds }));

  it('a withdrawal without the approval that it needs', async () => {
    const said = instead(honest, 'operation-w1', 'OperationOrdered', () => ({ approvals: 1 }));
    assert.deepEqual(await tell(said), ['approvalMissing operation-w1 1']);
    const large = instead(honest, 'operation-w1', 'OperationOrdered', () => ({ value_microUsd: '1000000001' }));
    assert.deepEqual(await tell(large), ['approvalMissing operation-w1 1']);
  });

  it('a withdrawal to an address that was not usable yet, or not any more', async () => {
    const early = instead(honest, 'addressBook-treasury', 'AddressAdded', () => ({ usableFrom: minute(9) }));
    assert.deepEqual(await tell(early), ['notInAddressBook operation-w1 1']);
    const { by, ...place } = own;
    const gone = { type: 'AddressRemoved', data: { ...place, by, removedAt: minute(7) } };
    assert.deepEqual(await tell([...honest, ...on('addressBook-treasury', gone)]), ['notInAddressBook operation-w1 1']);
  });

  it('nothing where a receiver’s address is an alias of the account that was paid', async () => {
    const [ethereum, base] = shown;
    const account = 'the account of the merchant’s address';
    const transactions = ethereum.transactions.map((each) => ({
      ...each,
      changes: each.changes.map((change) =>
        change.counterparty === merchantWallet ? { ...change, counterparty: account } : change,
      ),
    }));
    const named = (holders: Readonly<Record<string, string>>) => [{ ...ethereum, transactions, holders }, base];
    assert.deepEqual(await tell(honest, named({ [merchantWallet]: account })), []);
    assert.equal((await tell(honest, named({}))).filter((each) => each.startsWith('outflowElsewhere')).length, 2);
  });

  it('an adoption that hides where money went', async () => {
    const stolen = moved(hashOf('stolen'), 240, '-100.00', thief);
    const adopted = {
      type: 'TransactionAdopted',
      data: {
        hash: stolen.txHash,
        nonce: '13',
        blockNumber: '240',
        blockHash: stolen.blockHash,
        time: stolen.time,
        succeeded: true,
        fee: gas.toString(),
        changes: [],
        nextNonce: '14',
        reason: 'a test',
        adoptedAt: minute(20),
      },
    };
    const [ethereum, base] = showing(shown, 1, stolen);
    const after = { ...ethereum, holds: { [usdc.address]: BigInt(digits('830.00')), coin: 1_000_000n - 4n * gas } };
    assert.deepEqual(await tell([...honest, ...on(treasuryStream, adopted)], [after, base]), [
      `adoptionWrong ${treasuryStream} 0`,
    ]);
  });

  it('an account that holds less than the sum of its transactions', async () => {
    const [ethereum, base] = shown;
    const holds = { ...ethereum.holds, [usdc.address]: BigInt(digits('929.00')) };
    assert.deepEqual(await tell(honest, [{ ...ethereum, holds }, base]), [`booksOpen books-1-${treasuryAccount} -`]);
  });

  it('a withdrawal that its own operator approved', async () => {
    const large = instead(honest, 'operation-w1', 'OperationOrdered', () => ({ approvals: 1 }));
    const at = large.findIndex(({ event }) => event.type === 'OperationSigned');
    const approvedBy = (by: string) =>
      large.toSpliced(at, 0, ...on('operation-w1', { type: 'OperationApproved', data: { by, approvedAt: minute(7) } }));
    assert.deepEqual(await tell(approvedBy('ada')), ['approvalMissing operation-w1 2']);
    assert.deepEqual(await tell(approvedBy('bob')), []);
  });

  it('a withdrawal whose stated worth is too low', async () => {
    const more = attempt(1, { nonce: '9', amount: '1000.01', receiver: vault });
    const order = { amount: more.amount, value_microUsd: '1' };
    const said = instead(honest, 'operation-w1', 'OperationOrdered', () => order);
    const signedSo = instead(said, 'operation-w1', 'OperationSigned', () => more);
    const landed = instead(signedSo, 'operation-w1', 'OperationConfirmed', () => ({ hash: more.hash }));
    assert.ok((await tell(landed)).includes('approvalMissing operation-w1 1'));
  });

  it('a withdrawal that is called a sweep, an anchor or a deployment', async () => {
    const away = (order: object) =>
      instead(
        instead(honest, 'operation-w1', 'OperationOrdered', () => ({ receiver: thief, ...order })),
        'operation-w1',
        'OperationSigned',
        () => ({ receiver: thief }),
      );
    const paid = showing(shown, 1, moved(withdrawal.hash, 220, '-50.00', thief));
    for (const kind of ['withdrawal', 'sweep', 'anchor', 'deployment'])
      assert.deepEqual(await tell(away({ kind }), paid), ['notInAddressBook operation-w1 1'], kind);
    for (const form of [
      { kind: 'flush', deposits: [{ address: depositAddress, salt: '0x01' }] },
      { kind: 'deploy', contract: 'forwarder' },
      { kind: 'anchor', hash: 'ab'.repeat(32) },
    ])
      assert.deepEqual(await tell(away({ kind: 'sweep', form }), paid), ['outflowElsewhere operation-w1 1'], form.kind);
  });

  it('a top-up that never arrived, and money that arrived and is recorded nowhere', async () => {
    const books = `books-1-${treasuryAccount}`;
    const { txHash: hash, blockNumber, blockHash } = moved(hashOf('top-up'), 240, '5.00', customerWallet);
    const topUp = {
      type: 'TopUpSeen',
      data: {
        asset: usdc.address,
        amount: digits('5.00'),
        from: customerWallet,
        transaction: { hash, blockNumber: blockNumber.toString(), blockHash },
        upTo: '900',
        seenAt: minute(20),
      },
    };
    const [ethereum, base] = shown;
    const more = { ...ethereum.holds, [usdc.address]: BigInt(digits('935.00')) };
    const came = showing([{ ...ethereum, holds: more }, base], 1, moved(hash, 240, '5.00', customerWallet));
    assert.deepEqual(await tell([...honest, ...on(books, topUp)], came), []);
    assert.deepEqual(await tell([...honest, ...on(books, topUp)]), [`settlementForged ${books} 1`]);
    assert.deepEqual(await tell(honest, came), [`inflowUnrecorded ${books} -`]);
  });

  it('a number that two transfers have', async () => {
    const assigned = (paymentId: string) => ({
      type: 'NonceAssigned',
      data: {
        nonce: '7',
        purpose: { kind: 'payout', reference: paymentId.slice(8), ordinal: 1 },
        assignedAt: minute(3),
      },
    });
    const found = await tell([...honest, ...on(treasuryStream, assigned(paymentA), assigned(paymentB))]);
    assert.deepEqual(found, [`illegalEvent ${treasuryStream} 1`]);
  });

  it('unmatched money that is assigned to a payment, and refunded in addition', async () => {
    const transfer = payin({ tx: 'nobody’s', block: 150 });
    const stream = `unmatched-8453:${transfer.txHash}:0`;
    const decided = on(
      stream,
      { type: 'UnmatchedPayinSeen', data: { transfer, seenAt: minute(2) } },
      {
        type: 'UnmatchedPayinAssigned',
        data: { paymentId: paymentB.slice(8), appId: 'wallet_demo', assignedAt: minute(3) },
      },
      {
        type: 'UnmatchedPayinRefundRequested',
        data: { receiverAddress: thief, receiverMemo: null, reason: 'asked', networkFee: '0', requestedAt: minute(4) },
      },
    );
    const paid = showing(
      shown,
      8453,
      onBase(moved(transfer.txHash, 150, '10.01', customerWallet, { account: depositAddress })),
    );
    assert.deepEqual(await tell([...honest, ...decided], paid), [`refundBeyondCap ${stream} 2`]);
  });
});
