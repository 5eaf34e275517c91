/** The statistics of a month, and of an app's first day. */
import { paymentStatuses } from '../../../domain/payment/view.ts';
import { hour_ms } from '../../../domain/time.ts';
import type { Overview } from '../../../queries/reports.ts';
import { ago } from './payments.ts';

const byStatus = Object.fromEntries(paymentStatuses.map((status) => [status, 0])) as Overview['created']['byStatus'];

const values = [
  310, 420, 380, 510, 640, 220, 190, 450, 520, 610, 580, 720, 300, 260, 540, 630, 590, 810, 760, 340, 310, 620, 700,
  690, 880, 940, 420, 380, 760, 830,
];
const chart = values.map((value, place) => ({
  date: ago((values.length - 1 - place) * 24 * hour_ms).slice(0, 10),
  volumeUsdc: `${value}.00`,
  paymentCount: Math.ceil(value / 40),
}));
export const overview: Overview = {
  stats: {
    period: '30d',
    volumeUsdc: '16420.18',
    paymentCount: 412,
    avgOrderUsdc: '39.854805',
    netToWalletUsdc: '16387.34',
    refundedUsdc: '0.00',
    chart,
  },
  before: { volumeUsdc: '14660.87', paymentCount: 374 },
  created: { count: 451, paid: 412, expiredUnpaid: 36, byStatus },
  seenToPaidOut: { count: 412, median_s: 24, p95_s: 61 },
};
export const nothing: Overview = {
  stats: {
    ...overview.stats,
    volumeUsdc: '0.00',
    paymentCount: 0,
    avgOrderUsdc: '0.00',
    netToWalletUsdc: '0.00',
    refundedUsdc: '0.00',
    chart: overview.stats.chart.map(({ date }) => ({ date, volumeUsdc: '0.00', paymentCount: 0 })),
  },
  before: { volumeUsdc: '0.00', paymentCount: 0 },
  created: { count: 0, paid: 0, expiredUnpaid: 0, byStatus },
  seenToPaidOut: null,
};
