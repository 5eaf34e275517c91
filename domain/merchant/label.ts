import { type Refusal, refuse } from '../decider.ts';

/** Control characters, those that turn or hide text, private ones, halves of pairs, line ends. */
const unshowable = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u;

/**
 * Reads what people call something: one line, without spaces around it.
 *
 * @param pointer of the field that states it
 */
export function readLabel(text: string, max: number, pointer: string): string | Refusal {
  const label = text.trim().normalize('NFC');
  if (label !== '' && label.length <= max && !unshowable.test(label)) return label;
  return refuse('invalidRequest', `${pointer} must be 1 to ${max} visible characters on one line`, pointer);
}
