import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** Adds the version of a pipeline's selection, which says what a job was to bring. */
const selections = [
  "ALTER TABLE pipelines ADD COLUMN selection_version integer NOT NULL DEFAULT 0",
  "ALTER TABLE jobs ADD COLUMN selection_version integer",
];

/**
 * Requests that servers have counted together, by budget and token or address, as the library
 * rate-limiter-flexible writes them. A minute's counts are nothing that a crash of the database
 * must leave.
 */
const budgets = [
  `CREATE UNLOGGED TABLE request_budgets (
    key varchar(255) PRIMARY KEY,
    points integer NOT NULL DEFAULT 0,
    expire bigint
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
];

/** For those who watch the queue: open jobs are few beside those that have run. */
const openJobs =
  "CREATE INDEX jobs_open ON jobs (kind, status, runnable_at) WHERE status IN ('pending', 'queued', 'running', 'incomplete')";

/**
 * Requests to providers that count at the moment, by credential: until they are answered, and then
 * for a window. A crash of the database leaves each process to its own count.
 */
const providerRequests = [
  `CREATE UNLOGGED TABLE provider_requests (
    credential_id text NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    until timestamptz(3) NOT NULL,
    PRIMARY KEY (credential_id, id)
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
  "CREATE INDEX provider_requests_until ON provider_requests (credential_id, until)",
  `CREATE UNLOGGED TABLE provider_blocks (
    credential_id text PRIMARY KEY,
    until timestamptz(3) NOT NULL
  )`,
  `CREATE FUNCTION book_provider_request(credential text, at timestamptz, requests int, held timestamptz)
    RETURNS TABLE (booking bigint, again_at timestamptz, is_blocked boolean) LANGUAGE plpgsql AS $$
    DECLARE
      counted int;
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('provider:' || credential, 0));
      SELECT blocks.until INTO again_at FROM provider_blocks blocks
        WHERE blocks.credential_id = credential AND blocks.until > at;
      is_blocked := FOUND;
      IF FOUND THEN RETURN NEXT; RETURN; END IF;
      DELETE FROM provider_requests booked WHERE booked.credential_id = credential AND booked.until <= at;
      SELECT count(*) INTO counted FROM provider_requests booked WHERE booked.credential_id = credential;
      IF counted >= requests THEN
        SELECT booked.until INTO again_at FROM provider_requests booked
          WHERE booked.credential_id = credential ORDER BY booked.until OFFSET counted - requests LIMIT 1;
        RETURN NEXT; RETURN;
      END IF;
      INSERT INTO provider_requests (credential_id, until) VALUES (credential, held)
        RETURNING id INTO booking;
      RETURN NEXT;
    END $$`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [...selections, ...budgets, openJobs, ...providerRequests]);
}
