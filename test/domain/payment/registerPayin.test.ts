import { registerPayin } from '../../../domain/payment/payins.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import {
  confirmed,
  customerWallet,
  detected,
  done,
  event,
  expired,
  funded,
  hashOf,
  minute,
  paid,
  unpaid,
} from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);

describe('a registered payin', () => {
  const hint = { txHash: hashOf('announced'), senderAddress: customerWallet, now: minute(2) };
  const registered = event('PayinRegistered', {
    txHash: hint.txHash,
    senderAddress: customerWallet,
    registeredAt: minute(2),
  });

  it('is a hint, taken while money is awaited or confirming', () => {
    for (const history of [unpaid, [...unpaid, detected()]]) {
      given(history)
        .when((state) => registerPayin(state, hint))
        .then([registered]);
    }
  });

  it('may be repeated, whatever has happened since', () => {
    given([...unpaid, registered, detected(), confirmed(), funded()])
      .when((state) => registerPayin(state, { ...hint, now: minute(9) }))
      .thenNothing();
  });

  it('cannot be replaced by another', () => {
    for (const other of [{ txHash: hashOf('another') }, { senderAddress: '0x0' }]) {
      given([...unpaid, registered])
        .when((state) => registerPayin(state, { ...hint, ...other }))
        .thenRefused('paymentNotUpdatable', /already registered/);
    }
  });

  it('is refused once the payment is funded or closed', () => {
    for (const history of [paid, done, [...unpaid, expired()]]) {
      given(history)
        .when((state) => registerPayin(state, hint))
        .thenRefused('paymentNotUpdatable');
    }
  });

  it('needs a payment', () => {
    given([])
      .when((state) => registerPayin(state, hint))
      .thenRefused('paymentNotFound');
  });
});
