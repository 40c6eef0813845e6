/** Actions on some streams of a pipeline, or on all: read anew, reset, clear. */
import { Checkbox, SegmentedControl, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { keyOf } from "../model/streams.ts";
import { count, plural } from "../model/words.ts";
import { Confirm } from "./confirm.tsx";
import { Icon } from "./icon.tsx";
import { notify } from "./notify.ts";

type Way = "refresh" | "reset" | "clear";

const ways: Readonly<Record<Way, { readonly label: string; readonly text: string }>> = {
  refresh: {
    label: "Read anew",
    text: "All rows are read from the beginning. Those that are there stay until the new ones have come.",
  },
  reset: {
    label: "Reset",
    text: "The rows in the destination are deleted, then everything is read from the beginning. Meanwhile its tables are empty or half full.",
  },
  clear: {
    label: "Clear",
    text: "The rows in the destination are deleted, and nothing is read. The next sync begins from the beginning.",
  },
};

/** So many are drawn; others are searched for. */
const few = 100;

export function StreamRuns({
  pipelineId,
  streams,
  mayDelete,
  onClose,
}: {
  readonly pipelineId: string;
  readonly streams: readonly schemas["StreamName"][];
  /** Clearing and resetting delete rows. */
  readonly mayDelete: boolean;
  readonly onClose: () => void;
}) {
  const [way, setWay] = useState<Way>("refresh");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [search, setSearch] = useState("");
  const [, go] = useLocation();
  const queries = useQueryClient();
  const wanted = search.trim().toLowerCase();
  const found = streams.filter(({ name, namespace }) =>
    `${namespace ?? ""}.${name}`.toLowerCase().includes(wanted),
  );
  const isAll = chosen.size === streams.length;
  const run = async () => {
    const params = { path: { pipeline_id: pipelineId } };
    const some = isAll
      ? {}
      : {
          streams: streams
            .filter((one) => chosen.has(keyOf(one)))
            .map(({ name, namespace = null }) => ({ name, namespace })),
        };
    const made = await (way === "refresh"
      ? ask(
          api.POST("/pipelines/{pipeline_id}/sync", {
            params,
            body: { ...some, full_refresh: true },
          }),
        )
      : way === "reset"
        ? ask(api.POST("/pipelines/{pipeline_id}/reset", { params, body: some }))
        : ask(api.POST("/pipelines/{pipeline_id}/clear", { params, body: some })));
    await queries.invalidateQueries({ queryKey: ["in", "jobs"] });
    if (notify.outcome(made, "It has begun.") && !isProposal(made)) go(`/jobs/${made.job.job_id}`);
  };
  const set = (keys: readonly string[], isChosen: boolean) => {
    const next = new Set(chosen);
    for (const key of keys)
      if (isChosen) next.add(key);
      else next.delete(key);
    setChosen(next);
  };
  const keys = found.map(keyOf);
  const chosenHere = keys.filter((key) => chosen.has(key)).length;
  return (
    <Confirm
      title="Some streams from the beginning"
      label={
        chosen.size === 0 ? ways[way].label : `${ways[way].label}: ${plural(chosen.size, "stream")}`
      }
      keep="Change nothing"
      isOpen
      isReady={chosen.size > 0}
      isDangerous={way !== "refresh"}
      onClose={onClose}
      run={run}
    >
      {mayDelete ? (
        <SegmentedControl
          aria-label="What is done"
          value={way}
          onChange={(next) => setWay(next as Way)}
          data={Object.entries(ways).map(([value, { label }]) => ({ value, label }))}
        />
      ) : null}
      <span className="dim">{ways[way].text}</span>
      {streams.length > 8 ? (
        <TextInput
          aria-label="Search streams"
          placeholder="Search"
          leftSection={<Icon name="search" />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      ) : null}
      <Checkbox
        label={wanted === "" ? "All" : `All ${count(found.length)} found`}
        checked={keys.length > 0 && chosenHere === keys.length}
        indeterminate={chosenHere > 0 && chosenHere < keys.length}
        onChange={(event) => set(keys, event.currentTarget.checked)}
      />
      <div className="choices">
        {found.slice(0, few).map((one) => (
          <Checkbox
            key={keyOf(one)}
            label={<bdi>{one.name}</bdi>}
            description={one.namespace ?? undefined}
            checked={chosen.has(keyOf(one))}
            onChange={(event) => set([keyOf(one)], event.currentTarget.checked)}
          />
        ))}
        {found.length > few ? (
          <span className="dim">And {count(found.length - few)} more: search.</span>
        ) : null}
      </div>
    </Confirm>
  );
}
