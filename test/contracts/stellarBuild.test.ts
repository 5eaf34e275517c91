import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { contract, xdr } from '@stellar/stellar-sdk';
import { payin } from '../../contracts/stellar/artifacts/payin.ts';
import { buildPayin } from '../../contracts/stellar/build.ts';

describe('Stellar payin contract build', () => {
  const wasm = Buffer.from(payin.wasm, 'base64');

  it('gives exactly the committed artifact', async () => {
    const [path, text] = await buildPayin();
    assert.equal(await readFile(path, 'utf8'), text, `${path} is stale: npm run contracts`);
  });

  it('is named by its hash, as networks name it', () => {
    assert.equal(createHash('sha256').update(wasm).digest('hex'), payin.wasmHash);
  });

  it('exports the reference’s functions and imports only needed host functions', () => {
    const module = new WebAssembly.Module(wasm);
    const functions = WebAssembly.Module.exports(module).filter(({ kind }) => kind === 'function');
    assert.deepEqual(functions.map(({ name }) => name).sort(), ['__constructor', 'destination', 'pay', 'token']);
    const imports = WebAssembly.Module.imports(module).map(({ module, name }) => `${module}.${name}`);
    const known = 'a.0 b.j d._ i.7 i.8 l._ l.1 l.8 m._ m.0 v._ v.6 x.1'.split(' ');
    assert.deepEqual(new Set(imports), new Set(known));
  });

  it('carries the environment version that has constructors', () => {
    const [section] = WebAssembly.Module.customSections(new WebAssembly.Module(wasm), 'contractenvmetav0');
    assert.ok(section);
    const meta = xdr.ScEnvMetaEntry.fromXDR(Buffer.from(section));
    assert.equal(meta.interfaceVersion().protocol(), 22);
    assert.equal(meta.interfaceVersion().preRelease(), 0);
  });

  it('describes pay() and its error to clients', async () => {
    const client = await contract.Spec.fromWasm(wasm);
    const inputs = client.getFunc('pay').inputs();
    assert.deepEqual(
      inputs.map((input) => [input.name().toString(), input.type().switch().name]),
      [
        ['sender', 'scSpecTypeAddress'],
        ['amount', 'scSpecTypeI128'],
        ['memo', 'scSpecTypeString'],
      ],
    );
    assert.deepEqual(
      client.errorCases().map((error) => [error.name().toString(), error.value()]),
      [['AmountNotPositive', 1]],
    );
  });

  it('is small and has no start function, which hosts refuse', () => {
    const start = 8;
    assert.ok(!sectionIds(wasm).includes(start));
    assert.ok(wasm.length < 4096);
  });
});

/** The ids of a module's sections, in order. */
function sectionIds(wasm: Buffer): number[] {
  const ids: number[] = [];
  for (let at = 8; at < wasm.length; ) {
    ids.push(wasm[at++] ?? 0);
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = wasm[at++] ?? 0;
      size |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    at += size;
  }
  return ids;
}
