#!/bin/sh
# Fails for known faults in what the modules call, and for a list in SECURITY.md that is out of date. The database is a module of Go: no
# other server is asked.
set -eu
cd "$(dirname "$0")/.."
tools=$PWD/internal/tools/vuln/go.mod
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

data=$(go mod download -modfile="$tools" -json golang.org/x/vulndb | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",\{0,1\}$/\1/p')/data/osv
go tool -modfile="$tools" indexdb -vulns "$data" -out "$work/db"
for module in "$@"; do
  echo "== $module"
  (cd "$module" && go tool -modfile="$tools" govulncheck -db "file://$work/db" -format json ./...) >"$work/found"
  cat "$work/found" >>"$work/all"
done
go -C internal/tools/vuln run ./check "$PWD/SECURITY.md" <"$work/all"
