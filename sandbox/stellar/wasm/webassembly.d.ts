/** The part of Node's WebAssembly that is used here: TypeScript declares it only for browsers. */
declare namespace WebAssembly {
  interface ImportDescriptor {
    readonly module: string;
    readonly name: string;
    readonly kind: string;
  }
  interface ExportDescriptor {
    readonly name: string;
    readonly kind: string;
  }
  class Module {
    constructor(bytes: Uint8Array);
    static imports(module: Module): ImportDescriptor[];
    static exports(module: Module): ExportDescriptor[];
    static customSections(module: Module, name: string): ArrayBuffer[];
  }
  class Memory {
    private constructor();
    readonly buffer: ArrayBuffer;
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, (...args: bigint[]) => bigint>>);
    readonly exports: Record<string, unknown>;
  }
  class RuntimeError extends Error {}
}
