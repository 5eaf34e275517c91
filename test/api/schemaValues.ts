/** Values that a schema of the OpenAPI document allows, and values that it forbids. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';

export type Schema = Readonly<Record<string, unknown>>;

export interface SchemaValues {
  readonly allowed: (schema: Schema) => fc.Arbitrary<unknown>;
  /** Values with exactly one fault. */
  readonly forbidden: (schema: Schema) => fc.Arbitrary<unknown>;
  readonly check: (schema: Schema) => ValidateFunction;
}

/** Additional values for fields, by name: a random address is never valid, and a random amount would never be paid. */
export type Likely = Readonly<Record<string, readonly unknown[]>>;

const textMax = 300;

export function schemaValues(document: Schema, likely: Likely): SchemaValues {
  const ajv = new Ajv2020({ strict: false, coerceTypes: false });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema({ ...document, $id: 'api' });
  const compiled = new Map<Schema, ValidateFunction>();

  const resolve = (schema: Schema): Schema => {
    const $ref = schema['$ref'];
    if (typeof $ref !== 'string') return schema;
    const path = $ref.slice('#/'.length).split('/');
    return resolve(path.reduce((inner, name) => inner[name] as Schema, document));
  };
  const check = (schema: Schema): ValidateFunction => {
    const known = compiled.get(schema) ?? ajv.compile(absolute(schema));
    compiled.set(schema, known);
    return known;
  };

  return {
    check,
    allowed: (schema) => shaped(schema).filter((value) => check(schema)(value) === true),
    forbidden: (schema) =>
      fc
        .tuple(shaped(schema, 0), fc.nat(), hostile)
        .map(([value, place, wrong]) => spoilt(value, place, wrong))
        .filter((value) => check(schema)(value) === false),
  };

  /** Draws values of the schema's shape; the validator checks the conditions. @param strays weight of values other than the likely ones */
  function shaped(given: Schema, strays = 1): fc.Arbitrary<unknown> {
    const schema = resolve(given);
    const { anyOf, enum: values, type } = schema;
    if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((each) => shaped(each, strays)));
    if (Array.isArray(values)) return fc.constantFrom(...values);
    if (Array.isArray(type)) return fc.oneof(...type.map((each) => shaped({ ...schema, type: each }, strays)));
    switch (type) {
      case 'object':
        return objects(schema, strays);
      case 'array':
        return fc.array(shaped(schema['items'] as Schema, strays), { maxLength: 3 });
      case 'string':
        return texts(schema);
      case 'integer':
        return fc.integer({ min: Number(schema['minimum'] ?? -1e6), max: Number(schema['maximum'] ?? 1e6) });
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      default:
        return fc.jsonValue({ maxDepth: 2 });
    }
  }

  function objects(
    { properties = {}, required = [], additionalProperties }: Schema,
    strays: number,
  ): fc.Arbitrary<object> {
    const fields = Object.fromEntries(
      Object.entries(properties as Record<string, Schema>).map(([name, schema]) => [name, field(name, schema, strays)]),
    );
    const known = fc.record(fields, { requiredKeys: required as string[] });
    if (additionalProperties === false) return known;
    const open =
      typeof additionalProperties === 'object'
        ? shaped(additionalProperties as Schema, strays)
        : fc.jsonValue({ maxDepth: 2 });
    const more = fc.dictionary(fc.string({ minLength: 1, maxLength: 20 }), open, { maxKeys: 4 });
    return fc.tuple(more, known).map(([others, own]) => ({ ...others, ...own }));
  }

  function field(name: string, schema: Schema, strays: number): fc.Arbitrary<unknown> {
    const values = likely[name];
    const any = shaped(schema, strays);
    return values
      ? fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...values) }, { weight: strays, arbitrary: any })
      : any;
  }
}

function texts({ pattern, format, minLength = 0, maxLength = textMax }: Schema): fc.Arbitrary<string> {
  if (format === 'uuid') return fc.uuid();
  if (format === 'date-time')
    return fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((at) => at.toISOString());
  const size = { minLength: Number(minLength), maxLength: Number(maxLength) };
  if (typeof pattern !== 'string') return fc.string({ unit: 'grapheme', ...size });
  return fc
    .stringMatching(new RegExp(pattern, 'u'), { maxLength: size.maxLength })
    .filter(({ length }) => length >= size.minLength);
}

/** Excludes values that the document's text also allows, such as a chain id as a number. */
const hostile = fc.constantFrom<unknown>(
  ...[true, false, -1.5, '', ' ', '\u0000', 'x'.repeat(200), '９', '-1', '1e3', null, [], [1], { wrong: 1 }],
);

/** Replaces, removes or adds one field. */
function spoilt(value: unknown, place: number, wrong: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return wrong;
  const names = Object.keys(value);
  const choice = place % (names.length + 2);
  if (choice === names.length) return { ...value, nobodyKnowsThis: wrong };
  if (choice === names.length + 1) return wrong;
  const name = names[choice] as string;
  const { [name]: inner, ...rest } = value as Record<string, unknown>;
  const deeper = Math.floor(place / (names.length + 2));
  return deeper % 4 === 0 ? rest : { ...rest, [name]: spoilt(inner, Math.floor(deeper / 4), wrong) };
}

const absolute = (schema: Schema): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/'));
