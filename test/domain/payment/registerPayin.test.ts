import { transferId } from '../../../domain/payment/events.ts';
import { registerPayin, registrationsMax } from '../../../domain/payment/payins.ts';
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
  payin,
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
  const found = payin({ tx: 'announced' });

  it('is a hint, accepted while money is awaited or confirming', () => {
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

  const others = [{ txHash: hashOf('another') }, { senderAddress: '0x0' }];

  it('is replaced by another as long as no payin of its transaction is recorded', () => {
    const elsewhere = detected(payin({ tx: 'elsewhere' }));
    const gone = event('PayinOrphaned', { transferId: transferId(found), blockHash: found.blockHash });
    for (const history of [[], [elsewhere], [detected(found), gone]]) {
      for (const other of others) {
        const { now: registeredAt, ...data } = { ...hint, ...other };
        given([...unpaid, registered, ...history])
          .when((state) => registerPayin(state, { ...hint, ...other }))
          .then([event('PayinRegistered', { ...data, registeredAt })]);
      }
    }
  });

  it('is not replaced once its transaction is a payin', () => {
    for (const other of others) {
      given([...unpaid, registered, detected(found)])
        .when((state) => registerPayin(state, { ...hint, ...other }))
        .thenRefused('paymentNotUpdatable', /found on its chain/);
    }
  });

  it('is replaced a bounded number of times', () => {
    const history = Array.from({ length: registrationsMax }, (_, n) => ({
      ...registered,
      data: { ...registered.data, txHash: hashOf(`hint ${n}`) },
    }));
    given([...unpaid, ...history])
      .when((state) => registerPayin(state, hint))
      .thenRefused('paymentNotUpdatable', /20 payins/);
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
