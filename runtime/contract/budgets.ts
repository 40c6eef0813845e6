/**
 * How much of what a stranger writes the host reads. Every reader takes its limits from this table,
 * and the table of docs/security.md is made of it. Limits are chosen so that one step of the host's
 * event loop takes well under 100 ms for the worst text of that size: reading a MiB of JSON takes
 * up to 70 ms, 100,000 values 25 ms, compiling a schema of 200 parts 90 ms, searching a MiB 10 ms,
 * and 1 ms more for each short secret.
 */

/** A JSON document. */
export interface DocumentBudget {
  readonly bytes: number;
  /**
   * Commas and opening brackets outside of texts: at least as many as there are values, less one.
   */
  readonly values: number;
  /** Arrays and objects inside of each other. */
  readonly depth: number;
}

/** One row of the table: what is read, its limits, and what happens beyond them. */
export interface BudgetRow extends Partial<DocumentBudget> {
  readonly what: string;
  /** How many of them there may be, and of what. */
  readonly count?: readonly [number, string];
  /** All of them together, in bytes. */
  readonly together?: number;
  readonly seconds?: number;
  /** An error code, or what the host does. */
  readonly beyond: string;
}

const KiB = 1024;
const MiB = 1024 * KiB;

export const budgets = {
  manifest: {
    what: "what a connector says of itself, with a fixed list of streams",
    bytes: 2 * MiB,
    values: 100_000,
    depth: 64,
    seconds: 30,
    beyond: "CONNECTOR_INVALID",
  },
  schema: {
    what: "the schema of its settings, and that of its state",
    bytes: 256 * KiB,
    values: 5_000,
    depth: 32,
    count: [200, "settings and other parts"],
    beyond: "CONNECTOR_INVALID",
  },
  choices: {
    what: "a list in a schema, such as the choices of a setting",
    count: [1_000, "items"],
    beyond: "CONNECTOR_INVALID",
  },
  pattern: {
    what: "a pattern in a schema",
    count: [1_000, "characters"],
    beyond: "CONNECTOR_INVALID",
  },
  validation: {
    what: "checking a document against a connector's schema, in CPU time",
    seconds: 0.06,
    beyond: "CONNECTOR_INVALID",
  },
  errorRules: {
    what: "the error rules of a connector",
    count: [200, "rules"],
    beyond: "CONNECTOR_INVALID",
  },
  image: {
    what: "what Docker says of an image",
    bytes: MiB,
    values: 20_000,
    depth: 64,
    beyond: "CONNECTOR_INVALID",
  },
  config: {
    what: "a configuration",
    bytes: MiB,
    values: 100_000,
    depth: 64,
    beyond: "CONFIG_INVALID",
  },
  secrets: {
    what: "the secrets of a configuration",
    together: 32 * KiB,
    beyond: "CONFIG_INVALID",
  },
  runSecrets: {
    what: "all secrets and tokens that a run is searched for, with those of its configuration",
    count: [40, "of less than ten characters"],
    together: 64 * KiB,
    beyond: "CONNECTOR_PROTOCOL",
  },
  passingTokens: {
    what: "tokens that newer ones of the same login replace",
    together: 32 * KiB,
    beyond: "the oldest are no longer searched for",
  },
  placeholders: {
    what: "secrets and tokens of a run that have placeholders",
    count: [1_000, "values"],
    beyond: "CONNECTOR_PROTOCOL",
  },
  filledRequest: {
    what: "a request once its placeholders are secrets",
    bytes: 2 * MiB,
    beyond: "CONNECTOR_PROTOCOL",
  },
  tokenAnswer: {
    what: "the answer of a token endpoint",
    bytes: 256 * KiB,
    beyond: "RESPONSE_TOO_LARGE",
  },
  mintingAnswer: {
    what: "an answer of a URL that is declared to mint tokens",
    bytes: 4 * MiB,
    beyond: "RESPONSE_TOO_LARGE",
  },
  token: {
    what: "a token in it, and one that any answer mints",
    bytes: 16 * KiB,
    beyond: "RESPONSE_INVALID",
  },
  cookies: {
    what: "cookies of a provider that are searched for",
    count: [32, "cookies"],
    together: 4 * KiB,
    beyond: "further ones are neither sent back nor searched for",
  },
  catalogPart: {
    what: "the part of a catalog that comes at once",
    bytes: MiB,
    values: 100_000,
    depth: 64,
    beyond: "CONNECTOR_PROTOCOL",
  },
  catalog: {
    what: "a catalog",
    values: 4_000_000,
    count: [6_000, "streams"],
    together: 64 * MiB,
    beyond: "CATALOG_TOO_LARGE, TOO_MANY_TABLES",
  },
  entities: {
    what: "the entities of an account",
    bytes: MiB,
    values: 100_000,
    depth: 64,
    count: [1, "answer"],
    beyond: "CONNECTOR_PROTOCOL",
  },
  status: {
    what: "the status of a stream",
    bytes: 64 * KiB,
    values: 10_000,
    depth: 64,
    count: [2, "for each stream"],
    beyond: "CONNECTOR_PROTOCOL",
  },
  state: {
    what: "the state of a stream",
    bytes: MiB,
    values: 200_000,
    depth: 200,
    together: 64 * MiB,
    beyond: "STATE_TOO_LARGE, CONNECTOR_PROTOCOL",
  },
  rows: {
    what: "rows that come at once, or one row",
    bytes: 17 * MiB,
    depth: 256,
    beyond: "CONNECTOR_PROTOCOL",
  },
  batchRows: {
    what: "rows of one batch, where it has several",
    bytes: 2 * MiB,
    count: [65_536, "rows"],
    beyond: "CONNECTOR_PROTOCOL",
  },
  notes: {
    what: "what a batch notes of values that its columns could not hold",
    bytes: MiB,
    values: 200_000,
    depth: 2,
    beyond: "CONNECTOR_PROTOCOL",
  },
  log: {
    what: "a log line, or a notice that the sandbox refused something",
    bytes: 64 * KiB,
    values: 1_000,
    depth: 64,
    count: [10_000, "of a run"],
    beyond: "the line is dropped",
  },
  output: {
    what: "standard output and error of a worker",
    together: 256 * KiB,
    count: [1_000, "lines"],
    beyond: "the rest is dropped",
  },
  failure: {
    what: "the error that a worker ends with",
    bytes: 64 * KiB,
    values: 1_000,
    depth: 64,
    beyond: "CONNECTOR_PROTOCOL",
  },
  request: {
    what: "a request of a worker, with its body",
    bytes: MiB,
    values: 100_000,
    depth: 64,
    beyond: "CONNECTOR_PROTOCOL",
  },
  calls: {
    what: "requests and waits of a worker that are not answered yet",
    count: [1_000, "calls"],
    beyond: "CONNECTOR_PROTOCOL",
  },
  openRequests: {
    what: "the requests among them",
    together: 8 * MiB,
    beyond: "the worker is not read from until there are less",
  },
  answers: {
    what: "answers of a provider that a worker has not taken yet",
    together: 64 * MiB,
    beyond: "no further request is sent until it has",
  },
  unread: {
    what: "a worker that reads nothing of what it is sent",
    seconds: 60,
    beyond: "CONNECTOR_TIMEOUT",
  },
  answersAtOnce: {
    what: "largest answer, times the requests that a connector has under way",
    together: 256 * MiB,
    beyond: "CONNECTOR_INVALID when both are declared, else less at once",
  },
  databaseWrites: {
    what: "what a worker sends to its database and that has not taken it",
    together: 8 * MiB,
    beyond: "CONNECTOR_PROTOCOL",
  },
  databaseReads: {
    what: "what a database has sent to its worker and that has not taken it",
    together: 4 * MiB,
    count: [4, "sessions"],
    beyond: "the database is not read from until it has",
  },
  databaseLogin: {
    what: "all that a PostgreSQL server says until a session begins",
    bytes: 256 * KiB,
    count: [200, "settings of the server"],
    seconds: 30,
    beyond: "CONNECTION_FAILED, PROVIDER_TIMEOUT",
  },
  yaml: {
    what: "a file in YAML; larger ones have to be JSON",
    bytes: 256 * KiB,
    depth: 100,
    count: [100, "aliases for a value"],
    beyond: "the file is refused",
  },
  yamlTokens: {
    what: "names, values, signs and line breaks of a text in YAML, manifests too",
    count: [100_000, "tokens"],
    beyond: "the file is refused",
  },
  declarativeManifest: {
    what: "a declarative manifest, once its references are put in",
    bytes: 2 * MiB,
    values: 200_000,
    depth: 64,
    count: [100, "aliases for a value"],
    beyond: "CONNECTOR_INVALID",
  },
  databaseAnswers: {
    what: "a message of a PostgreSQL server to a destination, which runs in the host, and 128 bytes for each",
    bytes: 64 * MiB,
    together: 256 * MiB,
    beyond: "CONNECTION_FAILED",
  },
} as const satisfies Record<string, BudgetRow>;
