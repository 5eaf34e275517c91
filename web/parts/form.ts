/** What a form holds when it is shown: empty at first; what was sent, with what is wrong with it, when it comes back. */
export interface FormState {
  /** By the field's name. Secrets and codes are never sent back. */
  readonly values: Readonly<Record<string, string>>;
  /** By the field's name; '' for what is wrong with the whole. Sentences that say what to do. */
  readonly errors: Readonly<Record<string, string>>;
}

export const emptyForm: FormState = { values: {}, errors: {} };
