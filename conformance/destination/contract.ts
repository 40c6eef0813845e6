/**
 * A rule for destinations works with a lab: empty places, writers driven as a read drives them, and
 * processes that can be killed.
 */
import type { JsonObject, JsonValue } from "svc-connectors";
import type {
  CheckResult,
  Commit,
  DestinationStream,
  DestinationSyncMode,
  ErrorRecord,
  QueryColumn,
  WriteCommand,
} from "svc-connectors/host";
import { ConnectorError } from "svc-connectors/host";
import type { QueryFault } from "../contract/database.ts";
import type { Canary } from "../contract/lab.ts";
import type { ConnectionFault } from "../contract/network.ts";
import type { Random } from "../contract/random.ts";
import type { Profile, Rule } from "../contract/rule.ts";
import type { ConformanceSettings } from "../contract/settings.ts";
import type { BatchForm } from "./batches.ts";

/** A row of a test: plain JSON, or the line as it arrives, for what JSON.stringify would change. */
export type Line = JsonObject | string;

/**
 * How rows come: as lines of JSON, or as batches, whose dates and the like have the encodings of a
 * database, or are texts of an API.
 */
export type RowForm = BatchForm | "lines";

/** One call of a read. A stream is given by its index in the command. */
export type Step =
  | { readonly do: "start" | "complete" | "incomplete"; readonly stream: number }
  | { readonly do: "rows"; readonly stream: number; readonly lines: readonly string[] }
  /** So many rows of that size, in pages: `id` counts on, `text` fills the row. */
  | {
      readonly do: "many";
      readonly stream: number;
      readonly from: number;
      readonly count: number;
      readonly rowBytes: number;
    }
  /** `isDue`: so much time has passed that it must be committed now. Default true. */
  | {
      readonly do: "checkpoint";
      readonly stream: number;
      readonly state: JsonValue;
      readonly isDue?: boolean | undefined;
    };

/** A whole run: what is written, and in which calls. */
export interface Script {
  readonly command: Omit<WriteCommand, "onCommitted"> & {
    /** Default: those that the destination takes, in turn by the fence. */
    readonly form?: RowForm | undefined;
  };
  readonly steps: readonly Step[];
}

/**
 * Trouble for one writer, check or query. Only of destinations with a connection, where nothing
 * else is said.
 */
export interface Trouble {
  readonly password?: string | undefined;
  readonly connection?: ConnectionFault | undefined;
  readonly fault?: QueryFault | undefined;
  /** A statement has arrived at the server, and has not been passed on. */
  readonly onQuery?: ((index: number) => void) | undefined;
}

/** An open writer in this process. One that is left open is what a crash leaves behind. */
export interface Writer {
  readonly commits: readonly Commit[];
  readonly streams: readonly DestinationStream[];
  /** The forms that it takes, the default first. */
  readonly forms: readonly RowForm[];
  /** @throws ConnectorError */
  perform(steps: readonly Step[]): Promise<void>;
  /** The state from which it goes on; undefined: from the beginning. */
  state(stream?: number): JsonValue | undefined;
  /** As SQL names the table; empty while there is none. */
  location(stream?: number): string;
  close(): Promise<void>;
}

export interface Table {
  readonly columns: readonly QueryColumn[];
  readonly rows: readonly (readonly JsonValue[])[];
}

/** When a process is killed. Steps count from 0, the opening is -1. */
export type KillMoment =
  /** So much real time after the step has begun; ms. */
  | { readonly at: "step"; readonly index: number; readonly afterMs: number }
  /** When that statement has arrived at the server; it is passed on or not. */
  | { readonly at: "query"; readonly index: number };

/** The run of a script in a process of its own. */
export interface ProcessRun {
  readonly isKilled: boolean;
  /** The commits that were reported to it: so many rows of each stream are durable. */
  readonly commits: readonly Commit[];
  /** Only where it may fail. */
  readonly error?: ErrorRecord | undefined;
  /** How long the opening and each step took that came to its end; ms. */
  readonly openMs: number;
  readonly stepMs: readonly number[];
  readonly queryCount: number;
  /** Statements that had arrived when the opening and each step ended. */
  readonly queriesAt: readonly number[];
  /**
   * The most that JavaScript kept (heap and buffers) after a step of many rows and at the end,
   * beyond what it had before; bytes.
   */
  readonly keptBytes: number;
}

/** An empty place where a destination writes: a folder with its file, or a database. */
export interface Place extends AsyncDisposable {
  /** Configuration that leads here, secrets included. */
  readonly config: JsonObject;
  /** Virtual time; ms. */
  now(): number;
  check(trouble?: Trouble): Promise<CheckResult>;
  /** @throws ConnectorError */
  open(command: Script["command"], trouble?: Trouble): Promise<Writer>;
  /** The whole script; gives the names of the tables. @throws ConnectorError */
  run(script: Script, trouble?: Trouble): Promise<readonly string[]>;
  /** @throws ConnectorError */
  query(
    sql: string,
    limits?: { readonly maxRows?: number; readonly timeoutMs?: number },
  ): Promise<Table>;
  /** Every row, by the names of the columns. */
  rows(location: string): Promise<readonly JsonObject[]>;
  /** "schema.table" of all tables that are there. */
  tables(): Promise<readonly string[]>;
  /**
   * Runs a script in a process of its own, to its end or until it is killed; writers that are open
   * here are closed, since both cannot have a file. `maxFileBytes`: as when the disk is full, so
   * that it may fail. @throws ConnectorError
   */
  process(
    script: Script,
    options?: {
      readonly kill?: KillMoment | undefined;
      readonly maxFileBytes?: number | undefined;
    },
  ): Promise<ProcessRun>;
  /**
   * Runs a statement as people beside svc do; undefined where the kit does not know the database.
   * No writer may be open.
   */
  readonly sql: ((statement: string) => Promise<void>) | undefined;
  /** Names of the files beside the destination's; of destinations that declare a file. */
  files(): Promise<readonly string[]>;
  /** Path of the declared file. */
  readonly path: string | undefined;
  /** A place of the same kind where nothing can be written, and what is wrong with it. */
  unwritable(): Promise<readonly UnwritablePlace[]>;
}

export interface UnwritablePlace extends AsyncDisposable {
  readonly name: string;
  check(): Promise<CheckResult>;
  /** Describes damage to what was there before; undefined: it is as it was. */
  damage(): Promise<string | undefined>;
}

export interface DestinationLab {
  readonly target: { readonly kind: string; readonly name: string };
  readonly manifest: {
    readonly id: string;
    readonly version: string;
    readonly syncModes: readonly DestinationSyncMode[];
    readonly hasQuery: boolean;
  };
  readonly egress: "file" | "postgres" | "s3";
  readonly settings: ConformanceSettings;
  readonly seed: number;
  readonly isExhaustive: boolean;
  readonly todayMs: number;
  readonly missingProvider: string | undefined;
  readonly runCount: number;
  /** Made up secrets of the configuration. */
  readonly canaries: readonly Canary[];
  /** All that the destination said so far: messages and details of errors, logs. */
  readonly said: readonly { readonly where: string; readonly text: string }[];
  /** One place for all rules that only need names of their own. */
  place(): Promise<Place>;
  /** A place of its own. */
  emptyPlace(): Promise<Place>;
  /** Names that nobody else has. */
  fresh(): { readonly owner: string; readonly name: string };
  /** How rows can come to this destination, the usual way first. */
  forms(): Promise<readonly RowForm[]>;
  /** Choices of one rule. */
  random(name: string): Random;
  /** So many, or all of them when the run is exhaustive. */
  effort(most: number, exhaustive: number): number;
}

export type DestinationRule = Rule<DestinationLab>;

/**
 * A rule of destinations. Tables are read back through the destination's own query, so it must have
 * one. An error where it should have worked is a failure of the rule.
 */
export function defineDestinationRule(
  rule: Omit<DestinationRule, "profile" | "level" | "since" | "notApplicable"> & {
    readonly profile?: Profile;
  },
): DestinationRule {
  return {
    level: "MUST",
    profile: "core",
    since: "0.1.0",
    ...rule,
    notApplicable: ({ manifest }) =>
      manifest.hasQuery
        ? undefined
        : "this destination has no query, so that what it wrote cannot be read back",
    async run(lab, report) {
      try {
        await rule.run(lab, report);
      } catch (error) {
        if (!(error instanceof ConnectorError)) throw error;
        report.checked("a run that nothing stands in the way of");
        report.fail(`It should have worked, and failed with ${error.code}: ${error.message}`);
      }
    },
  };
}
