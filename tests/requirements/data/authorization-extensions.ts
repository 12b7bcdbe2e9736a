import { type Requirement, http } from "../requirement.ts";

const credentials = "extensions/auth/oauth-client-credentials";
const enterprise = "extensions/auth/enterprise-managed-authorization";
const asked = { revisions: { from: "2026-07-28" }, side: "client", transports: http } as const;

export const authorizationExtensions: readonly Requirement[] = [
  {
    ...asked,
    id: "authorization.extensions.declared",
    level: "MUST",
    section: "extensions/auth/overview#specification",
    says: "The client declares the authorization extension that it uses in its capabilities, in each request.",
  },
  {
    ...asked,
    id: "authorization.extensions.opt-in",
    level: "MUST",
    section: "extensions/auth/overview#client-support",
    says: "Neither extension is active unless the client was configured for it.",
  },
  {
    ...asked,
    id: "authorization.client-credentials.authenticated",
    level: "MUST",
    section: `${credentials}#client-authentication-methods`,
    says: "A client authenticates with a signed assertion or with a secret.",
  },
  {
    ...asked,
    id: "authorization.client-credentials.not-registered",
    level: "MUST",
    section: `${credentials}#overview`,
    says: "The client was registered in advance and does not register itself.",
  },
  {
    ...asked,
    id: "authorization.client-credentials.baseline",
    level: "MUST",
    section: `${credentials}#extension-requirements`,
    says: "The requirements of the authorization specification for clients apply: the client discovers the metadata and sends the `resource` parameter.",
  },
  {
    ...asked,
    id: "authorization.client-credentials.assertion-audience",
    level: "MUST",
    section: `${credentials}#security-considerations`,
    says: "A signed assertion is for one authorization server, is short-lived and is used once.",
  },
  {
    ...asked,
    id: "authorization.client-credentials.server-metadata",
    level: "MUST",
    section: `${credentials}#server-metadata-requirements`,
    says: "The metadata of the authorization server lists the methods by which clients may authenticate.",
    excuse: "The requirement is for authorization servers. The library does not contain one.",
  },
  {
    ...asked,
    id: "authorization.enterprise.token-exchange",
    level: "MUST",
    section: `${enterprise}#4-token-exchange`,
    says: "The identity assertion is exchanged at the identity provider, with each parameter that the profile requires.",
  },
  {
    ...asked,
    id: "authorization.enterprise.client-authentication",
    level: "MUST",
    section: `${enterprise}#4-token-exchange`,
    says: "The client authenticates at the exchange if the identity provider requires it.",
  },
  {
    ...asked,
    id: "authorization.enterprise.issued-type",
    level: "MUST",
    section: `${enterprise}#42-token-exchange-response`,
    says: "The client accepts only a response whose token type is an identity assertion grant.",
  },
  {
    ...asked,
    id: "authorization.enterprise.jwt-bearer",
    level: "MUST",
    section: `${enterprise}#5-access-token-request`,
    says: "The client requests the token with the JWT bearer grant, sends the identity assertion grant as the assertion, and authenticates as registered there.",
  },
  {
    ...asked,
    id: "authorization.enterprise.validation",
    level: "MUST",
    section: `${enterprise}#51-processing-rules`,
    says: "Identity providers and authorization servers check the type, audience and client of each received token.",
    excuse: "The requirement is for identity providers and authorization servers. The library contains neither.",
  },
];
