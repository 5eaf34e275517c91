/** Interface of a contract for clients: its functions, errors and events (`contractspecv0`). */
import { xdr } from '@stellar/stellar-sdk';

type Inputs = Readonly<Record<string, xdr.ScSpecTypeDef>>;

export const addressType = xdr.ScSpecTypeDef.scSpecTypeAddress();
export const i128 = xdr.ScSpecTypeDef.scSpecTypeI128();
export const string = xdr.ScSpecTypeDef.scSpecTypeString();
export const anyValue = xdr.ScSpecTypeDef.scSpecTypeVal();
export const bytesN = (n: number) => xdr.ScSpecTypeDef.scSpecTypeBytesN(new xdr.ScSpecTypeBytesN({ n }));

/** Either nothing or one of the contract's errors. */
export const fallible = xdr.ScSpecTypeDef.scSpecTypeResult(
  new xdr.ScSpecTypeResult({
    okType: xdr.ScSpecTypeDef.scSpecTypeVoid(),
    errorType: xdr.ScSpecTypeDef.scSpecTypeError(),
  }),
);

export function functionSpec(name: string, inputs: Inputs, output?: xdr.ScSpecTypeDef): xdr.ScSpecEntry {
  return xdr.ScSpecEntry.scSpecEntryFunctionV0(
    new xdr.ScSpecFunctionV0({
      doc: '',
      name,
      inputs: Object.entries(inputs).map(([name, type]) => new xdr.ScSpecFunctionInputV0({ doc: '', name, type })),
      outputs: output ? [output] : [],
    }),
  );
}

/** Clients show the text. */
export function errorsSpec(errors: Readonly<Record<string, readonly [code: number, text: string]>>): xdr.ScSpecEntry {
  const cases = Object.entries(errors).map(
    ([name, [value, doc]]) => new xdr.ScSpecUdtErrorEnumCaseV0({ doc, name, value }),
  );
  return xdr.ScSpecEntry.scSpecEntryUdtErrorEnumV0(
    new xdr.ScSpecUdtErrorEnumV0({ doc: '', lib: '', name: 'Error', cases }),
  );
}

/** An event whose data is a map; `topics` follow the prefix. */
export function eventSpec(name: string, prefix: string, topics: Inputs, data: Inputs): xdr.ScSpecEntry {
  const params = (inputs: Inputs, location: xdr.ScSpecEventParamLocationV0) =>
    Object.entries(inputs).map(([name, type]) => new xdr.ScSpecEventParamV0({ doc: '', name, type, location }));
  return xdr.ScSpecEntry.scSpecEntryEventV0(
    new xdr.ScSpecEventV0({
      doc: '',
      lib: '',
      name,
      prefixTopics: [prefix],
      params: [
        ...params(topics, xdr.ScSpecEventParamLocationV0.scSpecEventParamLocationTopicList()),
        ...params(data, xdr.ScSpecEventParamLocationV0.scSpecEventParamLocationData()),
      ],
      dataFormat: xdr.ScSpecEventDataFormat.scSpecEventDataFormatMap(),
    }),
  );
}

export const payinSpec: readonly xdr.ScSpecEntry[] = [
  functionSpec('__constructor', { destination: addressType, token: addressType }),
  functionSpec('pay', { sender: addressType, amount: i128, memo: string }, fallible),
  functionSpec('destination', {}, addressType),
  functionSpec('token', {}, addressType),
  errorsSpec({ AmountNotPositive: [1, 'amount must be more than zero'] }),
  eventSpec(
    'Payment',
    'payment',
    { sender: addressType },
    { amount: i128, destination: addressType, from: addressType, memo: string },
  ),
];
