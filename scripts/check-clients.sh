#!/usr/bin/env bash
# Proves that popular generators make clients of openapi.yaml that compile:
#
#   oapi-codegen        with its defaults (types, client, echo server, embedded document); internal/tools/clients pins it
#   openapi-typescript  with its defaults; the versions stand below
#
# Everything is made in a temporary folder. It needs Go, and node with npm: scripts/install-deps.sh clients.
set -euo pipefail
cd "$(dirname "$0")/.."
contract=$PWD/openapi.yaml

openapi_typescript=7.13.0
typescript=5.9.3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "oapi-codegen: generate and compile"
GOWORK=off go -C internal/tools/clients tool oapi-codegen -package client -o "$work/client.go" "$contract"
GOWORK=off go -C internal/tools/clients build -o /dev/null "$work/client.go"

echo "openapi-typescript: generate and compile"
cat >"$work/client.ts" <<'END'
// A small client: it reads a call, and tells a success from an error by the types alone.
import type { components, operations, paths } from "./api";

type Call = components["schemas"]["CallRecord"];
type Failure = operations["getCall"]["responses"]["404"]["content"]["application/json"];
type Placed = paths["/v1/calls"]["post"]["requestBody"]["content"]["application/json"];

const order: Placed = { phone_number: "+14155550123", task: "Say hello." };

export async function call(base: string, key: string, id: string): Promise<Call> {
  await fetch(`${base}/v1/calls`, { method: "POST", headers: { authorization: key }, body: JSON.stringify(order) });
  const answer = await fetch(`${base}/v1/calls/${id}`, { headers: { authorization: key } });
  if (!answer.ok) {
    const failure = (await answer.json()) as Failure;
    throw new Error(failure.errors[0]?.message ?? `status ${answer.status}`);
  }
  return (await answer.json()) as Call;
}
END
cd "$work"
npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts --save-exact --cache "$work/npm" \
  "openapi-typescript@$openapi_typescript" "typescript@$typescript" </dev/null
./node_modules/.bin/openapi-typescript "$contract" -o api.ts >/dev/null
./node_modules/.bin/tsc --noEmit --strict --target es2022 --module es2022 --moduleResolution bundler --lib es2022,dom client.ts
