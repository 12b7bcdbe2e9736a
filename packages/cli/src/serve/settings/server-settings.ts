import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { RateLimitOptions, ServerLimits } from "mcparley/server";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { type AuthSettings, readAuth } from "./auth-settings.ts";
import { bytes, duration, icons } from "../yaml/values.ts";
import { type ServedRoot, readRoots, resourcesRoot } from "../files/inside-folder.ts";
import { type Problem, orProblem } from "../yaml/problem.ts";
import {
  type Field,
  type Members,
  boolean,
  isMapping,
  members,
  number,
  placeOf,
  readMembers,
  readYaml,
  text,
  wrong,
} from "../yaml/yaml-fields.ts";

/** The settings in `server.yaml`, with defaults for the absent ones. */
export interface ServerSettings {
  /** The description of the server for its clients. */
  info: Members<typeof infoReaders> & { name: string; version: string };
  limits: Partial<ServerLimits>;
  /** Maximum size of a file in bytes. */
  fileSize: number;
  /** Maximum number of listed files in all roots together. */
  files: number;
  /** The place of this limit, for a problem. Undefined without `server.yaml`. */
  filesPlace?: Pick<Problem, "file" | "line" | "column">;
  /** False if calls are not limited. */
  rateLimit: RateLimitOptions | false;
  /** `resources/` if it exists, then the configured roots. */
  roots: ServedRoot[];
  /** Authorization over HTTP. If undefined, any client may use the server. */
  auth?: AuthSettings;
  /** The problem of an `auth` that cannot be read. If set, nothing may be served over HTTP. */
  authProblem?: Problem;
}

export const settingsFile = "server.yaml";

const infoReaders = {
  name: filledText,
  version: filledText,
  title: text,
  description: text,
  instructions: text,
  websiteUrl: webUrl,
  icons,
} as const;

type Take = (settings: ServerSettings, field: Field, folder: string) => void | Promise<void>;

/** The other keys, each with a function that applies its value. */
const keys: Readonly<Record<string, Take>> = {
  limits: (settings, field) => takeLimits(settings, field),
  rateLimit: (settings, field) => void (settings.rateLimit = rateLimitOf(field)),
  auth: (settings, field) => void (settings.auth = readAuth(field)),
  roots: async (settings, field, folder) => void settings.roots.push(...(await readRoots(field, folder))),
};

/** Reads `server.yaml`. An invalid value is reported and replaced by its default. */
export async function readSettings(folder: string, report: (problem: Problem) => void): Promise<ServerSettings> {
  const settings: ServerSettings = {
    info: { name: basename(resolve(folder)) || "folder", version: "0.0.0" },
    limits: {},
    fileSize: 16 * 1024 ** 2,
    files: 10_000,
    rateLimit: {},
    roots: [],
  };
  const resources = await resourcesRoot(folder);
  if (resources) settings.roots.push(resources);
  const source = await readFile(join(folder, settingsFile), "utf8").catch(() => undefined);
  if (source === undefined) return settings;
  settings.filesPlace = { file: settingsFile, line: 1 };
  const reportAuth = (problem: Problem): void => {
    // A file that cannot be parsed may still be intended to protect the server.
    if (/^\s*["']?auth["']?\s*:/m.test(source)) settings.authProblem = problem;
    report(problem);
  };
  const fields = await orProblem(() => members(readYaml({ file: settingsFile, text: source })), reportAuth);
  for (const [key, field] of fields ?? []) {
    await orProblem(
      async () => {
        if (Object.hasOwn(infoReaders, key)) {
          Object.assign(settings.info, { [key]: infoReaders[key as keyof typeof infoReaders](field) });
        } else if (Object.hasOwn(keys, key)) await keys[key]!(settings, field, folder);
        else throw wrong(field, `unknown key "${key}"`, didYouMean(key, Object.keys({ ...infoReaders, ...keys })));
      },
      key === "auth" ? reportAuth : report,
    );
  }
  return settings;
}

const limits = {
  fileSize: bytes,
  files: count,
  requests: count,
  inFlight: count,
  listenStreams: count,
  sessionSize: count,
  subscriptions: count,
  uriLength: count,
  idLength: count,
  completionLength: count,
  pageSize: count,
  depth: count,
  elements: count,
  batch: count,
  bodies: bytes,
  askTimeout: duration,
  stateTtl: duration,
} as const;

function count(field: Field): number {
  return number(field, 1);
}

function takeLimits(settings: ServerSettings, field: Field): void {
  for (const [key, member] of members(field, Object.keys(limits))) {
    const limit = limits[key as keyof typeof limits](member);
    if (key === "files") settings.filesPlace = placeOf(member);
    if (key === "files" || key === "fileSize") settings[key] = limit;
    else settings.limits[key as keyof ServerLimits] = limit;
  }
}

function rateLimitOf(field: Field): RateLimitOptions | false {
  if (!isMapping(field)) return boolean(field) ? {} : false;
  return readMembers(field, { perSecond: (rate) => number(rate, 0.001), burst: count });
}

function filledText(field: Field): string {
  const value = text(field).trim();
  if (value === "") throw wrong(field, `"${field.path}" is empty`, "Write a text, or remove the line.");
  return value;
}

function webUrl(field: Field): string {
  const value = text(field);
  if (/^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : "")) return value;
  throw wrong(field, `"${value}" is not a web address`, "Give an https: URL.");
}
