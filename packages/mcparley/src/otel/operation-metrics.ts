import type { Attributes, MeterProvider } from "@opentelemetry/api";
import { metrics } from "@opentelemetry/api";

/** Seconds at which the buckets of durations end, as the conventions advise. */
const boundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** The histogram of durations of one kind, such as `mcp.server.operation.duration`. */
export function durations(
  name: string,
  description: string,
  provider: MeterProvider = metrics.getMeterProvider(),
): (milliseconds: number, attributes: Attributes) => void {
  const histogram = provider
    .getMeter("mcparley")
    .createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: boundaries } });
  return (milliseconds, attributes) => histogram.record(milliseconds / 1000, attributes);
}
