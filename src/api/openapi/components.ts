/** Schemas for the document: those with a title become components, included by reference. */
import { isDeepStrictEqual } from 'node:util';

export type DocumentJson = Readonly<Record<string, unknown>>;

/** Creates references and collects their schemas. */
export interface Components {
  /** A reference to the schema by its title, or the schema itself when it has none. */
  refer(schema: object): DocumentJson;
  /** All referenced schemas, by title. */
  schemas(): DocumentJson;
}

/**
 * Components exclude null: a nullable schema becomes `anyOf` of the reference and null, because an enum with null in it becomes a separate
 * type in most languages. @throws if two schemas have one title
 */
export function createComponents(): Components {
  const known = new Map<string, DocumentJson>();
  /** Routes share most of their schemas. */
  const referred = new WeakMap<object, DocumentJson>();

  return {
    refer,
    schemas: () => Object.fromEntries([...known].sort(byTitle)),
  };

  function refer(checked: object): DocumentJson {
    const before = referred.get(checked) ?? referTo(checked);
    referred.set(checked, before);
    return before;
  }

  function referTo(checked: object): DocumentJson {
    const schema = shownFor(checked as DocumentJson);
    const { title, description } = schema;
    if (typeof title !== 'string') return inside(schema);
    const shown = inside(withoutNull(schema));
    const before = known.get(title);
    if (!before) known.set(title, shown);
    else if (!isDeepStrictEqual({ ...shown, description: null }, { ...before, description: null })) {
      throw new Error(`two different schemas have the title ${title}`);
    }
    const own = before && before['description'] !== description ? { description } : {};
    const $ref = `#/components/schemas/${title}`;
    return allowsNull(schema) ? { anyOf: [{ $ref }, { type: 'null' }], ...own } : { $ref, ...own };
  }

  function inside(schema: DocumentJson): DocumentJson {
    const { wellFormed: _, displayText: __, alsoShown, maxLength, ...open } = schema;
    // Clients treat a date-time without a length.
    const length = maxLength === undefined || open['format'] === 'date-time' ? {} : { maxLength };
    const shown = { ...open, ...length, ...(alsoShown as DocumentJson | undefined) };
    return Object.fromEntries(Object.entries(shown).map(([key, value]) => [key, insideValue(key, value)]));
  }

  function insideValue(key: string, value: unknown): unknown {
    if (dataKeywords.has(key) || typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => (typeof item === 'object' ? refer(item) : item));
    return key === 'properties' ? objectMap(published(value as Record<string, DocumentJson>), refer) : refer(value);
  }
}

/** Removes properties that requests may send and nobody reads. */
const published = (properties: Readonly<Record<string, DocumentJson>>): Record<string, DocumentJson> =>
  Object.fromEntries(Object.entries(properties).filter(([, { unpublished }]) => unpublished !== true));

/** Values under these keywords are data, not schemas. */
const dataKeywords = new Set(['enum', 'examples', 'default', 'const', 'required', 'type', 'x-enum-varnames']);

const byTitle = ([left]: readonly [string, DocumentJson], [right]: readonly [string, DocumentJson]): number =>
  left < right ? -1 : 1;

const allowsNull = ({ type }: DocumentJson): boolean => Array.isArray(type) && type.includes('null');

/** Published schema of a checking schema, with the same nullability. */
function shownFor(schema: DocumentJson): DocumentJson {
  const { shownAs } = schema;
  if (shownAs === undefined) return schema;
  const shown = shownAs as DocumentJson;
  return allowsNull(schema) ? { ...shown, type: [shown['type'], 'null'].flat() } : shown;
}

function withoutNull(schema: DocumentJson): DocumentJson {
  if (!allowsNull(schema)) return schema;
  const types = (schema['type'] as readonly string[]).filter((type) => type !== 'null');
  const values = schema['enum'] as readonly unknown[] | undefined;
  return {
    ...schema,
    type: types.length === 1 ? types[0] : types,
    ...(values ? { enum: values.filter((value) => value !== null) } : {}),
  };
}

export const objectMap = <V, R>(entries: Readonly<Record<string, V>>, make: (value: V) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, make(value)]));
