import assert from 'node:assert/strict';
import { refundText, setRefundAddress } from '../../../domain/payment/refundAddress.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import {
  confirmed,
  customerWallet,
  merchantWallet,
  minute,
  orphaned,
  type ProofSketch,
  payin,
  refundAddressSet,
  signedAddress,
  unpaid,
} from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);
type State = Parameters<typeof setRefundAddress>[0];

const setting =
  (address = customerWallet, sketch: ProofSketch = {}) =>
  (state: State) =>
    setRefundAddress(state, {
      address,
      memo: null,
      number: sketch.number ?? 1,
      proof: signedAddress(address, sketch),
      now: minute(70),
    });
const paidIn = [...unpaid, confirmed()];

describe('the refund address of a payer', () => {
  it('is the signed one, once', () => {
    given(paidIn).when(setting()).then([refundAddressSet()]);
    given([...paidIn, refundAddressSet()])
      .when(setting())
      .thenNothing();
  });

  it('is the latest one, and no earlier signature restores an earlier address', () => {
    const first = [...paidIn, refundAddressSet(merchantWallet)];
    given(first)
      .when(setting(customerWallet))
      .thenRefused('conflict', /sign the new text/);
    const second = [...first, refundAddressSet(customerWallet, { number: 2 })];
    given(first)
      .when(setting(customerWallet, { number: 2 }))
      .then([refundAddressSet(customerWallet, { number: 2 })]);
    given(second)
      .when(setting(merchantWallet))
      .thenRefused('conflict', /sign the new text/);
  });

  it('is set by an account that has sent something, not by one whose transfer has left its chain', () => {
    given(unpaid)
      .when(setting())
      .thenRefused('conflict', /has sent nothing/);
    given(paidIn)
      .when(setting(customerWallet, { sender: merchantWallet }))
      .thenRefused('conflict', /has sent nothing/);
    given([...paidIn, orphaned(payin())])
      .when(setting())
      .thenRefused('conflict', /has sent nothing/);
    given([]).when(setting()).thenRefused('paymentNotFound');
  });

  it('is not blocked by others, however often they set theirs', () => {
    const dust = { ...payin({ amount: '0.01', tx: 'dust' }), from: merchantWallet };
    const often = Array.from({ length: 20 }, (_, index) =>
      refundAddressSet(merchantWallet, { sender: merchantWallet, transfer: dust, number: index + 1 }),
    );
    given([...paidIn, confirmed(dust), ...often])
      .when(setting(customerWallet, { number: 1 }))
      .then([refundAddressSet(customerWallet, { number: 1 })]);
    const his = [...paidIn, confirmed(dust), ...often.slice(0, 3), refundAddressSet(customerWallet), ...often.slice(3)];
    given(his)
      .when(setting(merchantWallet, { number: 5 }))
      .then([refundAddressSet(merchantWallet, { number: 5 })]);
    given(his)
      .when(setting(merchantWallet, { number: 2 }))
      .thenRefused('conflict', /sign the new text/);
  });

  it('is set twenty times at most', () => {
    const often = Array.from({ length: 20 }, (_, index) => refundAddressSet(customerWallet, { number: index + 1 }));
    given([...paidIn, ...often])
      .when(setting(customerWallet, { number: 21 }))
      .thenRefused('conflict', /20 times/);
  });
});

describe('the text to sign', () => {
  const words = {
    service: 'https://pay.example',
    paymentId: 'p1',
    chain: 'Base',
    sender: customerWallet,
    address: merchantWallet,
    memo: null,
    number: 1,
  };

  it('has a line for each field', () => {
    assert.deepEqual(refundText({ ...words, memo: '7' }).split('\n'), [
      'Send my money back to this address',
      'service: "https://pay.example"',
      'payment: "p1"',
      'chain: "Base"',
      `from: "${customerWallet}"`,
      `to: "${merchantWallet}"`,
      'memo: "7"',
      'number: 1',
    ]);
  });

  it('is another one for every difference, and no memo pretends to be a line', () => {
    const tricky = refundText({ ...words, memo: 'x"\nnumber: 2' });
    assert.equal(tricky.split('\n').length, refundText({ ...words, memo: 'x' }).split('\n').length);
    assert.match(refundText({ ...words, memo: 'é' }), /\\u00e9/);
  });
});
