-- Events that recognize the log again: a position alone does not, because the store writes records of its own behind the last event.

ALTER TABLE ops.projections
  ADD COLUMN event_id text,
  ADD COLUMN applied_position bigint,
  ADD COLUMN applied_id text;

COMMENT ON COLUMN ops.projections.position IS 'Position in the event log up to which all events are in the rows; null before the first event. The event at the position can belong to another application.';
COMMENT ON COLUMN ops.projections.event_id IS 'Id of the event at that position; null in a checkpoint of an older version.';
COMMENT ON COLUMN ops.projections.applied_position IS 'Position of the last event that the rows hold. The log is recognized by it.';
COMMENT ON COLUMN ops.projections.applied_id IS 'Id of that event.';

ALTER TABLE ops.followers
  ADD COLUMN event_id text,
  ADD COLUMN applied_position bigint,
  ADD COLUMN applied_id text;

COMMENT ON COLUMN ops.followers.position IS 'Position in the event log up to which all events are handled. The event at the position can belong to another application.';
COMMENT ON COLUMN ops.followers.event_id IS 'Id of the event at that position; null in a row of an older version.';
COMMENT ON COLUMN ops.followers.applied_position IS 'Position of the last event that was handled. The log is recognized by it.';
COMMENT ON COLUMN ops.followers.applied_id IS 'Id of that event.';

-- An instance of an older version moves the position alone. The event beside it then says nothing any more: each position has its own event.
CREATE FUNCTION ops.forget_log_place() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.event_id := NULL;
  NEW.applied_position := NULL;
  NEW.applied_id := NULL;
  RETURN NEW;
END $$;

CREATE TRIGGER moved_by_older_version BEFORE UPDATE OF position ON ops.projections
  FOR EACH ROW WHEN (NEW.position IS DISTINCT FROM OLD.position AND NEW.event_id = OLD.event_id)
  EXECUTE FUNCTION ops.forget_log_place();
CREATE TRIGGER moved_by_older_version BEFORE UPDATE OF position ON ops.followers
  FOR EACH ROW WHEN (NEW.position IS DISTINCT FROM OLD.position AND NEW.event_id = OLD.event_id)
  EXECUTE FUNCTION ops.forget_log_place();
