/** The verifier as a library: it is no TypeScript, for it goes to others alone. */
export interface File {
  readonly name: string;
  readonly text: string;
}

export interface Verified {
  /** Of each, what else it has left out. */
  readonly packs: readonly { readonly events: readonly object[] }[];
  readonly gaps: readonly (readonly [from: number, to: number])[];
}

interface Verifier {
  verifyEvidence(files: readonly File[], options?: { readonly key?: string }): Promise<Verified>;
  reportOf(verified: Verified): string;
}

export const program = new URL('../../../clients/verify/verify-evidence.mjs', import.meta.url);
export const { verifyEvidence, reportOf } = (await import(program.href)) as Verifier;
