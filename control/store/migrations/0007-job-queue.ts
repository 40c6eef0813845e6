import type { Kysely } from "kysely";
import { each } from "./statements.ts";

const time = "timestamptz(3)";

/**
 * A job is in line when it waits and may run: its time had come when it was last written. All
 * indexes and triggers of the line say it in these words.
 */
const inLine = (job: string) =>
  `${job}status IN ('pending', 'queued', 'incomplete') AND ${job}runnable_at <= ${job}updated_at`;
const isLater = `status IN ('pending', 'queued', 'incomplete') AND runnable_at > updated_at`;
const ofGroup = (job: string, group: string) =>
  `${job}.workspace_id = ${group}.workspace_id AND ${job}.provider_key = ${group}.provider_key AND ${job}.destination_key = ${group}.destination_key`;

const limitKey = (kind: string) =>
  `${kind}_key text NOT NULL GENERATED ALWAYS AS (coalesce(jsonb_path_query_first(limits, '$[*] ? (@ starts with "${kind}:")') #>> '{}', '')) STORED`;

/**
 * Settings of the functions for the planner, which may know the table only as it was when it was
 * empty: each of their statements looks into indexes, and is planned once.
 */
const indexesOnly =
  "SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan";

/**
 * The jobs table becomes the queue: how jobs are grouped while they wait, and the claim. Why it is
 * made so is told in docs/decisions/0020.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    // Its limits by kind, "" without one.
    `ALTER TABLE jobs ADD COLUMN ${limitKey("provider")}, ADD COLUMN ${limitKey("destination")}, ADD COLUMN ${limitKey("credential")}`,
    "DROP INDEX jobs_open",
    `CREATE INDEX jobs_in_line ON jobs (workspace_id, provider_key, destination_key, created_at, id) WHERE ${inLine("")}`,
    `CREATE INDEX jobs_in_line_by_credential ON jobs (workspace_id, provider_key, destination_key, credential_key, created_at, id) WHERE ${inLine("")}`,
    `CREATE INDEX jobs_later ON jobs (runnable_at) WHERE ${isLater}`,
    "CREATE INDEX jobs_pending ON jobs (runnable_at) WHERE status = 'pending'",
    // A claim looks at groups, not at jobs. A workspace has as many as it has pairs of a provider
    // and a destination. No job in line is older than its group says.
    `CREATE TABLE job_groups (
      workspace_id text NOT NULL,
      provider_key text NOT NULL,
      destination_key text NOT NULL,
      oldest_at ${time} NOT NULL,
      PRIMARY KEY (workspace_id, provider_key, destination_key)
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
    "CREATE INDEX job_groups_by_age ON job_groups (provider_key, oldest_at)",
    `INSERT INTO job_groups
      SELECT workspace_id, provider_key, destination_key, min(created_at) FROM jobs WHERE ${inLine("")} GROUP BY 1, 2, 3`,
    jobEntersLine,
    tidyJobGroup,
    `CREATE FUNCTION job_leaves_line() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM tidy_job_group(OLD.workspace_id, OLD.provider_key, OLD.destination_key);
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER jobs_inserted AFTER INSERT ON jobs FOR EACH ROW
      WHEN (${inLine("NEW.")}) EXECUTE FUNCTION job_enters_line()`,
    `CREATE TRIGGER jobs_entered AFTER UPDATE ON jobs FOR EACH ROW
      WHEN (${inLine("NEW.")} AND NOT (${inLine("OLD.")})) EXECUTE FUNCTION job_enters_line()`,
    `CREATE TRIGGER jobs_left AFTER UPDATE ON jobs FOR EACH ROW
      WHEN (${inLine("OLD.")} AND NOT (${inLine("NEW.")})) EXECUTE FUNCTION job_leaves_line()`,
    `CREATE TRIGGER jobs_deleted AFTER DELETE ON jobs FOR EACH ROW
      WHEN (${inLine("OLD.")}) EXECUTE FUNCTION job_leaves_line()`,
    findInGroup,
    claimJob,
  ]);
}

/**
 * Who puts a job in line holds its group, shared with others who do the same, until the job can be
 * seen by all.
 */
const jobEntersLine = `CREATE FUNCTION job_enters_line() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    oldest timestamptz;
  BEGIN
    LOOP
      INSERT INTO job_groups VALUES (NEW.workspace_id, NEW.provider_key, NEW.destination_key, NEW.created_at)
        ON CONFLICT DO NOTHING;
      SELECT oldest_at INTO oldest FROM job_groups
        WHERE ${ofGroup("job_groups", "NEW")} FOR KEY SHARE;
      -- Its last job may have left just now, and the group with it.
      EXIT WHEN FOUND;
    END LOOP;
    -- A job that is tried again comes in before younger ones.
    IF oldest > NEW.created_at THEN
      UPDATE job_groups SET oldest_at = least(oldest_at, NEW.created_at) WHERE ${ofGroup("job_groups", "NEW")};
    END IF;
    RETURN NULL;
  END $$`;

/**
 * A group is changed by those who have it alone, so that no job is missed that is about to come in;
 * the others leave it as it is: a group without jobs, or with too early a time, is passed over.
 */
const tidyJobGroup = `CREATE FUNCTION tidy_job_group(workspace text, provider text, destination text)
  RETURNS void LANGUAGE plpgsql ${indexesOnly} AS $$
  DECLARE
    known timestamptz;
    oldest timestamptz;
  BEGIN
    SELECT oldest_at INTO known FROM job_groups
      WHERE workspace_id = workspace AND provider_key = provider AND destination_key = destination
      FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT created_at INTO oldest FROM jobs
      WHERE workspace_id = workspace AND provider_key = provider AND destination_key = destination
        AND ${inLine("")} AND created_at >= known
      ORDER BY created_at, id LIMIT 1;
    IF NOT FOUND THEN
      DELETE FROM job_groups
        WHERE workspace_id = workspace AND provider_key = provider AND destination_key = destination;
    ELSIF oldest > known THEN
      UPDATE job_groups SET oldest_at = oldest
        WHERE workspace_id = workspace AND provider_key = provider AND destination_key = destination;
    END IF;
  END $$`;

/**
 * The oldest job of a group that no credential holds back: among its first twenty, else among the
 * first of each credential.
 */
const findInGroup = `CREATE FUNCTION find_job_in_group(grp job_groups, full_keys text[], passed_over text[])
  RETURNS TABLE (found_id text, found_at timestamptz)
  LANGUAGE plpgsql ${indexesOnly} AS $$
  BEGIN
    RETURN QUERY SELECT first.id, first.created_at::timestamptz FROM (
        SELECT jobs.id, jobs.created_at, jobs.credential_key FROM jobs
        WHERE ${ofGroup("jobs", "grp")} AND ${inLine("jobs.")} AND jobs.created_at >= grp.oldest_at
        ORDER BY jobs.created_at, jobs.id LIMIT 20
      ) first
      WHERE first.credential_key <> ALL (full_keys) AND first.id <> ALL (passed_over)
      ORDER BY first.created_at, first.id LIMIT 1;
    IF FOUND THEN RETURN; END IF;
    RETURN QUERY WITH RECURSIVE credentials (key) AS (
        SELECT min(jobs.credential_key) FROM jobs WHERE ${ofGroup("jobs", "grp")} AND ${inLine("jobs.")}
        UNION ALL
        SELECT (
          SELECT min(jobs.credential_key) FROM jobs
          WHERE ${ofGroup("jobs", "grp")} AND ${inLine("jobs.")} AND jobs.credential_key > credentials.key
        ) FROM credentials WHERE credentials.key IS NOT NULL
      )
      SELECT first.id, first.created_at::timestamptz FROM credentials, LATERAL (
        SELECT jobs.id, jobs.created_at FROM jobs
        WHERE ${ofGroup("jobs", "grp")} AND ${inLine("jobs.")} AND jobs.credential_key = credentials.key
          AND jobs.created_at >= grp.oldest_at AND jobs.id <> ALL (passed_over)
        ORDER BY jobs.created_at, jobs.id LIMIT 1
      ) first
      WHERE credentials.key <> ALL (full_keys)
      ORDER BY first.created_at, first.id LIMIT 1;
  END $$`;

/**
 * Takes the job whose turn it is and begins its attempt: control/jobs/claim.ts tells the rules.
 * One call is one transaction, so that nobody who stands still between two statements holds the
 * lock.
 */
const claimJob = `CREATE FUNCTION claim_job(
    at timestamptz, by_worker text, new_lease text, until timestamptz,
    per_workspace integer, per_credential integer, per_provider integer, per_destination integer,
    exclusive_connectors text[]
  ) RETURNS TABLE (claimed_job jobs, claimed_fence bigint)
  LANGUAGE plpgsql ${indexesOnly} AS $$
  DECLARE
    full_keys text[];
    passed_over text[] := '{}';
    candidate record;
    next record;
    best_id text;
    best_at timestamptz;
    best_running bigint;
  BEGIN
    IF NOT EXISTS (SELECT FROM job_groups)
      AND NOT EXISTS (SELECT FROM jobs WHERE ${isLater} AND runnable_at <= at) THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock(7236401182);

    UPDATE jobs SET updated_at = at WHERE id IN (
      SELECT id FROM jobs WHERE ${isLater} AND runnable_at <= at
      ORDER BY runnable_at LIMIT 100 FOR UPDATE SKIP LOCKED);

    SELECT coalesce(array_agg(key), '{}') INTO full_keys FROM (
      SELECT key FROM jobs, LATERAL (VALUES (provider_key), (destination_key), (credential_key)) AS used (key)
      WHERE status = 'running' AND key <> ''
      GROUP BY key HAVING count(*) >= CASE
        WHEN key LIKE 'credential:%' THEN per_credential
        WHEN key LIKE 'provider:%' THEN per_provider
        WHEN EXISTS (
          SELECT FROM destinations
          WHERE id = substr(key, length('destination:') + 1) AND connector_id = ANY (exclusive_connectors)
        ) THEN 1
        ELSE per_destination END
    ) AS full_ones;

    -- Twenty tries: a job that is being cancelled at the moment is passed over.
    FOR try IN 1..20 LOOP
      best_id := NULL;
      FOR candidate IN
        WITH RECURSIVE providers (key) AS (
          SELECT min(provider_key) FROM job_groups
          UNION ALL
          SELECT (SELECT min(provider_key) FROM job_groups WHERE provider_key > providers.key)
          FROM providers WHERE providers.key IS NOT NULL
        ), busy AS (
          SELECT workspace_id, count(*) AS jobs FROM jobs WHERE status = 'running' GROUP BY workspace_id
        )
        SELECT oldest.grp, 0 AS running, (oldest.grp).oldest_at AS oldest_at FROM providers, LATERAL (
          -- OFFSET 0: each of the two is a look into an index, one after the other, and no join.
          SELECT idle.grp FROM (
            SELECT job_groups AS grp FROM job_groups
            WHERE provider_key = providers.key AND destination_key <> ALL (full_keys) AND NOT EXISTS (
              SELECT FROM jobs WHERE jobs.workspace_id = job_groups.workspace_id AND jobs.status = 'running'
              OFFSET 0)
            ORDER BY oldest_at OFFSET 0
          ) idle
          WHERE EXISTS (
            SELECT FROM jobs WHERE ${ofGroup("jobs", "(idle.grp)")} AND ${inLine("jobs.")}
              AND jobs.created_at >= (idle.grp).oldest_at AND jobs.id <> ALL (passed_over)
            OFFSET 0)
          LIMIT 1
        ) oldest
        WHERE providers.key <> ALL (full_keys)
        UNION ALL
        SELECT job_groups, busy.jobs, job_groups.oldest_at FROM busy JOIN job_groups USING (workspace_id)
        WHERE busy.jobs < per_workspace
          AND provider_key <> ALL (full_keys) AND destination_key <> ALL (full_keys)
        ORDER BY running, oldest_at
      LOOP
        EXIT WHEN best_id IS NOT NULL
          AND (candidate.running, candidate.oldest_at) > (best_running, best_at);
        SELECT * INTO next FROM find_job_in_group(candidate.grp, full_keys, passed_over);
        IF FOUND AND (best_id IS NULL OR (next.found_at, next.found_id) < (best_at, best_id)) THEN
          best_id := next.found_id;
          best_at := next.found_at;
          best_running := candidate.running;
        END IF;
      END LOOP;
      IF best_id IS NULL THEN RETURN; END IF;

      SELECT * INTO claimed_job FROM jobs
        WHERE id = best_id AND ${inLine("")} FOR UPDATE SKIP LOCKED;
      EXIT WHEN FOUND;
      passed_over := passed_over || best_id;
      IF try = 20 THEN RETURN; END IF;
    END LOOP;

    -- The next claim does not wait for the disk; the caller does, before anything begins.
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE jobs SET
      status = 'running', attempt = attempt + 1, lease_id = new_lease, lease_until = until,
      worker = by_worker, started_at = coalesce(started_at, at), updated_at = at
      WHERE id = claimed_job.id RETURNING * INTO claimed_job;
    INSERT INTO job_attempts (job_id, attempt, status, worker, started_at)
      VALUES (claimed_job.id, claimed_job.attempt, 'running', by_worker, at);
    UPDATE connections SET fence = fence + 1 WHERE id = claimed_job.connection_id
      RETURNING fence INTO claimed_fence;
    claimed_fence := coalesce(claimed_fence, 0);
    RETURN NEXT;
  END $$`;
