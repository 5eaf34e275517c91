/** What forms hold: texts, already trimmed, none of them empty. Each `description` ends the sentence "must be …". */
import Type, { type TSchema } from 'typebox';
import { closed } from '../../src/api/schemas/base.ts';

const line = '^[^\\x00-\\x1f\\x7f]*$';

/** One line of text. */
export const entry = (maxLength: number) =>
  Type.Unsafe<string>({
    type: 'string',
    minLength: 1,
    maxLength,
    wellFormed: true,
    pattern: line,
    description: 'one line of text',
  });

/** One line that payers read: `displayText` removes characters that are not seen. */
export const displayEntry = (maxLength: number) =>
  Type.Unsafe<string>({
    type: 'string',
    minLength: 1,
    maxLength,
    displayText: true,
    pattern: line,
    description: 'one line of text',
  });

/** Several lines of text. */
export const lines = (maxLength: number) =>
  Type.Unsafe<string>({
    type: 'string',
    minLength: 1,
    maxLength,
    wellFormed: true,
    pattern: '^[^\\x00-\\x09\\x0b\\x0c\\x0e-\\x1f\\x7f]*$',
    description: 'lines of text',
  });

export const fields = <P extends Record<string, TSchema>>(properties: P) => Type.Object(properties, closed);

export const noFields = fields({});

/** Where to go after signing in. */
export const Next = Type.Optional(entry(2_000));
