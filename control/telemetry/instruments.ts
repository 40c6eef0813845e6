import type { Counter, Histogram, ObservableGauge } from "@opentelemetry/api";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import {
  AggregationTemporality,
  InstrumentType,
  MeterProvider,
  type MeterProviderOptions,
  MetricReader,
} from "@opentelemetry/sdk-metrics";
import type { CloseLabels } from "./labels.ts";
import {
  bucketsOf,
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelsOf,
  type MetricName,
  metrics,
} from "./metrics.ts";

/** One value of a gauge. */
export type GaugeReading = {
  readonly [Name in GaugeName]: {
    readonly name: Name;
    readonly labels: LabelsOf<Name>;
    readonly value: number;
  };
}[GaugeName];

export interface Instruments extends AsyncDisposable {
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by?: number): void;
  time<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void;
  /** Where the gauges come from; asked at each scrape. What it cannot tell is left out. */
  gauges(read: () => Promise<readonly GaugeReading[]>): void;
  /** Everything in Prometheus' text format, version 0.0.4. */
  scrape(): Promise<string>;
}

/** Who scrapes does not wait longer for the database. */
const readTimeoutMs = 2_000;

export function createInstruments(
  resource: MeterProviderOptions["resource"],
  close: CloseLabels,
): Instruments {
  const reader = new ScrapedReader();
  const provider = new MeterProvider({ ...(resource ? { resource } : {}), readers: [reader] });
  const meter = provider.getMeter("svc");
  const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);
  const counters = new Map<MetricName, Counter>();
  const histograms = new Map<MetricName, Histogram>();
  const gauges = new Map<MetricName, ObservableGauge>();
  for (const [name, { kind, help: description }] of Object.entries(metrics) as [
    MetricName,
    (typeof metrics)[MetricName],
  ][]) {
    if (kind === "counter") counters.set(name, meter.createCounter(name, { description }));
    else if (kind === "gauge") gauges.set(name, meter.createObservableGauge(name, { description }));
    else {
      const explicitBucketBoundaries = [...bucketsOf[name as HistogramName]];
      histograms.set(
        name,
        meter.createHistogram(name, { description, advice: { explicitBucketBoundaries } }),
      );
    }
  }
  return {
    count: (name, labels, by = 1) => counters.get(name)?.add(by, close(labels)),
    time: (name, labels, seconds) => histograms.get(name)?.record(seconds, close(labels)),
    gauges(read) {
      meter.addBatchObservableCallback(
        async (result) => {
          for (const { name, labels, value } of await read().catch(() => [])) {
            const gauge = gauges.get(name);
            if (gauge) result.observe(gauge, value, close(labels));
          }
        },
        [...gauges.values()],
      );
    },
    async scrape() {
      const { resourceMetrics } = await reader.collect({ timeoutMillis: readTimeoutMs });
      return serializer.serialize(resourceMetrics);
    },
    [Symbol.asyncDispose]: () => provider.shutdown(),
  };
}

/** Collects when it is asked to. */
class ScrapedReader extends MetricReader {
  constructor() {
    super({
      // Cumulative gauges would go on showing what could not be read any more.
      aggregationTemporalitySelector: (type) =>
        type === InstrumentType.OBSERVABLE_GAUGE
          ? AggregationTemporality.DELTA
          : AggregationTemporality.CUMULATIVE,
    });
  }
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}
