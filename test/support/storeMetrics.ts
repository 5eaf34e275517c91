/** Metrics of EventStoreDB 24.6.0 that dashboards show, with their labels; test/realStore/store.test.ts reads them from the server. */
export const storeMetrics: Readonly<Record<string, readonly string[]>> = {
  eventstore_writer_flush_duration_max_seconds: ['range'],
  eventstore_elections_count_total: [],
  eventstore_sys_disk_bytes: ['disk', 'kind'],
};
