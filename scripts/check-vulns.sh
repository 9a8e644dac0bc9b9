#!/bin/sh
# Fails for known faults in what the modules call, and for a list in SECURITY.md that is out of date. The database is a module of Go: no
# other server is asked.
set -eu
cd "$(dirname "$0")/.."
tools=$PWD/internal/tools/vuln/go.mod
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

data=$(GOWORK=off go mod download -modfile="$tools" -json golang.org/x/vulndb | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",\{0,1\}$/\1/p')/data/osv
GOWORK=off go tool -modfile="$tools" indexdb -vulns "$data" -out "$work/db"
govulncheck=$(GOWORK=off go tool -n -modfile="$tools" govulncheck)
"$govulncheck" -db "file://$work/db" -format json work >"$work/all"
GOWORK=off go -C internal/tools/vuln run ./check "$PWD/SECURITY.md" <"$work/all"
