/** Types of the verifier, which is no TypeScript because it is distributed as a single file. */
export interface File {
  readonly name: string;
  readonly text: string;
}

export interface Verified {
  /** Verified packs. Other fields are omitted here. */
  readonly packs: readonly { readonly events: readonly object[] }[];
  readonly gaps: readonly (readonly [from: number, to: number])[];
}

interface Verifier {
  verifyEvidence(files: readonly File[], options?: { readonly key?: string }): Promise<Verified>;
  reportOf(verified: Verified): string;
}

export const program = new URL('../../../clients/verify/verify-evidence.mjs', import.meta.url);
export const { verifyEvidence, reportOf } = (await import(program.href)) as Verifier;
