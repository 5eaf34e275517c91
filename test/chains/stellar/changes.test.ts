/** Effects on an account, read from the events of a transaction. */
import assert from 'node:assert/strict';
import { Address, Networks, nativeToScVal, xdr } from '@stellar/stellar-sdk';
import { contractEvent } from '../../../sandbox/stellar/events.ts';
import { assetsOf, changesIn } from '../../../src/chains/stellar/changes.ts';
import { payinToken } from '../../../src/chains/stellar/tokens.ts';

const account = 'GCX2EQXSPCHMBSEGYZRVTZWOIDRXWRWYEFRTCNVOZPYXE4QEFPKNUF3V';
const stranger = 'GBBD47IF6LWK7P7MDEVSCWR7DPUWV3NY3DTQEVFL4NAT4AQH3ZLLFLA5';
const assets = assetsOf({ networkPassphrase: Networks.PUBLIC, payinContract: null });
const [usdc = ''] = [...assets.contracts].find(([, asset]) => asset === payinToken().address) ?? [];

const event = (name: string, parties: readonly string[], value: xdr.ScVal): string =>
  contractEvent(usdc, [xdr.ScVal.scvSymbol(name), ...parties.map((each) => new Address(each).toScVal())], value).toXDR(
    'base64',
  );
const units = (amount: bigint) => nativeToScVal(amount, { type: 'i128' });

describe('changes of an account on Stellar', () => {
  it('are its transfers, also beside an approval, which moves nothing and has another value', () => {
    const until = xdr.ScVal.scvVec([units(5n), xdr.ScVal.scvU32(9)]);
    const events = [
      [
        event('approve', [account, stranger], until),
        event('set_authorized', [account], xdr.ScVal.scvBool(true)),
        event('transfer', [stranger, account], units(10n)),
      ],
    ];
    assert.deepEqual(changesIn({ events }, account, assets), [
      { asset: payinToken().address, amount: 10n, counterparty: stranger },
    ]);
  });

  it('cannot be read from a transfer without an amount', () => {
    const events = [[event('transfer', [stranger, account], xdr.ScVal.scvBool(true))]];
    assert.throws(() => changesIn({ events }, account, assets), /without an amount/);
  });
});
