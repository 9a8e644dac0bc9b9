#!/usr/bin/env bash
# Tidies the modules of go.work, or with -diff fails and says what would change. go mod tidy knows no workspaces and would ask the proxy
# for the modules that stand beside: it works on a copy that replaces them.
#
#   scripts/tidy.sh [-diff] [FOLDER...]     default: every module of go.work
set -euo pipefail
cd "$(dirname "$0")/.."

diff=
if [ "${1:-}" = -diff ]; then
  diff=-diff
  shift
fi
own=$(go list -m -f '{{.Path}}={{.Dir}}')
folders=("$@")
[ $# -gt 0 ] || mapfile -t folders < <(go list -m -f '{{.Dir}}')
unreleased=v0.0.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

status=0
for folder in "${folders[@]}"; do
  cp "$folder/go.mod" "$work/go.mod"
  : >"$work/go.sum"
  [ ! -f "$folder/go.sum" ] || cp "$folder/go.sum" "$work/go.sum"
  for module in $own; do
    [ "${module#*=}" = "$(realpath "$folder")" ] || go mod edit -replace="$module" "$work/go.mod"
  done
  GOWORK=off go -C "$folder" mod tidy -modfile="$work/go.mod"
  for module in $own; do
    go mod edit -dropreplace="${module%%=*}" "$work/go.mod"
    ! grep -q "	${module%%=*} v0.0.0-0001" "$work/go.mod" || go mod edit -require="${module%%=*}@$unreleased" "$work/go.mod"
  done
  go mod edit -fmt "$work/go.mod"
  for file in go.mod go.sum; do
    if [ -n "$diff" ]; then
      { [ ! -f "$folder/$file" ] && [ ! -s "$work/$file" ]; } || diff -u --label "$folder/$file" --label tidied "$folder/$file" "$work/$file" || status=1
    elif [ -s "$work/$file" ] && ! cmp -s "$work/$file" "$folder/$file"; then
      cp "$work/$file" "$folder/$file"
    fi
  done
done
exit $status
