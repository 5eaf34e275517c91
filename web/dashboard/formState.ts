/** A form that was refused, as it is shown again: what was sent, and what is wrong beside its fields. */

import type { ApiError } from '../../src/api/errors.ts';
import type { FormState } from '../parts/form.ts';

/**
 * @param fields names of the form's fields
 * @param pointers which field an error is about, where its pointer is not `/<field>`
 */
export function refusedForm(
  values: FormState['values'],
  { errors, message }: ApiError,
  fields: readonly string[],
  pointers: Readonly<Record<string, string>> = {},
): FormState {
  const beside: Record<string, string> = {};
  for (const { pointer, message: text } of errors) {
    const field = pointers[pointer] ?? pointer.slice(1);
    if (fields.includes(field)) beside[field] ??= sentence(text);
  }
  return { values, errors: Object.keys(beside).length > 0 ? beside : { '': sentence(message) } };
}

/** Errors of the API name their field in the pointer; beside a field they stand alone. */
function sentence(text: string): string {
  const whole = /^(is|has|must)\b/.test(text) ? `This ${text}` : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}
