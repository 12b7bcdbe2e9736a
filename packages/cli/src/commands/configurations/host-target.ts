import { type ConfigValue, type HostId, type Reference, type ServerTarget, hosts } from "@mcparley/config";
import { UsageError } from "../../terminal/io.ts";
import { hasSecret, secretWordOf } from "./new-target.ts";
import { isSecretName, isSecretValue } from "@mcparley/internal/secret-values";

/**
 * Returns a target with the references that a host has, and the descriptions of its inputs: VS Code asks for secrets as inputs. For the other
 * hosts, an input becomes a variable of the environment.
 */
export function forHost(
  target: ServerTarget,
  host: HostId,
  name: string,
): { target: ServerTarget; inputs: ReadonlyMap<string, string> } {
  const hasInputs = hosts.find(({ id }) => id === host)?.references.input === true;
  const inputs = new Map<string, string>();
  const convert = (reference: Reference): Reference => {
    if (!hasInputs && reference.kind === "input") return { kind: "env", name: variableName(reference.id) };
    if (!hasInputs || reference.kind !== "env" || !isSecretName(reference.name)) return reference;
    const id = reference.name.toLowerCase().replaceAll("_", "-");
    inputs.set(id, `${reference.name} of ${name}`);
    return { kind: "input", id };
  };
  const convertAll = (value: ConfigValue): ConfigValue =>
    typeof value === "string" ? value : value.map((part) => (typeof part === "string" ? part : convert(part)));
  return { target: mapValues(target, convertAll), inputs };
}

/**
 * Returns a target of another configuration with references in place of the literal secrets of `env` and headers, and the variables to which
 * they refer. Throws `UsageError` for a secret at another place.
 */
export function withoutSecrets(target: ServerTarget, name: string): { target: ServerTarget; variables: string[] } {
  const variables: string[] = [];
  const refer = (variable: string): Reference => {
    variables.push(variable);
    return { kind: "env", name: variable };
  };
  if (target.kind === "url") {
    if (typeof target.url === "string" && hasSecret(target.url)) throw secretAt("URL", name);
    const headers = [...target.headers].map(([header, value]): [string, ConfigValue] => {
      if (!isSecret(header, value)) return [header, value];
      const [, scheme = ""] = /^(Bearer |Basic |Token )/i.exec(value) ?? [];
      const variable = variableName(scheme === "" ? header : `${name}_token`);
      return [header, scheme === "" ? [refer(variable)] : [scheme, refer(variable)]];
    });
    return { target: { ...target, headers: new Map(headers) }, variables };
  }
  const words = [target.command, ...target.args].map((word) => (typeof word === "string" ? word : "${reference}"));
  if (secretWordOf(words) !== -1) throw secretAt("arguments", name);
  const env = [...target.env].map(([variable, value]): [string, ConfigValue] => [
    variable,
    isSecret(variable, value) ? [refer(variable)] : value,
  ]);
  return { target: { ...target, env: new Map(env) }, variables };
}

function isSecret(member: string, value: ConfigValue): value is string {
  return typeof value === "string" && value !== "" && (isSecretName(member) || isSecretValue(value));
}

function secretAt(place: string, name: string): UsageError {
  return new UsageError(
    `The server ${JSON.stringify(name)} has a secret in its ${place}, which is not copied.`,
    "Replace it by a reference to a variable in its configuration, or give the command after --.",
  );
}

function variableName(text: string): string {
  const name = text.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
  return /^\d/.test(name) ? `_${name}` : name;
}

function mapValues(target: ServerTarget, map: (value: ConfigValue) => ConfigValue): ServerTarget {
  const table = (values: ReadonlyMap<string, ConfigValue>): Map<string, ConfigValue> =>
    new Map([...values].map(([name, value]) => [name, map(value)]));
  if (target.kind === "url") return { ...target, url: map(target.url), headers: table(target.headers) };
  return { ...target, command: map(target.command), args: target.args.map(map), env: table(target.env) };
}
