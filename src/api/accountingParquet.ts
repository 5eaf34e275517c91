/** Accounting lines as Parquet, for spreadsheets and warehouses that read it. */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { AccountingLine } from '../../queries/accounting.ts';
import { type Kind, parquetTypes, parquetValue } from './parquetTypes.ts';

/** A file of this size is built in memory. */
export const parquetLinesMax = 50_000;

const columns: readonly (readonly [name: string, kind: Kind, of: (line: AccountingLine) => string | null])[] = [
  ['at', 'time', ({ at }) => at],
  ['kind', 'text', ({ kind }) => kind],
  ['payment_id', 'text', ({ paymentId }) => paymentId],
  ['refund_of', 'text', ({ refundOf }) => refundOf],
  ['order_id', 'text', ({ orderId }) => orderId],
  ['title', 'text', ({ title }) => title],
  ['token', 'text', ({ tokenSymbol }) => tokenSymbol],
  ['chain', 'text', ({ chain }) => chain],
  ['gross_usd', 'decimal', ({ gross }) => gross],
  ['fee_usd', 'decimal', ({ fee }) => fee],
  ['net_usd', 'decimal', ({ net }) => net],
  ['refund_usd', 'decimal', ({ refund }) => refund],
  ['tx_hash', 'text', ({ txHash }) => txHash],
];

/** @returns null if there are more lines than one file may have */
export async function accountingParquet(pages: AsyncIterable<readonly AccountingLine[]>): Promise<Uint8Array | null> {
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(([name, kind]) => ({ name, repetition_type: 'OPTIONAL' as const, ...parquetTypes[kind] })),
    ],
    createdBy: 'payment-intents',
  });
  let lines = 0;
  for await (const page of pages) {
    if (page.length === 0) continue;
    lines += page.length;
    if (lines > parquetLinesMax) return null;
    const columnData = columns.map(([name, kind, of]) => ({
      name,
      data: page.map((line) => parquetValue(kind, of(line))),
    }));
    await writer.write({ columnData, rowGroupSize: page.length });
  }
  await writer.finish();
  return bytes.getBytes();
}
