import { defineDestinationRule } from "../contract.ts";
import { describeStream, integer, scriptOf, text } from "../streams.ts";

export default defineDestinationRule({
  id: "DEST-11",
  title:
    "Every row says which it is (_svc_id, unlike any other), when it came (_svc_extracted_at), by which job (_svc_job_id) and what was changed in it (_svc_meta).",
  why: "People find doubled rows, late rows and nulled values by these columns, and undo a bad job by its id. Wrong ones are worse than none.",
  fix: "Fill them from the order and the clock of the context; give each row an id of its own, also over runs.",
  good: "uuidv7(clock.now()), new Date(ctx.clock.now()), order.jobId, row._svc_meta ?? null",
  bad: "row.hash as _svc_id, new Date(), 'job'",
  async run(lab, report) {
    const place = await lab.place();
    const changes = {
      changes: [{ field: "text", change: "NULLED", reason: "SOURCE_RECORD_INVALID" }],
    };
    const seen = new Map<string, string>();
    for (const into of lab.manifest.syncModes) {
      const { owner, name } = lab.fresh();
      const mode = into === "overwrite" ? "full_refresh" : "incremental";
      // A property of the name of such a column is the source's own and must not fill it.
      const stream = describeStream(
        { id: integer, text, _svc_job_id: text },
        { name, into, mode, key: ["id"] },
      );
      const forms = await lab.forms();
      for (const [index, form] of [...forms, ...forms].entries()) {
        const fence = index + 1;
        const rows = [1, 2, 3].map((index) => ({
          id: fence * 10 + index,
          text: "same",
          _svc_job_id: "the source's",
        }));
        const beganMs = place.now();
        const lines = [...rows, { id: fence * 10 + 4, text: null, _svc_meta: changes }];
        const [location = ""] = await place.run(
          scriptOf({ owner, fence, form }, [{ stream, batches: [lines, []] }]),
        );
        const found = (await place.rows(location)).filter(
          ({ id }) => Math.floor(Number(id) / 10) === fence,
        );
        if (found.length !== 4)
          report.fail(`${into}: ${found.length} rows of run ${fence} came where 4 were written.`);
        for (const row of found) {
          const label = `${into}, run ${fence} as ${form}, row ${row.id}`;
          report.checked(label);
          const rowId = String(row._svc_id ?? "");
          if (rowId === "") report.fail(`${label}: _svc_id is empty.`);
          else if (seen.has(rowId))
            report.fail(`${label}: _svc_id is that of ${seen.get(rowId)} too.`);
          seen.set(rowId, label);
          const atMs = Date.parse(
            String(row._svc_extracted_at).replace(" ", "T").replace(/\+00$/, "Z"),
          );
          if (!(atMs >= beganMs && atMs <= place.now()))
            report.fail(
              `${label}: _svc_extracted_at is ${row._svc_extracted_at} while the clock stood between ${iso(beganMs)} and ${iso(place.now())}.`,
            );
          if (row._svc_job_id !== `job_${fence}`)
            report.fail(
              `${label}: _svc_job_id is ${JSON.stringify(row._svc_job_id)} where the order says job_${fence}.`,
            );
          const isChanged = Number(row.id) % 10 === 4;
          const meta = JSON.stringify(
            typeof row._svc_meta === "string" ? JSON.parse(row._svc_meta) : (row._svc_meta ?? null),
          );
          if (isChanged ? !meta.includes('"NULLED"') : meta !== "null" && meta !== "{}")
            report.fail(
              `${label}: _svc_meta is ${meta} where ${isChanged ? JSON.stringify(changes) : "nothing"} was reported.`,
            );
        }
      }
    }
  },
});

const iso = (ms: number) => new Date(ms).toISOString();
