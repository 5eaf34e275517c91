import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { base58 } from '@scure/base';
import { Keypair, StrKey } from '@stellar/stellar-sdk';
import { type Hex, hashMessage } from 'viem';
import type { ChainId } from '../../domain/chains.ts';
import { type CashbackMessage, messageText } from '../../domain/credit.ts';
import { createEvmAcceptance } from '../../src/chains/evm/messages.ts';
import type { OpenChain } from '../../src/chains/family.ts';
import { createMessageSigners } from '../../src/chains/messages.ts';
import { chainClient, sharedAnvil } from '../support/anvil.ts';

interface Vector {
  readonly scheme: 'evm' | 'solana' | 'stellar';
  readonly from_address: string;
  readonly sha256: string;
  readonly signature: string;
}

const page = readFileSync(new URL('../../docs/integrate/cashback.md', import.meta.url), 'utf8');
const vectors = JSON.parse(/```json\n(\[[^`]*)```/.exec(page)?.[1] ?? '[]') as readonly Vector[];
const shownText = /```text\n(Pay with cashback credit\nservice[^`]*)\n```/.exec(page)?.[1];
const message: Omit<CashbackMessage, 'fromAddress'> = {
  service: 'https://pay.example.com/v1/cashbacksign',
  toHandle: 'bakery',
  amountUsdCents: 250,
  timestamp_ms: 1_795_251_600_000,
  amountLocal: 2.3,
  currencyLocal: 'EUR',
  orderId: 'order-1',
  about: 'Käse "frisch" \\ 🧀',
};
const textOf = (vector: Vector) => messageText({ ...message, fromAddress: vector.from_address });
const signers = createMessageSigners(new Map());
const isSigned = (address: string, text: string, signature: string) => signers.isSignedBy(address, { text, signature });
const the = (scheme: Vector['scheme']): Vector => vectors.find((vector) => vector.scheme === scheme) as Vector;

/** Orders of secp256k1 and of the group of Ed25519. */
const orders = {
  secp256k1: 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n,
  ed25519: 2n ** 252n + 27742317777372353535851937790883648493n,
};

/** The second valid ECDSA signature, which anybody can compute: −s, and the other v. */
function twin(signature: string): string {
  const s = orders.secp256k1 - BigInt(`0x${signature.slice(66, 130)}`);
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${signature.endsWith('1b') ? '1c' : '1b'}`;
}

/** An Ed25519 signature whose number is increased by the group's order. */
function unreduced(signature: Uint8Array): Uint8Array {
  const s = BigInt(`0x${Buffer.from(signature.slice(32)).reverse().toString('hex')}`) + orders.ed25519;
  const bytes = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse();
  return Buffer.concat([signature.slice(0, 32), bytes]);
}

describe('signed messages', () => {
  it('are those of the page: text, digest, and a signature by another implementation', async () => {
    assert.deepEqual(
      vectors.map(({ scheme }) => scheme),
      ['evm', 'solana', 'stellar'],
    );
    assert.equal(textOf(the('evm')), shownText);
    for (const vector of vectors) {
      assert.equal(createHash('sha256').update(textOf(vector)).digest('hex'), vector.sha256);
      assert.equal(await isSigned(vector.from_address, textOf(vector), vector.signature), true, vector.scheme);
    }
  });

  it('are those of SEP-53 on Stellar', async () => {
    const address = 'GBXFXNDLV4LSWA4VB7YIL5GBD7BVNR22SGBTDKMO2SBZZHDXSKZYCP7L';
    const published = [
      ['Hello, World!', 'fO5dbYhXUhBMhe6kId/cuVq/AfEnHRHEvsP8vXh03M1uLpi5e46yO2Q8rEBzu3feXQewcQE5GArp88u6ePK6BA=='],
      [
        'こんにちは、世界！',
        'CDU265Xs8y3OWbB/56H9jPgUss5G9A0qFuTqH2zs2YDgTm+++dIfmAEceFqB7bhfN3am59lCtDXrCtwH2k1GBA==',
      ],
    ] as const;
    for (const [text, signature] of published) {
      assert.equal(await isSigned(address, text, signature), true);
      assert.equal(await isSigned(address, text, Buffer.from(signature, 'base64').toString('hex')), true);
    }
  });

  it('are refused with any field altered', async () => {
    const altered: readonly Partial<CashbackMessage>[] = [
      { service: 'https://pay.example.com/cashback/v1/cashbacksign' },
      { toHandle: 'bakery2' },
      { amountUsdCents: 251 },
      { timestamp_ms: message.timestamp_ms + 1 },
      { amountLocal: 2.31 },
      { amountLocal: null },
      { currencyLocal: 'USD' },
      { orderId: 'order-2' },
      { orderId: null },
      { about: 'Käse "frisch" \\ 🧀 ' },
      { about: null },
    ];
    for (const vector of vectors) {
      for (const field of altered) {
        const text = messageText({ ...message, fromAddress: vector.from_address, ...field });
        assert.equal(await isSigned(vector.from_address, text, vector.signature), false, JSON.stringify(field));
      }
    }
  });

  it('are refused from any other address, of the same scheme or another', async () => {
    const others = {
      evm: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      solana: base58.encode(Keypair.random().rawPublicKey()),
      stellar: Keypair.random().publicKey(),
    };
    for (const vector of vectors) {
      for (const address of [...Object.values(others), ...vectors.map(({ from_address }) => from_address)]) {
        const expected = address === vector.from_address;
        assert.equal(
          await isSigned(address, textOf(vector), vector.signature),
          expected,
          `${vector.scheme} ${address}`,
        );
      }
    }
  });

  it('are refused by the same key under the other scheme of its curve', async () => {
    const keys = Keypair.random();
    const [onSolana, onStellar] = [base58.encode(keys.rawPublicKey()), keys.publicKey()];
    const text = messageText({ ...message, fromAddress: onSolana });
    const plain = keys.sign(Buffer.from(text));
    assert.equal(await isSigned(onSolana, text, base58.encode(plain)), true);
    assert.equal(await isSigned(onSolana, text, plain.toString('base64')), true);
    assert.equal(await isSigned(onStellar, text, plain.toString('base64')), false);
    const sep53 = keys.sign(createHash('sha256').update(`Stellar Signed Message:\n${text}`).digest());
    assert.equal(await isSigned(onStellar, text, sep53.toString('base64')), true);
    assert.equal(await isSigned(onSolana, text, sep53.toString('base64')), false);
  });

  it('are refused in the twin forms that anybody can compute from a valid signature', async () => {
    const { from_address, signature } = the('evm');
    assert.equal(await isSigned(from_address, textOf(the('evm')), twin(twin(signature))), true);
    assert.equal(await isSigned(from_address, textOf(the('evm')), twin(signature)), false);

    const solana = the('solana');
    const copy = base58.encode(unreduced(base58.decode(solana.signature)));
    assert.equal(await isSigned(solana.from_address, textOf(solana), copy), false);
    const stellar = the('stellar');
    const other = Buffer.from(unreduced(Buffer.from(stellar.signature, 'base64'))).toString('base64');
    assert.equal(await isSigned(stellar.from_address, textOf(stellar), other), false);
  });

  it('are refused, without an error, for every invalid signature', async () => {
    const { signature } = the('evm');
    const zeros = `0x${'00'.repeat(64)}`;
    const nonsense = [
      '0x',
      '0x1b',
      signature.slice(2),
      `${signature}00`,
      signature.slice(0, -2),
      `${zeros}1b`,
      `${zeros}ff`,
    ];
    const more = [
      `0x${'ff'.repeat(64)}1b`,
      '1',
      'A'.repeat(86),
      `${'A'.repeat(86)}==`,
      '1'.repeat(64),
      'zz',
      'g'.repeat(128),
    ];
    for (const vector of vectors) {
      for (const bad of [...nonsense, ...more]) {
        assert.equal(await isSigned(vector.from_address, textOf(vector), bad), false, bad);
      }
    }
  });

  it('come from addresses that have a key, in their chain’s spelling', () => {
    const { from_address } = the('evm');
    assert.equal(signers.canonical(from_address.toLowerCase()), from_address);
    for (const { from_address } of vectors) assert.equal(signers.canonical(from_address), from_address);
    const wrongChecksum = from_address.replace('C5', 'c5');
    const contract = StrKey.encodeContract(Buffer.alloc(32, 7));
    const nobodies = [
      '',
      'bakery',
      wrongChecksum,
      from_address.toUpperCase(),
      contract,
      '1'.repeat(32),
      `${from_address}0`,
    ];
    for (const nobody of nobodies) assert.equal(signers.canonical(nobody), null, nobody);
  });
});

/** Programs for the EVM, byte by byte. */
const code = {
  /** Returns the magic value if the hash equals slot 0, else zero. */
  saysYesToOne: '0x60043560005414631626ba7e60e01b0260005260206000f3',
  saysTrue: '0x600160005260206000f3',
  saysNothing: '0x00',
  reverts: '0x60006000fd',
  neverEnds: '0x5b600056',
  /** Returns the magic value and 1 MB of zeros after it. */
  saysYesAtLength: '0x631626ba7e60e01b600052620f42406000f3',
} as const satisfies Record<string, Hex>;

describe('messages of contract wallets', () => {
  const text = messageText({ ...message, fromAddress: '0x00000000000000000000000000000000000000c1' });
  const signed = { text, signature: '0xc0ffee' };
  const [yes, bool, nothing, reverting, burning, long, empty] = [1, 2, 3, 4, 5, 6, 7].map(
    (n) => `0x${(0xc0de00 + n).toString(16).padStart(40, '0')}` as Hex,
  ) as [Hex, Hex, Hex, Hex, Hex, Hex, Hex];
  const open = new Map<ChainId, Pick<OpenChain, 'acceptsMessage'>>();
  const asked = createMessageSigners(open);
  const acceptanceAt = (chainId: 1 | 8453, ...rpcUrls: string[]) => ({
    acceptsMessage: createEvmAcceptance({ chainId, rpcUrls }),
  });

  before(async () => {
    for (const chainId of [8453, 1] as const) {
      const { rpcUrl } = await sharedAnvil(chainId);
      open.set(chainId, acceptanceAt(chainId, rpcUrl));
    }
    const base = chainClient((await sharedAnvil(8453)).rpcUrl);
    const put = (address: Hex, bytecode: Hex) => base.setCode({ address, bytecode });
    await put(yes, code.saysYesToOne);
    await put(bool, code.saysTrue);
    await put(nothing, code.saysNothing);
    await put(reverting, code.reverts);
    await put(burning, code.neverEnds);
    await put(long, code.saysYesAtLength);
    const slot = `0x${'0'.repeat(64)}` as const;
    await base.setStorageAt({ address: yes, index: slot, value: hashMessage(text) });
  });

  it('count when the contract accepts exactly this text as signed', async () => {
    assert.equal(await asked.isAcceptedBy(yes, signed, [8453]), true);
    assert.equal(await asked.isAcceptedBy(yes, { ...signed, text: `${text} ` }, [8453]), false);
  });

  it('do not count if the contract answers anything else, reverts, burns gas, answers 1 MB, or does not exist', async () => {
    for (const other of [bool, nothing, reverting, burning, long, empty]) {
      assert.equal(await asked.isAcceptedBy(other, signed, [8453]), false, other);
    }
  });

  it('need the contract’s acceptance on every chain: the owner of the address on one chain alone does not suffice', async () => {
    assert.equal(await asked.isAcceptedBy(yes, signed, [8453, 1]), false);
    assert.equal(await asked.isAcceptedBy(yes, signed, [8453, 137]), false);
    assert.equal(await asked.isAcceptedBy(yes, signed, []), false);
    assert.equal(await asked.isAcceptedBy(yes, signed, [501]), false);
  });

  it('call no node for an invalid signature', async () => {
    for (const signature of ['', '0x', 'c0ffee', '0xc0ffe', `0x${'00'.repeat(4_097)}`]) {
      assert.equal(await acceptanceAt(8453, 'http://127.0.0.1:1').acceptsMessage(yes, { text, signature }), false);
    }
  });

  it('are unavailable, not refused, while no node answers', async () => {
    const away = acceptanceAt(8453, 'http://127.0.0.1:1');
    await assert.rejects(away.acceptsMessage(yes, signed), { name: 'Unavailable', message: /Base/ });
  });

  it('are limited to a number at a time, and to two of one contract: further ones have to be repeated later', async () => {
    const answer = Promise.withResolvers<boolean>();
    let calls = 0;
    const slow = async () => {
      calls += 1;
      return answer.promise;
    };
    const some = createMessageSigners(new Map([[8453 as const, { acceptsMessage: slow }]]), {
      perContract: 2,
      perInstance: 3,
    });
    const full = { name: 'Unavailable', message: /too many signatures of contract wallets/, retryAfter_s: 2 };
    const going = [yes, yes, bool].map((contract) => some.isAcceptedBy(contract, signed, [8453]));
    await assert.rejects(some.isAcceptedBy(yes, signed, [8453]), full);
    await assert.rejects(some.isAcceptedBy(nothing, signed, [8453]), full);
    assert.equal(await some.isAcceptedBy(nothing, signed, []), false);
    assert.equal(calls, 3);
    answer.resolve(true);
    assert.deepEqual(await Promise.all(going), [true, true, true]);
    assert.equal(await some.isAcceptedBy(yes, signed, [8453]), true);
  });

  it('release their places when they fail', async () => {
    const failing = async () => assert.fail('no node answers');
    const one = createMessageSigners(new Map([[8453 as const, { acceptsMessage: failing }]]), {
      perContract: 1,
      perInstance: 1,
    });
    for (const _ of [1, 2, 3]) await assert.rejects(one.isAcceptedBy(yes, signed, [8453]), /no node answers/);
  });

  it('trust no single node that lies', async () => {
    const magic = `0x1626ba7e${'0'.repeat(56)}`;
    const liar = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { id, method } = JSON.parse(body);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'eth_chainId' ? '0x2105' : magic }));
    });
    await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
    const { port } = liar.address() as { port: number };
    try {
      const { rpcUrl } = await sharedAnvil(8453);
      const both = acceptanceAt(8453, `http://127.0.0.1:${port}`, rpcUrl);
      assert.equal(await both.acceptsMessage(empty, signed), false);
      assert.equal(await both.acceptsMessage(yes, signed), true);
    } finally {
      liar.closeAllConnections();
      liar.close();
    }
  });
});
