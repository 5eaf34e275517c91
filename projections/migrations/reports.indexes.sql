-- Built when the rows are there: a rebuild fills bare tables.

CREATE INDEX IF NOT EXISTS deliveries_newest ON deliveries (app_id, started_at DESC, delivery_id DESC);
