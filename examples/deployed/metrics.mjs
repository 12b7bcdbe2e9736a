// @ts-check
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import { MeterProvider } from "@opentelemetry/sdk-metrics";

/**
 * Serves metrics for Prometheus at `http://HOST:PORT/metrics`. Returns the provider that `telemetry()` records with.
 *
 * @param {{ host: string, port: number }} address
 */
export async function serveMetrics({ host, port }) {
  const exporter = new PrometheusExporter({ host, port, preventServerStart: true });
  await exporter.startServer();
  return new MeterProvider({ readers: [exporter] });
}
