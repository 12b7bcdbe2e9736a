/** The algorithms with which proofs may be signed. */
export const proofAlgorithms: readonly string[] = ["ES256", "ES384", "EdDSA", "Ed25519", "PS256", "RS256"];

/** The error for a missing proof, or one that is invalid for its request. The message is sent to the client. */
export class InvalidProof extends Error {
  override readonly name: string = "InvalidProof";
  readonly code: "invalid_dpop_proof" | "use_dpop_nonce";

  constructor(message: string, code: "invalid_dpop_proof" | "use_dpop_nonce" = "invalid_dpop_proof") {
    super(message);
    this.code = code;
  }
}
