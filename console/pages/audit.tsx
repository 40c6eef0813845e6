import { Alert, Button, NativeSelect, TextInput, UnstyledButton } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { actions } from "../api/actions.ts";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { type Chain, readChain } from "../model/audit-chain.ts";
import { count, moment, plural, spoken } from "../model/words.ts";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { byPage, PagedRows } from "../parts/paged-rows.tsx";
import { useMembers } from "../parts/people.ts";
import { saveAs } from "../parts/save-as.ts";
import { Empty, ProblemNote } from "../parts/states.tsx";
import { Ago, Status } from "../parts/status.tsx";

interface Filters {
  readonly actor_id: string;
  readonly client: "" | schemas["Client"];
  readonly outcome: "" | schemas["AuditOutcome"];
  readonly action: string;
  readonly from: string;
  readonly to: string;
}

const none: Filters = { actor_id: "", client: "", outcome: "", action: "", from: "", to: "" };

/** Days as one enters them, from their first moment to their last. */
const moments = ({ from, to }: Filters) => ({
  from: from === "" ? undefined : new Date(`${from}T00:00:00`).toISOString(),
  to: to === "" ? undefined : new Date(`${to}T23:59:59.999`).toISOString(),
});

/** Who did what, when and from where, and whether the log is what was written. */
export default function Audit() {
  const { isAdmin } = useMe();
  const [filters, setFilters] = useState(none);
  const query = useInfiniteQuery({
    queryKey: ["in", "audit", filters],
    queryFn: ({ pageParam }) =>
      ask(
        api.GET("/audit-logs", {
          params: {
            query: {
              limit: 100,
              cursor: pageParam,
              actor_id: filters.actor_id || undefined,
              client: filters.client || undefined,
              outcome: filters.outcome || undefined,
              action: filters.action || undefined,
              ...moments(filters),
            },
          },
        }),
      ),
    ...byPage,
    enabled: isAdmin,
  });
  if (!isAdmin)
    return (
      <>
        <Head title="Audit log" />
        <Empty
          title="For administrators"
          text="The audit log says who has done what in this workspace. An administrator can show it to you."
        />
      </>
    );
  return (
    <>
      <Head title="Audit log" />
      <div className="stack">
        <Verified />
        <FilterFields filters={filters} onChange={setFilters} />
        <PagedRows query={query} none="Nothing was written that these filters find.">
          {(entries) => entries.map((one) => <Entry key={one.audit_log_id} entry={one} />)}
        </PagedRows>
      </div>
    </>
  );
}

function FilterFields({
  filters,
  onChange,
}: {
  readonly filters: Filters;
  readonly onChange: (filters: Filters) => void;
}) {
  const { data: members = [] } = useMembers();
  const field = (name: keyof Filters) => ({
    value: filters[name],
    onChange: ({
      currentTarget: { value },
    }: {
      readonly currentTarget: { readonly value: string };
    }) => onChange({ ...filters, [name]: value } as Filters),
  });
  return (
    <search className="filters">
      <NativeSelect
        label="Who"
        data={[
          { value: "", label: "Everybody" },
          ...members.flatMap(({ user_id: value, name, email }) =>
            value === null ? [] : [{ value, label: name ?? email }],
          ),
        ]}
        {...field("actor_id")}
      />
      <NativeSelect
        label="Through"
        data={[
          { value: "", label: "Anything" },
          { value: "api", label: "Programs" },
          { value: "cli", label: "Console and terminal" },
          { value: "mcp", label: "Agents" },
        ]}
        {...field("client")}
      />
      <NativeSelect
        label="Outcome"
        data={[
          { value: "", label: "Any" },
          { value: "success", label: "Success" },
          { value: "failure", label: "Failure" },
          { value: "denied", label: "Denied" },
        ]}
        {...field("outcome")}
      />
      <NativeSelect
        label="Action"
        data={[{ value: "", label: "Any" }, ...actions.map(([value, label]) => ({ value, label }))]}
        {...field("action")}
      />
      <TextInput type="date" label="From" {...field("from")} />
      <TextInput type="date" label="To" {...field("to")} />
      {filters === none ? null : (
        <Button variant="default" onClick={() => onChange(none)}>
          Clear filters
        </Button>
      )}
    </search>
  );
}

function Entry({ entry }: { readonly entry: schemas["AuditLog"] }) {
  const [isOpen, setOpen] = useState(false);
  const { summary, actor, occurred_at: at, outcome, client } = entry;
  return (
    <li>
      <UnstyledButton
        className="row"
        w="100%"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <bdi className="name">{summary}</bdi>
        <span className="more">
          <span className="dim wide">
            <bdi>{actor.display}</bdi>
            {client === "mcp" ? ", an agent" : ""}
          </span>
          <span className="dim later">
            <Ago at={at} />
          </span>
        </span>
        <span className="right">
          <Status of={outcome} />
        </span>
      </UnstyledButton>
      {isOpen ? <Details entry={entry} /> : null}
    </li>
  );
}

function Details({ entry }: { readonly entry: schemas["AuditLog"] }) {
  const facts = [
    ["When", moment(entry.occurred_at)],
    ["Action", entry.action],
    ["About", `${spoken(entry.resource_type)} ${entry.resource_id ?? ""}`],
    ["From", entry.ip],
    ["With", entry.user_agent],
    ["Request", entry.request_id],
  ] as const;
  return (
    <dl className="facts" style={{ padding: "0 1.25rem 1rem" }}>
      {facts.map(([name, value]) =>
        value === null ? null : (
          <div key={name} style={{ display: "contents" }}>
            <dt>{name}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ),
      )}
      {entry.approval_id === null ? null : (
        <>
          <dt>Approval</dt>
          <dd>
            <Link href={`/approvals/${entry.approval_id}`}>What was proposed</Link>
          </dd>
        </>
      )}
    </dl>
  );
}

interface Read {
  readonly file: Blob;
  readonly chain: Chain | undefined;
}

/** Reads all of it once: verified in this browser, and to be kept. */
function Verified() {
  const [entries, setEntries] = useState<number>();
  const [read, setRead] = useState<Read>();
  const [problem, setProblem] = useState<unknown>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const begin = async () => {
    stop.current = new AbortController();
    setEntries(0);
    setProblem(undefined);
    setRead(undefined);
    try {
      setRead(await readChain(setEntries, stop.current.signal));
    } catch (error) {
      setProblem(error);
    } finally {
      setEntries(undefined);
    }
  };
  return (
    <section className="panel stack" style={{ gap: "0.75rem" }}>
      <div className="actions">
        <span className="grow">
          Each entry holds a hash over all before it: what was changed or taken out shows.
        </span>
        <Button variant="default" onClick={() => void begin()} loading={entries !== undefined}>
          Verify and export
        </Button>
      </div>
      {entries === undefined || entries === 0 ? null : (
        <span className="dim" aria-live="polite">
          {count(entries)} read
        </span>
      )}
      {problem === undefined ? null : <ProblemNote error={problem} />}
      {read === undefined ? null : <Verdict {...read} />}
    </section>
  );
}

function Verdict({ file, chain }: Read) {
  const save = () => saveAs(file, `audit-log-${new Date().toISOString().slice(0, 10)}.jsonl`);
  const button = (
    <div>
      <Button size="xs" variant="default" onClick={save}>
        Save the file
      </Button>
    </div>
  );
  if (chain === undefined)
    return (
      <Alert color="yellow" variant="light" title="It was read, and not verified">
        <div className="stack" style={{ gap: "0.6rem" }}>
          <span>
            Browsers compute hashes for pages over TLS, or of this machine, alone. On the server:
            svc audit verify.
          </span>
          {button}
        </div>
      </Alert>
    );
  if (chain.brokenAt !== undefined || !chain.isWhole)
    return (
      <Alert color="red" variant="light" title="It is not what was written" role="alert">
        <div className="stack" style={{ gap: "0.6rem" }}>
          <span>
            {chain.brokenAt === undefined
              ? "Its end is missing."
              : `Entry ${count(chain.brokenAt)} was changed, or one before it was taken out.`}{" "}
            Keep the file, and tell who runs this server.
          </span>
          {button}
        </div>
      </Alert>
    );
  return (
    <Alert color="teal" variant="light" title="It is what was written" role="status">
      <div className="stack" style={{ gap: "0.6rem" }}>
        <span>
          {plural(chain.entries, "entry", "entries")} in one chain, verified in this browser. Keep
          the last hash elsewhere, to compare: <code className="text">{chain.hash}</code>
        </span>
        {button}
      </div>
    </Alert>
  );
}
