/** Schemas → compiled validators → errors that say which field is wrong and what it must be. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { ApiError, type FieldError } from './errors.ts';

export type Validate = (value: unknown) => void;

const options = { strict: true, allowUnionTypes: true, allErrors: true, verbose: true } as const;
const bodies = withFormats(new Ajv2020(options));
/** Parameters arrive as text: numbers among them are read. */
const parameters = withFormats(new Ajv2020({ ...options, coerceTypes: true }));

/** Errors told at most: enough to correct a form in one go, not a mirror of a hostile body. */
const errorsMax = 20;

function withFormats(ajv: Ajv2020): Ajv2020 {
  // The package is CommonJS: its default export is seen as the module.
  (addFormats as unknown as (ajv: Ajv2020, formats: string[]) => void)(ajv, ['uuid', 'date-time', 'date']);
  return ajv;
}

export const compileBody = (schema: TSchema): Validate => validator(bodies.compile(schema), 'body');

/** Numbers among the values are put in place of their texts. */
export const compileParameters = (schema: TSchema): Validate => validator(parameters.compile(schema), 'parameter');

function validator(check: ValidateFunction, what: string): Validate {
  return (value) => {
    if (check(value)) return;
    const errors = (check.errors ?? []).slice(0, errorsMax).map(fieldError);
    const first = errors[0];
    const where = first?.pointer ? `${first.pointer} ${first.message}` : `the ${what} ${first?.message}`;
    throw new ApiError('invalidRequest', errors.length > 1 ? `${where} (and ${errors.length - 1} more)` : where, {
      errors,
    });
  };
}

function fieldError(error: ErrorObject): FieldError {
  const { instancePath, params, keyword } = error;
  const within = (name: string) => `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  switch (keyword) {
    case 'required':
      return { pointer: within(params['missingProperty']), message: 'is required' };
    case 'additionalProperties':
      return { pointer: within(shorten(params['additionalProperty'])), message: unknownField(params) };
    case 'propertyNames':
      return { pointer: instancePath, message: 'has a name that is not allowed' };
    default:
      return { pointer: instancePath, message: messageOf(error) };
  }
}

function messageOf({ keyword, params, parentSchema, propertyName }: ErrorObject): string {
  const expected: unknown = parentSchema?.['description'];
  if (propertyName !== undefined) return 'has a name that is empty, too long or not printable';
  switch (keyword) {
    case 'type':
      return `must be ${[params['type']].flat().map(withArticle).join(' or ')}`;
    case 'enum':
      return `must be one of ${params['allowedValues'].map(String).join(', ')}`;
    case 'maxLength':
      return `must not be longer than ${params['limit']} characters`;
    case 'minLength':
      return 'must not be empty';
    case 'maxProperties':
      return `must not have more than ${params['limit']} entries`;
    case 'minimum':
      return `must be at least ${params['limit']}`;
    case 'maximum':
      return `must be at most ${params['limit']}`;
    default:
      return typeof expected === 'string' ? `must be ${expected}` : 'is not valid';
  }
}

const withArticle = (type: string): string =>
  type === 'null' ? 'null' : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;

const shorten = (name: string): string => (name.length > 64 ? `${name.slice(0, 64)}…` : name);

const unknownField = (params: Record<string, unknown>): string =>
  /key|token|secret/i.test(String(params['additionalProperty']))
    ? 'is not known here. Keys belong in the X-API-Key header only: revoke one that was sent in another place'
    : 'is not known here';
