/** The same document in OpenAPI 3.0.3, for tools without support for 3.1. */
import { type DocumentJson, objectMap } from './components.ts';

/**
 * Removes what 3.0 lacks: webhooks (their schemas stay, because receivers want the types), conditions, rules for property names, the
 * licence's identifier. Null becomes `nullable`, which needs a `type`; nothing may stand beside a `$ref`, so that goes into `allOf`.
 */
export function asOpenApi30(document: DocumentJson): DocumentJson {
  const { webhooks: _, info, ...rest } = document;
  const { license, ...known } = info as { readonly license: { readonly name: string } } & DocumentJson;
  return {
    ...(inOldWords(document)(rest) as DocumentJson),
    openapi: '3.0.3',
    info: { ...known, license: { name: license.name } },
    tags: (document['tags'] as readonly { name: string }[]).filter(({ name }) => name !== 'Webhooks'),
  };
}

const newKeywords = new Set(['if', 'then', 'else', 'propertyNames']);

function inOldWords(document: DocumentJson): (value: unknown) => unknown {
  const { schemas } = document['components'] as { readonly schemas: Readonly<Record<string, DocumentJson>> };
  const typeOf = ($ref: string): unknown => schemas[$ref.slice('#/components/schemas/'.length)]?.['type'];

  function inOld(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(inOld);
    if (typeof value !== 'object' || value === null) return value;
    const schema = Object.fromEntries(Object.entries(value).filter(([key]) => !newKeywords.has(key)));
    const { anyOf, $ref, type, examples, ...rest } = schema as Record<string, unknown>;
    const others = Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, insideOld(key, each)]));
    if (Array.isArray(anyOf)) return { type: typeOf(anyOf[0].$ref), nullable: true, allOf: [anyOf[0]], ...others };
    if (typeof $ref === 'string') return Object.keys(rest).length > 0 ? { allOf: [{ $ref }], ...others } : { $ref };
    return {
      ...(Array.isArray(type) ? { type: type.find((each) => each !== 'null'), nullable: true } : type ? { type } : {}),
      ...others,
      ...(Array.isArray(examples) ? { example: examples[0] } : {}),
    };
  }

  /** Property names may equal keywords. */
  const insideOld = (key: string, value: unknown): unknown =>
    key === 'properties' ? objectMap(value as DocumentJson, inOld) : inOld(value);

  return inOld;
}
