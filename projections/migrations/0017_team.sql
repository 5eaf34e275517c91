-- People who can prove their address because an owner invited them to a team. They can sign in, and register no app unless the installation admits them.

ALTER TABLE ops.people ADD COLUMN joins_until timestamptz;

COMMENT ON COLUMN ops.people.joins_until IS 'Time until which a person whom only the owner of an app invited can prove the address. Not null: the installation has not admitted the person to register apps.';
