/** Reduces answers of Solana nodes to what must be equal. */
import { createShapes } from './comparison.ts';

/** Short words are part of a protocol ("finalized"), other texts are content. */
function kindOf(text: string): string {
  if (/^[A-Za-z][A-Za-z+-]{0,29}$/.test(text)) return text;
  if (/^\d+$/.test(text)) return 'digits';
  return /^0x[0-9a-fA-F]*$/.test(text) ? 'hex' : 'text';
}

export const shapeOf = createShapes({ kindOfText: kindOf });
