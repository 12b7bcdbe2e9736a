import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";

const version = "26.7.3";
const artifact = `org.keycloak:keycloak-quarkus-dist:${version}:zip`;
const unpack = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack";
const minimumJava = 17;

/** The unpacked distribution, or the reason why it is unavailable. */
export type Distribution = { readonly folder: string } | { readonly reason: string };

/**
 * Returns the pinned distribution of Keycloak. Maven downloads it into a folder of tools, with the settings of the user, unless an
 * earlier run has.
 */
export function installKeycloak(tools: string): Distribution {
  const java = javaVersion();
  if (java === undefined) return { reason: "Java is missing." };
  if (java < minimumJava) return { reason: `Keycloak needs Java ${minimumJava}; this is Java ${java}.` };
  const folder = path.join(tools, `keycloak-${version}`);
  if (existsSync(path.join(folder, ".complete"))) return { folder };
  return download(tools, folder);
}

function download(tools: string, folder: string): Distribution {
  process.stderr.write(`Downloading ${artifact} ...\n`);
  rmSync(folder, { recursive: true, force: true });
  const repository = path.join(tools, "maven");
  mkdirSync(repository, { recursive: true });
  const settings = [
    `-Dmaven.repo.local=${repository}`,
    `-Dartifact=${artifact}`,
    `-DoutputDirectory=${tools}`,
    `-Dmdep.unpack.overWriteReleases=true`,
  ];
  const result = spawnSync("mvn", ["-B", "-ntp", "-q", unpack, ...settings], {
    // The plugin writes a marker into the current folder.
    cwd: repository,
    encoding: "utf8",
    timeout: 300_000,
  });
  // The archive is three quarters of it, and is not needed again.
  rmSync(repository, { recursive: true, force: true });
  if (result.error) return { reason: `Maven cannot be run: ${result.error.message}.` };
  if (result.status !== 0)
    return { reason: `Maven cannot download ${artifact}: ${result.stdout.trim().slice(0, 400)}` };
  mkdirSync(path.join(folder, ".complete"));
  return { folder };
}

/** Returns the major version of Java, or undefined if there is none. */
function javaVersion(): number | undefined {
  const { error, stderr } = spawnSync("java", ["-version"], { encoding: "utf8" });
  const [, major] = error ? [] : (/version "(?:1\.)?(\d+)/.exec(stderr) ?? []);
  return major === undefined ? undefined : Number(major);
}
