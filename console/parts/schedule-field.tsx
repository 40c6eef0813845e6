/** When a pipeline runs, in words, with the next five times. */
import { NativeSelect, NumberInput, SegmentedControl, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, askNow } from "../api/client.ts";
import { toProblem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";
import { dailyTime } from "../model/words.ts";

type Schedule = schemas["Schedule"];
type Way = "manual" | "basic" | "daily" | "cron" | "continuous";

const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
const zones = [...new Set([here, "UTC", ...Intl.supportedValuesOf("timeZone")])];
const units = ["minutes", "hours", "days", "weeks"] as const;

const wayOf = ({ type, cron_expression: cron = "" }: Schedule): Way =>
  type === "cron" && dailyTime(cron) !== undefined ? "daily" : type;

const first: Readonly<Record<Way, Schedule>> = {
  manual: { type: "manual" },
  basic: { type: "basic", units: 6, time_unit: "hours" },
  daily: { type: "cron", cron_expression: "0 6 * * *", cron_timezone: here },
  cron: { type: "cron", cron_expression: "0 6 * * 1-5", cron_timezone: here },
  continuous: { type: "continuous" },
};

export function ScheduleField({
  value,
  onChange,
  isReadOnly = false,
  canFollow = value.type === "continuous",
}: {
  readonly value: Schedule;
  readonly onChange: (schedule: Schedule) => void;
  readonly isReadOnly?: boolean | undefined;
  /** Whether it may run all the time: its streams are read from a log of changes. */
  readonly canFollow?: boolean | undefined;
}) {
  const [way, setWay] = useState(() => wayOf(value));
  const { cron_expression: cron = "", cron_timezone: zone = "UTC" } = value;
  return (
    <div className="stack" style={{ gap: "0.9rem" }}>
      <SegmentedControl
        aria-label="When it runs"
        value={way}
        disabled={isReadOnly}
        onChange={(next) => {
          setWay(next as Way);
          onChange(first[next as Way]);
        }}
        data={[
          { value: "manual", label: "By hand" },
          { value: "basic", label: "Every" },
          { value: "daily", label: "Daily" },
          { value: "cron", label: "Cron" },
          ...(canFollow ? [{ value: "continuous", label: "Continuously" }] : []),
        ]}
      />
      {way === "basic" ? (
        <div style={{ display: "flex", gap: "0.75rem" }}>
          <NumberInput
            aria-label="How many"
            w="6rem"
            min={1}
            value={value.units ?? 1}
            disabled={isReadOnly}
            onChange={(next) => onChange({ ...value, units: Number(next) || 1 })}
          />
          <NativeSelect
            aria-label="Unit of time"
            value={value.time_unit ?? "hours"}
            data={[...units]}
            disabled={isReadOnly}
            onChange={(event) =>
              onChange({ ...value, time_unit: event.currentTarget.value as (typeof units)[number] })
            }
          />
        </div>
      ) : null}
      {way === "daily" ? (
        <TextInput
          type="time"
          label="At"
          w="8rem"
          value={dailyTime(cron) ?? "06:00"}
          disabled={isReadOnly}
          onChange={(event) => {
            const [hour, minute] = event.currentTarget.value.split(":").map(Number);
            if (hour !== undefined && minute !== undefined)
              onChange({ ...value, cron_expression: `${minute} ${hour} * * *` });
          }}
        />
      ) : null}
      {way === "cron" ? (
        <TextInput
          label="Cron expression"
          description="Minute, hour, day of the month, month, day of the week."
          value={cron}
          disabled={isReadOnly}
          onChange={(event) => onChange({ ...value, cron_expression: event.currentTarget.value })}
          ff="monospace"
        />
      ) : null}
      {value.type === "cron" ? (
        <NativeSelect
          label="Time zone"
          value={zone}
          data={zones}
          disabled={isReadOnly}
          onChange={(event) => onChange({ ...value, cron_timezone: event.currentTarget.value })}
        />
      ) : null}
      {value.type === "manual" ? (
        <span className="dim">It runs when somebody starts it.</span>
      ) : value.type === "continuous" ? (
        <span className="dim">It runs all the time, one job after another.</span>
      ) : (
        <NextTimes schedule={value} />
      )}
    </div>
  );
}

function NextTimes({ schedule }: { readonly schedule: Schedule }) {
  const [asked] = useDebouncedValue(schedule, 300);
  const { data, error } = useQuery({
    queryKey: ["in", "schedule", asked],
    queryFn: () =>
      askNow(
        api.POST("/schedules/preview", {
          body: { schedule: asked, ...(asked.type === "cron" ? {} : { time_zone: here }) },
        }),
      ),
    placeholderData: keepPreviousData,
  });
  if (error) {
    const { message, details } = toProblem(error);
    return (
      <span style={{ color: "var(--mantine-color-error)" }} role="alert">
        {details.errors?.[0]?.message ?? message}
      </span>
    );
  }
  if (!data) return <span className="dim">…</span>;
  return (
    <div className="dim">
      Next, in {data.time_zone}:
      <ol style={{ margin: "0.35rem 0 0", paddingLeft: "1.25rem" }}>
        {data.next_runs.map(({ at }) => (
          <li key={at}>{dayAndTime(at, data.time_zone)}</li>
        ))}
      </ol>
    </div>
  );
}

const dayAndTime = (at: string, timeZone: string): string =>
  new Intl.DateTimeFormat("en", {
    timeZone,
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).format(new Date(at));
