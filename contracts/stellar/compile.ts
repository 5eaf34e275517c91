/** AssemblyScript to a Soroban contract: the wasm that the compiler gives, with the sections that hosts and clients read. */
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { xdr } from '@stellar/stellar-sdk';
import { main as assemblyscript } from 'assemblyscript/asc';

/** Protocol 22 is the first with constructors. */
const protocol = 22;

/** Soroban's virtual machine is WebAssembly 1.0 without floats; the contract needs no memory management. */
const flags = [
  ['--runtime', 'stub'],
  ['--optimizeLevel', '3'],
  ['--shrinkLevel', '2'],
  ['--converge'],
  ['--noAssert'],
  ['--use', 'abort='],
  ['--disable', 'bulk-memory,nontrapping-f2i,sign-extension'],
  ['--initialMemory', '1'],
  ['--maximumMemory', '1'],
].flat();

/**
 * Compiles a contract. Equal sources give equal bytes on every machine.
 * @param source path of an `.as` file; its imports are searched beside it, then beside this file
 * @param spec interface of its functions for clients
 * @throws Error with the compiler's errors
 */
export async function compileContract(source: string, spec: readonly xdr.ScSpecEntry[]): Promise<Buffer> {
  const folders = [dirname(source), import.meta.dirname];
  let wasm: Uint8Array | undefined;
  const { error, stderr } = await assemblyscript(
    [basename(source).replace(/\.as$/, '.ts'), '--outFile', 'contract.wasm', ...flags],
    {
      readFile: (name) => readSource(folders, name),
      writeFile: (_name, contents) => {
        if (typeof contents !== 'string') wasm = contents;
      },
      listFiles: () => [],
    },
  );
  if (error || !wasm) throw new Error(`${source} does not compile:\n${stderr.toString()}`, { cause: error });
  return Buffer.concat([wasm, section('contractenvmetav0', environment()), section('contractspecv0', xdrOf(spec))]);
}

/** The compiler requests `.ts`; sources are `.as`, because their language differs from the rest of the tree. */
async function readSource(folders: readonly string[], name: string): Promise<string | null> {
  if (!name.endsWith('.ts')) return null;
  for (const folder of folders) {
    const text = await readFile(join(folder, `${basename(name, '.ts')}.as`), 'utf8').catch(() => null);
    if (text !== null) return text;
  }
  return null;
}

function environment(): Buffer {
  const version = new xdr.ScEnvMetaEntryInterfaceVersion({ protocol, preRelease: 0 });
  return xdr.ScEnvMetaEntry.scEnvMetaKindInterfaceVersion(version).toXDR();
}

const xdrOf = (spec: readonly xdr.ScSpecEntry[]) => Buffer.concat(spec.map((entry) => entry.toXDR()));

/** A custom section: id 0, then its length, its name's length, its name and its content (WebAssembly 1.0, 5.5.3). */
function section(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([length(name.length), Buffer.from(name), content]);
  return Buffer.concat([Buffer.of(0), length(named.length), named]);
}

/** LEB128: seven bits per byte, lowest first; the high bit means that more follow. */
function length(value: number): Buffer {
  const bytes = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}
