import assert from 'node:assert/strict';
import { currentState } from '../../commands/handle.ts';
import { Unavailable } from '../../commands/ports.ts';
import { createRefundAddresses, type RefundAddressRequest } from '../../commands/refundAddress.ts';
import { isRefusal } from '../../domain/decider.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { familyAddresses } from '../../src/chains/families.ts';
import { createMessageSigners } from '../../src/chains/messages.ts';
import { type Buyer, buyers } from '../support/credit.ts';
import {
  type Asset,
  baseUsdc,
  bnbUsdc,
  confirmed,
  created,
  merchantWallet,
  minute,
  payin,
  solanaUsdc,
  stellarUsdc,
  terms,
} from '../support/payments.ts';
import { accepted, processes } from '../support/processes.ts';

const { paymentId, appId } = terms();
const by = { cause: 'payer' } as const;

async function world(payer: Buyer, from: Asset = baseUsdc, asks?: () => Promise<boolean>, also: readonly Asset[] = []) {
  const { start, clock } = processes({ now: minute(70) });
  const handle = start();
  const history = [from, ...also].map((asset) =>
    confirmed({ ...payin({ in: asset, tx: `${asset.chain.id}` }), from: payer.address }),
  );
  await accepted(
    handle(paymentDecider, paymentId, () => [created({ from }), ...history], { cause: 'worker:test', appId }),
  );
  const chains = new Map(asks ? [[from.chain.id, { acceptsMessage: asks }]] : []);
  const signers = createMessageSigners(chains);
  const addresses = createRefundAddresses({
    handle,
    clock,
    addresses: familyAddresses,
    signers,
    service: () => 'https://pay.example',
  });
  const known = async () => (await currentState(start(), paymentDecider, paymentId))?.refundAddresses ?? [];
  /** Signs the text of the request and submits it. */
  const prove = async (asked: RefundAddressRequest, signer: Buyer = payer) => {
    const toSign = await addresses.words(paymentId, asked);
    if (isRefusal(toSign)) return toSign;
    const signature = await signer.sign(toSign.text);
    return addresses.prove(paymentId, asked, { number: toSign.number, signature }, by);
  };
  return { addresses, known, prove };
}
const pointed = (answer: unknown) => (isRefusal(answer) ? `${answer.refused} ${answer.pointer ?? ''}` : 'set');

const families = [
  ['EVM', buyers.evm(1), baseUsdc, merchantWallet],
  ['Solana', buyers.solana(1), solanaUsdc, buyers.solana(2).address],
  ['Stellar', buyers.stellar(1), stellarUsdc, buyers.stellar(2).address],
] as const;

describe('a payer’s refund address', () => {
  for (const [family, payer, from, to] of families) {
    it(`counts on ${family} once the key that paid has signed it`, async () => {
      const { prove, known } = await world(payer, from);
      assert.equal(pointed(await prove({ from: payer.address, to, memo: null })), 'set');
      const [address] = await known();
      assert.deepEqual([address?.address, address?.proof?.sender, address?.proof?.by], [to, payer.address, 'key']);
      assert.equal(
        await createMessageSigners(new Map()).isSignedBy(payer.address, {
          text: address?.proof?.text ?? '',
          signature: address?.proof?.signature ?? '',
        }),
        true,
      );
    });

    it(`is refused from anybody else on ${family}: another key, another address, another payment`, async () => {
      const { prove, known, addresses } = await world(payer, from);
      const other =
        from.chain.family === 'evm'
          ? buyers.evm(7)
          : from.chain.family === 'solana'
            ? buyers.solana(7)
            : buyers.stellar(7);
      const asked = { from: payer.address, to, memo: null };
      assert.equal(pointed(await prove(asked, other)), 'invalidRequest /signature');
      assert.equal(pointed(await prove({ ...asked, from: other.address }, other)), 'invalidRequest /from');
      const toSign = await addresses.words(paymentId, asked);
      assert.ok(!isRefusal(toSign));
      const signature = await payer.sign(toSign.text);
      const elsewhere = { ...asked, to: other.address };
      assert.equal(
        pointed(await addresses.prove(paymentId, elsewhere, { number: 1, signature }, by)),
        'invalidRequest /signature',
      );
      assert.equal(pointed(await addresses.prove('none', asked, { number: 1, signature }, by)), 'paymentNotFound ');
      assert.deepEqual(await known(), []);
    });
  }

  const payer = buyers.evm(1);
  const asked = { from: payer.address, to: merchantWallet, memo: null };

  it('is refused with a pointer to the faulty field', async () => {
    const { prove } = await world(payer);
    for (const to of ['', 'x', buyers.stellar(1).address, merchantWallet.toUpperCase()])
      assert.equal(pointed(await prove({ ...asked, to })), 'invalidRequest /to');
    assert.equal(pointed(await prove({ ...asked, memo: '7' })), 'invalidRequest /memo');
    for (const from of ['', 'x', buyers.evm(2).address])
      assert.equal(pointed(await prove({ ...asked, from })), 'invalidRequest /from');
  });

  it('can be changed, and the signature for an earlier one changes nothing any more', async () => {
    const { prove, addresses, known } = await world(payer);
    const first = await addresses.words(paymentId, asked);
    assert.ok(!isRefusal(first));
    const signature = await payer.sign(first.text);
    assert.equal(pointed(await addresses.prove(paymentId, asked, { number: 1, signature }, by)), 'set');
    assert.equal(pointed(await prove({ ...asked, to: payer.address })), 'set');
    assert.equal(pointed(await addresses.prove(paymentId, asked, { number: 1, signature }, by)), 'conflict ');
    assert.deepEqual(
      (await known()).map(({ address }) => address),
      [payer.address],
    );
  });

  it('is set for each chain that its sender has paid on, and is the same when sent again', async () => {
    const on = await world(payer, baseUsdc, undefined, [bnbUsdc]);
    const first = await on.addresses.words(paymentId, asked);
    assert.ok(!isRefusal(first));
    assert.match(first.text, /^chain: "BNB Smart Chain"$|^chain: "BNB Chain"$/m);
    const signature = await payer.sign(first.text);
    const send = () => on.addresses.prove(paymentId, asked, { number: 1, signature }, by);
    assert.deepEqual([pointed(await send()), pointed(await send())], ['set', 'set']);
    assert.equal(pointed(await on.prove(asked)), 'set');
    const chains = (await on.known()).map(({ proof }) => proof?.transferId.split(':')[0]);
    assert.deepEqual(chains.sort(), ['56', '8453']);
  });

  it('is set by a contract that pays, when it accepts the signature as its own', async () => {
    const signed = { number: 1, signature: '0x1234' };
    const yes = await world(payer, baseUsdc, async () => true);
    assert.equal(pointed(await yes.addresses.prove(paymentId, asked, signed, by)), 'set');
    assert.equal((await yes.known())[0]?.proof?.by, 'contract');
    const no = await world(payer, baseUsdc, async () => false);
    assert.equal(pointed(await no.addresses.prove(paymentId, asked, signed, by)), 'invalidRequest /signature');
    const away = await world(payer, baseUsdc, () => Promise.reject(new Unavailable('Base is away')));
    assert.equal(pointed(await away.addresses.prove(paymentId, asked, signed, by)), 'unavailable ');
  });
});
