import { textOf } from "./attempts.ts";

/** A Lua script that Redis runs atomically, on one key. */
export interface Script {
  readonly source: string;
  /** Returns the SHA-1 digest of the source, which `EVALSHA` accepts in its place. */
  readonly digest: () => Promise<string>;
}

/**
 * ARGV: stamp, whether a value is expected, the expected value, whether to set a value, the new value, lifetime, whether
 * the lifetime of an old value is kept.
 * Each value is stored after the stamp of its write. A write that finds its stamp in the key is a retry.
 */
export const compareAndSet: Script = script(`
local kept = redis.call('GET', KEYS[1])
if kept and string.sub(kept, 1, 16) == ARGV[1] then return 1 end
local present = kept and string.sub(kept, 17)
local expected = ARGV[2] == '1' and ARGV[3]
if present ~= expected then return 0 end
if ARGV[4] == '1' then
  if kept and ARGV[7] == '1' then
    redis.call('SET', KEYS[1], ARGV[1] .. ARGV[5], 'KEEPTTL')
  else
    redis.call('SET', KEYS[1], ARGV[1] .. ARGV[5], 'PX', ARGV[6])
  end
elseif kept then
  redis.call('DEL', KEYS[1])
end
return 1
`);

/**
 * ARGV: stamp, value, maximum number of entries, lifetime, whether an earlier attempt may have appended the value.
 * If an earlier attempt may have, the script searches the latest 256 entries for the stamp.
 */
export const append: Script = script(`
if ARGV[5] == '1' then
  for _, entry in ipairs(redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 256)) do
    if string.sub(entry[2][2], 1, 16) == ARGV[1] then return entry[1] end
  end
end
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '=', ARGV[3], '*', 'e', ARGV[1] .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return id
`);

function script(source: string): Script {
  let digest: Promise<string> | undefined;
  return { source, digest: () => (digest ??= sha1(source)) };
}

async function sha1(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Runs a script by its digest, or by its source if the server has not cached it. */
export async function runScript(
  send: (command: readonly string[]) => Promise<unknown>,
  { source, digest }: Script,
  keyAndArguments: readonly [key: string, ...args: string[]],
): Promise<unknown> {
  try {
    return await send(["EVALSHA", await digest(), "1", ...keyAndArguments]);
  } catch (error) {
    if (!textOf(error).startsWith("NOSCRIPT ")) throw error;
    return send(["EVAL", source, "1", ...keyAndArguments]);
  }
}
