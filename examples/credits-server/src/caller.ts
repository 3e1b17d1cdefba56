import { createHash, timingSafeEqual } from "node:crypto";
import type { OAuthTokenVerifier } from "@modelcontextprotocol/sdk/server/auth/provider.js";
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import type { AuthInfo } from "@modelcontextprotocol/sdk/server/auth/types.js";

const digest = (text: string) => createHash("sha256").update(text).digest();

const TOKENS = (process.env.CREDITS_TOKENS ?? "")
  .split(",")
  .map((entry) => entry.split("="))
  .flatMap(([name, secret]) => (name && secret ? [{ name, secret: digest(secret) }] : []));

export const verifier: OAuthTokenVerifier = {
  async verifyAccessToken(token: string): Promise<AuthInfo> {
    const given = digest(token);
    const known = TOKENS.find(({ secret }) => timingSafeEqual(secret, given));
    if (!known) throw new InvalidTokenError("unknown token");
    return { token, clientId: known.name, scopes: [], expiresAt: Math.floor(Date.now() / 1000) + 60 };
  },
};

export function callerOf(extra: { authInfo?: AuthInfo }): string {
  return extra.authInfo?.clientId ?? "local";
}
