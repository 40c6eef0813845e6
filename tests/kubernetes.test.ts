/** deploy/kubernetes against what it starts. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "@commander-js/extra-typings";
import type { Terminal } from "svc-connectors/host";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { buildServe } from "../control/commands/serve.ts";
import { loadOperatorSettings } from "../control/commands/settings-file.ts";
import { metrics } from "../control/telemetry/metrics.ts";

const folder = new URL("../deploy/kubernetes/", import.meta.url);
const read = (name: string) => readFile(new URL(name, folder), "utf8");
const kustomization = parse(await read("kustomization.yaml"));
// biome-ignore lint/suspicious/noExplicitAny: the test reads what it expects
const resources: any[] = (
  await Promise.all((kustomization.resources as string[]).map((name) => read(name)))
).flatMap((text) => parseAllDocuments(text).map((document) => document.toJS()));
const named = (kind: string, name: string) => {
  const found = resources.find((one) => one.kind === kind && one.metadata.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found;
};
const podOf = (name: string) => named("Deployment", name).spec.template.spec;

test("the servers run no jobs, and are started with flags that there are", () => {
  const [server] = podOf("svc-server").containers;
  const [worker] = podOf("svc-worker").containers;
  expect(worker.args).toEqual(["worker"]);
  expect(server.args[0]).toBe("serve");
  const flags = (server.args as string[]).filter((word) => word.startsWith("--"));
  expect(flags).toContain("--no-jobs");
  const serve = new Command("serve");
  buildServe(serve, {} as Terminal);
  const known = serve.options.map((option) => `--${option.name()}`);
  for (const flag of flags) expect(known).toContain(flag);
});

test("the settings are those that svc accepts, and name the ports and files of the pods", async () => {
  const own = await mkdtemp(join(tmpdir(), "svc-kubernetes-"));
  try {
    const { containers, volumes } = podOf("svc-worker");
    const mounted = containers[0].volumeMounts.find(
      (one: { name: string }) => one.name === "secrets",
    );
    const text = (await read("svc.config.yaml")).replaceAll(mounted.mountPath, own);
    await writeFile(join(own, "svc.config.yaml"), text);
    await writeFile(join(own, "database-url.txt"), "postgres://svc:word@postgres:5432/svc");
    const settings = await loadOperatorSettings(own, undefined);
    expect(settings).toMatchObject({
      keyFile: join(own, "keys.json"),
      databaseUrl: "postgres://svc:word@postgres:5432/svc",
    });
    const metricsPort = containers[0].ports.find((one: { name: string }) => one.name === "metrics");
    expect(settings.metrics?.port).toBe(metricsPort.containerPort);
    const [generated] = kustomization.configMapGenerator;
    expect(volumes).toContainEqual({ name: "settings", configMap: { name: generated.name } });
  } finally {
    await rm(own, { recursive: true, force: true });
  }
});

test("the autoscaler follows a metric that svc has, of the workers", async () => {
  const { scaleTargetRef, metrics: followed } = named("HorizontalPodAutoscaler", "svc-worker").spec;
  expect(named(scaleTargetRef.kind, scaleTargetRef.name)).toBeDefined();
  expect(podOf("svc-worker")).toBeDefined();
  const { name } = followed[0].external.metric;
  expect(Object.keys(metrics)).toContain(name);
  const [rule] = parse(await read("prometheus-adapter.yaml")).rules.external;
  expect(rule.name.as).toBe(name);
  expect(rule.metricsQuery).toBe(`max(${name})`);
  // A number of its own would undo what the autoscaler has decided, with each apply.
  expect(named("Deployment", "svc-worker").spec).not.toHaveProperty("replicas");
});

test("every container is closed, and no secret is in its environment or arguments", () => {
  for (const name of ["svc-server", "svc-worker"]) {
    const { containers, initContainers, securityContext, automountServiceAccountToken } =
      podOf(name);
    expect(automountServiceAccountToken).toBe(false);
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    for (const container of [...containers, ...initContainers]) {
      expect(container).not.toHaveProperty("env");
      expect(container).not.toHaveProperty("envFrom");
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
  }
});

test("services, budgets and policies choose pods that there are, by ports that they have", () => {
  const labels = ["svc-server", "svc-worker"].map((name) => ({
    labels: named("Deployment", name).spec.template.metadata.labels,
    ports: podOf(name).containers[0].ports.map((port: { name: string }) => port.name),
  }));
  for (const { kind, spec } of resources) {
    if (kind === "Deployment" || kind === "HorizontalPodAutoscaler") continue;
    const chosen =
      kind === "Service" ? spec.selector : (spec.selector ?? spec.podSelector).matchLabels;
    const pod = labels.find((one) => JSON.stringify(one.labels) === JSON.stringify(chosen));
    expect(pod, `the pods of a ${kind}`).toBeDefined();
    const ports =
      kind === "Service"
        ? spec.ports.map((port: { targetPort: string }) => port.targetPort)
        : (spec.ingress ?? []).flatMap((rule: { ports: { port: string }[] }) =>
            rule.ports.map(({ port }) => port),
          );
    expect(pod?.ports).toEqual(expect.arrayContaining(ports));
  }
});

test("a worker asks for the disk that rows on their way and merges take, within its limit", () => {
  const [worker] = podOf("svc-worker").containers;
  const gib = (text: string) => Number(/^(\d+)Gi$/.exec(text)?.[1]);
  const { requests, limits } = worker.resources;
  // docs/operating.md: a gigabyte a job, of jobs.concurrency jobs.
  expect(gib(requests["ephemeral-storage"])).toBeGreaterThanOrEqual(2);
  expect(gib(limits["ephemeral-storage"])).toBeGreaterThan(gib(requests["ephemeral-storage"]));
});

test("kustomization.yaml names files that there are, images that pods have, and settings that pods mount", async () => {
  const { resources: files, configMapGenerator, images } = kustomization;
  for (const name of files as string[]) expect(await read(name)).not.toBe("");
  for (const { files: own } of configMapGenerator)
    for (const name of own as string[]) expect(await read(name)).not.toBe("");
  const pods = ["svc-server", "svc-worker"].map(podOf);
  const used = pods.flatMap(({ containers, initContainers }) =>
    [...containers, ...initContainers].map(({ image }: { image: string }) => image),
  );
  const named = (images as { name: string }[]).map(({ name }) => name);
  expect([...new Set(used)].sort()).toEqual(named.sort());
  // A key that is no setting of kustomize stops it.
  expect(Object.keys(kustomization).sort()).toEqual(
    ["apiVersion", "configMapGenerator", "images", "kind", "resources"].sort(),
  );
  // It refuses two resources of one kind and name.
  const ids = resources.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  expect(new Set(ids).size).toBe(ids.length);
});
